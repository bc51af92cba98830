/** Usage of the keys of the account, by day and by operation. */
import { send } from "../data/request.ts"

/** Usage of one operation by one key on one day (UTC). */
export interface UsageRow {
  readonly day: string
  readonly keyId: string
  readonly operation: string
  readonly requests: number
  readonly units: number
  readonly errors: number
  readonly bytes: number
  readonly streamSeconds: number
}

/** Sums of usage. */
export type UsageSum = Omit<UsageRow, "day" | "keyId" | "operation">

/** Usage of the last days, this one included. */
export const readUsage =
  (days: number) =>
  async (signal: AbortSignal): Promise<ReadonlyArray<UsageRow>> =>
    (
      (await send("GET", `/api/v1/account/usage?days=${days}`, { signal })) as {
        readonly data: ReadonlyArray<UsageRow>
      }
    ).data

const EMPTY: UsageSum = { requests: 0, units: 0, errors: 0, bytes: 0, streamSeconds: 0 }

/** The sum of rows. */
export const sumOf = (rows: ReadonlyArray<UsageSum>): UsageSum => {
  const sum = { ...EMPTY }
  for (const row of rows) {
    sum.requests += row.requests
    sum.units += row.units
    sum.errors += row.errors
    sum.bytes += row.bytes
    sum.streamSeconds += row.streamSeconds
  }
  return sum
}

/** Sums by operation, the most used first. */
export const byOperation = (rows: ReadonlyArray<UsageRow>): ReadonlyArray<UsageSum & { readonly operation: string }> =>
  Array.from(
    Map.groupBy(rows, ({ operation }) => operation),
    ([operation, own]) => ({ operation, ...sumOf(own) })
  ).toSorted((one, other) => other.requests - one.requests || one.operation.localeCompare(other.operation))

const DAY_MS = 86_400_000

/** Sums by day for so many days up to the given time, the oldest first. A day without rows is zero. */
export const byDay = (
  rows: ReadonlyArray<UsageRow>,
  days: number,
  nowMs: number
): ReadonlyArray<UsageSum & { readonly day: string }> => {
  const grouped = Map.groupBy(rows, ({ day }) => day)
  return Array.from({ length: days }, (_, place) => {
    const day = new Date(nowMs - (days - 1 - place) * DAY_MS).toISOString().slice(0, 10)
    return { day, ...sumOf(grouped.get(day) ?? []) }
  })
}

/** Bytes for the eye: three digits at most and their unit. */
export const bytesText = (bytes: number): string => {
  const units = ["B", "kB", "MB", "GB", "TB"]
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`
}
