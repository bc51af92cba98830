/** What of a chain is stored and can be exported. */
import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { makeChainTable } from "../history/chainTable.ts"
import type { Gaps } from "../model/Gaps.ts"

/** Widths of stored candles in seconds. Minutes are kept for `MINUTE_BARS_KEPT`. */
export const barWidths = { "1m": 60, "1h": 3600, "1d": 86_400 } as const
export type BarWidth = keyof typeof barWidths

/** What can be exported. */
export const datasets = ["trades", "wallets", "holders", "bars"] as const
export type Dataset = (typeof datasets)[number]

export interface Subject {
  readonly dataset: Dataset
  readonly width: BarWidth
  /** Genesis hash of the chain; null for the chain that was written last. */
  readonly genesis: string | null
}

/** The stored time of a chain, in milliseconds since the Unix epoch. */
export interface StoredRange {
  readonly chain: number
  readonly genesis: string
  /** From this time to `endMs` every block is stored, except for the gaps. */
  readonly wholeMs: number
  readonly endMs: number
  readonly gaps: Gaps
  /** The number of repairs that have changed stored trades. */
  readonly repairs: number
}

const Chain = Schema.Struct({ id: Schema.Number, genesis: Schema.String })
const Oldest = Schema.Struct({ name: Schema.NullOr(Schema.String) })

/** Reads what is stored of a chain for a data set; null when nothing of it is. */
export const readStoredRange = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { dataset, genesis, width }: Subject
) {
  const chains = makeChainTable(sql)
  const findChain = SqlSchema.findAll({
    Request: Schema.NullOr(Schema.String),
    Result: Chain,
    execute: (genesis) => sql`
      select id, genesis from chains where ${genesis === null ? sql`true` : sql`genesis = ${genesis}`}
      order by written_at desc limit 1
    `
  })
  const findOldest = SqlSchema.findAll({
    Request: Schema.String,
    Result: Oldest,
    execute: (table) => sql`
      select min(relname) as name from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = ${table}::regclass
    `
  })
  /** The start of the oldest day that a table has; later days are kept, earlier ones were dropped. */
  const keptFrom = Effect.fnUntraced(function* (table: string) {
    const [oldest] = yield* findOldest(table)
    const [, year, month, day] = /(\d{4})(\d\d)(\d\d)$/u.exec(oldest?.name ?? "") ?? []
    return year === undefined ? Number.POSITIVE_INFINITY : Date.parse(`${year}-${month}-${day}`)
  })
  const [chain] = yield* findChain(genesis)
  const stored = chain === undefined ? null : yield* chains.read(chain.id)
  if (chain === undefined || stored === null) {
    return null
  }
  const { closed, progress } = stored
  const closedMs = 1000 * { "1m": closed.minutes, "1h": closed.hours, "1d": closed.days }[width]
  const isBars = dataset === "bars"
  const keptMs = isBars && width !== "1m" ? 0 : yield* keptFrom(isBars ? "minute_bars" : "trade_rows")
  const range: StoredRange = {
    chain: chain.id,
    genesis: chain.genesis,
    wholeMs: Math.max(progress.readFrom * 1000, Number.isFinite(keptMs) ? keptMs : 0),
    endMs: isBars ? closedMs : progress.timeMs + 1,
    gaps: progress.gaps,
    repairs: progress.repairs
  }
  return range
})

/** The gaps with a part in a time. */
export const gapsWithin = (gaps: Gaps, fromMs: number, toMs: number): Gaps =>
  gaps.filter(({ fromSecond, toSecond }) => fromSecond * 1000 < toMs && toSecond * 1000 >= fromMs)
