/** Usage of the keys of the account, by day and by operation. */
import { send } from "../data/request.ts"

/** Usage of one operation by one key on one day (UTC). */
export interface UsageRow {
  readonly day: string
  /** Null for the pages of the app. */
  readonly keyId: string | null
  readonly operation: string
  readonly requests: number
  readonly units: number
  readonly errors: number
  readonly bytes: number
  readonly streamMinutes: number
}

export type UsageSum = Omit<UsageRow, "day" | "keyId" | "operation">

/** The usage that was read. `isWhole` is false when older rows are left out. */
export interface UsageRead {
  readonly rows: ReadonlyArray<UsageRow>
  readonly isWhole: boolean
}

interface UsagePage {
  readonly data: ReadonlyArray<UsageRow>
  readonly nextCursor: string | null
}

const MOST_PAGES = 10
const DAY_MS = 86_400_000

/** The UTC day of a time. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** Query for this many days up to today. */
export const rangeOf = (days: number, nowMs: number): Readonly<Record<"from" | "to", string>> => ({
  from: dayOf(nowMs - (days - 1) * DAY_MS),
  to: dayOf(nowMs)
})

/** Usage of the last days including today, at most the newest 10,000 rows. */
export const readUsage =
  (days: number) =>
  async (signal: AbortSignal): Promise<UsageRead> => {
    const range = rangeOf(days, Date.now())
    const rows: Array<UsageRow> = []
    let cursor: string | null = null
    for (let page = 0; page < MOST_PAGES; page++) {
      const query = new URLSearchParams({ ...range, limit: "1000", ...(cursor !== null && { cursor }) })
      const read = (await send("GET", `/api/v1/account/usage?${query}`, { signal })) as UsagePage
      rows.push(...read.data)
      cursor = read.nextCursor
      if (cursor === null) {
        break
      }
    }
    return { rows, isWhole: cursor === null }
  }

const EMPTY: UsageSum = { requests: 0, units: 0, errors: 0, bytes: 0, streamMinutes: 0 }

export const sumOf = (rows: ReadonlyArray<UsageSum>): UsageSum => {
  const sum = { ...EMPTY }
  for (const row of rows) {
    sum.requests += row.requests
    sum.units += row.units
    sum.errors += row.errors
    sum.bytes += row.bytes
    sum.streamMinutes += row.streamMinutes
  }
  return sum
}

/** Sums by operation, the most used first. */
export const byOperation = (rows: ReadonlyArray<UsageRow>): ReadonlyArray<UsageSum & { readonly operation: string }> =>
  Array.from(
    Map.groupBy(rows, ({ operation }) => operation),
    ([operation, own]) => ({ operation, ...sumOf(own) })
  ).toSorted((one, other) => other.requests - one.requests || one.operation.localeCompare(other.operation))

/** Sums by day for this many days up to a time, oldest first. A day without rows is zero. */
export const byDay = (
  rows: ReadonlyArray<UsageRow>,
  days: number,
  nowMs: number
): ReadonlyArray<UsageSum & { readonly day: string }> => {
  const grouped = Map.groupBy(rows, ({ day }) => day)
  return Array.from({ length: days }, (_, place) => {
    const day = dayOf(nowMs - (days - 1 - place) * DAY_MS)
    return { day, ...sumOf(grouped.get(day) ?? []) }
  })
}

/** A number of bytes in at most three digits, with its unit. */
export const bytesText = (bytes: number): string => {
  const units = ["B", "kB", "MB", "GB", "TB"]
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`
}
