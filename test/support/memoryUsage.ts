/** Usage held in process, for tests without a database. The contract of the store holds for it too. */
import { Clock, Effect, Layer } from "effect"
import { type CountedRow, UsageCounts } from "../../src/access/usage/UsageCounts.ts"
import { type UsageQuery, UsageStore } from "../../src/access/usage/UsageStore.ts"
import { type UsagePlace, type UsageRow } from "../../src/api/schemas/Usage.ts"

const rowOf = ({ accountId: _accountId, day, ...sums }: CountedRow): UsageRow => ({
  ...sums,
  day: new Date(day * 86_400_000).toISOString().slice(0, 10),
  keyName: null
})

const compare = (one: UsagePlace, other: UsagePlace): number => {
  if (one.day !== other.day) {
    return one.day > other.day ? -1 : 1
  }
  const [a, b] = [[one.keyId, one.operation].join(" "), [other.keyId, other.operation].join(" ")]
  return a === b ? 0 : a < b ? -1 : 1
}

/** Counts that are never stored. Names of keys are unknown. */
export const layer: Layer.Layer<UsageStore> = Layer.effect(
  UsageStore,
  Effect.map(Clock.Clock, (clock) => {
    const counts = new UsageCounts({
      nowMs: () => clock.currentTimeMillisUnsafe(),
      monotonicMs: () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
    })
    const sums = new Map<string, CountedRow>()

    const store = () => {
      for (const row of counts.take()) {
        const name = [row.keyId, row.day, row.operation].join(" ")
        const known = sums.get(name) ?? { ...row, requests: 0, units: 0, errors: 0, bytes: 0, streamMs: 0 }
        known.requests += row.requests
        known.units += row.units
        known.errors += row.errors
        known.bytes += row.bytes
        known.streamMs += row.streamMs
        sums.set(name, known)
      }
    }

    const page = ({ after, caller, from, isAccount, limit, to }: UsageQuery) =>
      Effect.sync(() => {
        store()
        const found = Array.from(sums.values())
          .filter(({ accountId, keyId }) => (isAccount ? accountId === caller.accountId : keyId === caller.id))
          .map(rowOf)
          .filter((row) => row.day >= from && row.day <= to && (after === null || compare(row, after) > 0))
          .toSorted(compare)
        const rows = found.slice(0, limit)
        return { rows, next: found.length > limit ? (rows.at(-1) ?? null) : null }
      })

    return UsageStore.of({
      request: (used) => counts.request(used),
      addUnits: (caller, operation, units) => counts.addUnits(caller, operation, units),
      open: (caller, operation, sentBytes) => counts.open(caller, operation, sentBytes),
      page
    })
  })
)
