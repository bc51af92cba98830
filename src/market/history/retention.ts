/** How long trades are kept in ClickHouse, and where. */
import { Duration, Effect } from "effect"
import { ClickHouse, type ClickHouseSettings } from "../../storage/clickhouse/ClickHouse.ts"
import { decodeRows } from "../../storage/clickhouse/decodeRows.ts"

const DEADLINE = Duration.seconds(30)

/** A longer retention is not set: dates in ClickHouse end in 2106. */
const MOST_DAYS = 25_000

const daysOf = (duration: Duration.Duration): number => Math.max(1, Math.ceil(Duration.toDays(duration)))

const expiry = (days: number): string => `toDateTime(at) + INTERVAL ${days} DAY`

/** When each table moves rows to the cold volume or deletes them. Without rules a table keeps its rows for good. */
export const retentionRules = (
  { coldAfter, coldVolume, kept }: ClickHouseSettings,
  minutes: Duration.Duration
): ReadonlyArray<readonly [table: string, rules: ReadonlyArray<string>]> => {
  const rulesOf = (days: number) => [
    ...(coldVolume === null ? [] : [`${expiry(daysOf(coldAfter))} TO VOLUME '${coldVolume}'`]),
    ...(days > MOST_DAYS ? [] : [`${expiry(days)} DELETE`])
  ]
  const keptDays = daysOf(kept)
  return [
    ["trades", rulesOf(keptDays)],
    ["wallet_trades", rulesOf(keptDays)],
    ["minute_bars", rulesOf(Math.max(keptDays, daysOf(minutes)))]
  ]
}

/** Sets the rules of the tables without rewriting rows. A table without rules loses the rules that it had. */
export const setRetention = Effect.fnUntraced(function* (rules: ReturnType<typeof retentionRules>) {
  const { read, run } = yield* ClickHouse
  for (const [table, of] of rules) {
    if (of.length > 0) {
      const text = `ALTER TABLE ${table} MODIFY TTL ${of.join(", ")} SETTINGS materialize_ttl_after_modify = 0`
      yield* run(text, DEADLINE)
      continue
    }
    // A server refuses to remove the rules of a table that has none.
    const found = yield* read(
      `SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = '${table}'`,
      DEADLINE
    )
    const [engine = ""] = yield* decodeRows(found, (row) => row.text())
    yield* / TTL /u.test(engine) ? run(`ALTER TABLE ${table} REMOVE TTL`, DEADLINE) : Effect.void
  }
})
