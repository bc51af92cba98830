/** The time that trades are kept in ClickHouse, and where. */
import { Duration } from "effect"
import type { ClickHouseSettings } from "../../storage/clickhouse/ClickHouse.ts"

/** Dates of ClickHouse end in 2106. */
const MOST_DAYS = 25_000

const daysOf = (duration: Duration.Duration): number => Math.max(1, Math.ceil(Duration.toDays(duration)))

const expiry = (days: number): string => `toDateTime(at) + INTERVAL ${days} DAY`

/** Statements that make the tables keep rows as the settings say; no row is rewritten for them. */
export const retentionStatements = (
  { coldAfter, coldVolume, kept }: ClickHouseSettings,
  minutes: Duration.Duration
): ReadonlyArray<string> => {
  const tableOf = (name: string, days: number) => {
    const rules = [
      ...(coldVolume === null ? [] : [`${expiry(daysOf(coldAfter))} TO VOLUME '${coldVolume}'`]),
      ...(days > MOST_DAYS ? [] : [`${expiry(days)} DELETE`])
    ]
    return rules.length === 0
      ? []
      : [`ALTER TABLE ${name} MODIFY TTL ${rules.join(", ")} SETTINGS materialize_ttl_after_modify = 0`]
  }
  const keptDays = daysOf(kept)
  return [
    ...["trades", "wallet_trades"].flatMap((name) => tableOf(name, keptDays)),
    ...tableOf("minute_bars", Math.max(keptDays, daysOf(minutes)))
  ]
}
