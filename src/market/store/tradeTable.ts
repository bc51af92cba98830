/** The tables `trades` and `launches`, as queries. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Result, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import type { Address } from "../../domain/Address.ts"
import type { TapeTrade } from "../tape/TapeTrade.ts"
import type { StoredBatch, StoredLaunch } from "./StoredBatch.ts"

// Aliases in the query: renaming the columns of ten thousand rows in the client takes longer than the query.
const COLUMNS = `
  role, signature, slot, place as index, at, wallet, mint, is_buy as "isBuy", amount, decimals, lamports,
  price_usd as "priceUsd", volume_usd_nanos as "volumeUsdNanos", pool, dex, launchpad,
  fee_usd_nanos as "feeUsdNanos", fee_unknown as "feeUnknown", held_before as "heldBefore", held_after as "heldAfter"
`

// Addresses were validated before they were written: decoding each again would cost more than the rest of a row.
const StoredAddress = Schema.String.pipe(Schema.refine((text): text is Address => text.length > 0))
const Units = Schema.BigIntFromString

const Row = Schema.Struct({
  role: Schema.Literals(["pool", "wallet", "both"]),
  signature: Schema.String,
  slot: Schema.Number,
  index: Schema.Number,
  at: Schema.Date,
  wallet: StoredAddress,
  mint: StoredAddress,
  isBuy: Schema.Boolean,
  amount: Units,
  decimals: Schema.NullOr(Schema.Number),
  lamports: Schema.NullOr(Units),
  priceUsd: Schema.NullOr(Schema.Number),
  volumeUsdNanos: Schema.NullOr(Units),
  pool: Schema.NullOr(StoredAddress),
  dex: Schema.NullOr(Schema.String),
  launchpad: Schema.NullOr(Schema.String),
  feeUsdNanos: Schema.NullOr(Units),
  feeUnknown: Schema.Boolean,
  heldBefore: Schema.NullOr(Units),
  heldAfter: Schema.NullOr(Units)
})

const LaunchRow = Schema.Struct({
  slot: Schema.Number,
  at: Schema.Date,
  event: Schema.Literals(["created", "migrated"]),
  mint: StoredAddress,
  launchpad: Schema.String,
  pool: Schema.NullOr(StoredAddress)
})

/** Blocks of a chain in `[fromMs, toMs)`. */
const Span = Schema.Struct({ chain: Schema.Number, fromMs: Schema.Number, toMs: Schema.Number })

const tradeOf = ({
  at,
  feeUnknown,
  feeUsdNanos,
  heldAfter,
  heldBefore,
  isBuy,
  ...row
}: typeof Row.Type): TapeTrade => ({
  ...row,
  timeMs: at.getTime(),
  side: isBuy ? "buy" : "sell",
  ...(feeUnknown || feeUsdNanos !== null ? { feeUsdNanos } : {}),
  ...(heldBefore === null || heldAfter === null ? {} : { held: { before: heldBefore, after: heldAfter } })
})

const launchOf = ({ at, slot, ...launch }: typeof LaunchRow.Type): StoredLaunch => ({
  slot,
  timeMs: at.getTime(),
  launch
})

/** The codec of every one of these types is known, so there is nothing to fail. */
const list = (oid: number, values: ReadonlyArray<unknown>) => Result.getOrThrow(PgTypes.array(values, oid))

const texts = (values: ReadonlyArray<string | null>) => list(PgTypes.OID.text, values)
const integers = (values: ReadonlyArray<number | null>) => list(PgTypes.OID.int4, values)
const times = (values: ReadonlyArray<number>) => list(PgTypes.OID.timestamptz, values)
const units = (values: ReadonlyArray<bigint | null>) =>
  list(
    PgTypes.OID.numeric,
    values.map((value) => value?.toString() ?? null)
  )

/** The queries. */
export const makeTradeTable = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(COLUMNS)

  const tradesWithin = SqlSchema.findAll({
    Request: Span,
    Result: Row,
    execute: ({ chain, fromMs, toMs }) =>
      sql`
        select ${columns} from trades
        where chain = ${chain} and at >= ${PgTypes.timestamptz(fromMs)} and at < ${PgTypes.timestamptz(toMs)}
        order by slot, place
      `.withoutTransform
  })

  const tradesOfWallet = SqlSchema.findAll({
    Request: Schema.Struct({ chain: Schema.Number, wallet: StoredAddress, limit: Schema.Number }),
    Result: Row,
    execute: ({ chain, limit, wallet }) =>
      sql`
        select ${columns} from trades
        where wallet = ${wallet} and chain = ${chain} and role <> 'pool'
        order by slot desc, place desc limit ${limit}
      `.withoutTransform
  })

  const launchesWithin = SqlSchema.findAll({
    Request: Span,
    Result: LaunchRow,
    execute: ({ chain, fromMs, toMs }) => sql`
      select slot, at, event, mint, launchpad, pool from launches
      where chain = ${chain} and at >= ${PgTypes.timestamptz(fromMs)} and at < ${PgTypes.timestamptz(toMs)}
      order by slot, place
    `
  })

  const newestLaunches = SqlSchema.findAll({
    Request: Schema.Struct({ chain: Schema.Number, toMs: Schema.Number, limit: Schema.Number }),
    Result: LaunchRow,
    execute: ({ chain, limit, toMs }) => sql`
      select slot, at, event, mint, launchpad, pool from launches
      where chain = ${chain} and at < ${PgTypes.timestamptz(toMs)}
      order by slot desc, place desc limit ${limit}
    `
  })

  const insertTrades = (chain: number, trades: ReadonlyArray<TapeTrade>) => sql`
    insert into trades (
      mint, chain, slot, place, at, role, signature, wallet, is_buy, amount, decimals, lamports, price_usd,
      volume_usd_nanos, pool, dex, launchpad, fee_usd_nanos, fee_unknown, held_before, held_after
    )
    select
      mint, ${chain}::int, slot, place, at, role, signature, wallet, is_buy, amount, decimals, lamports, price_usd,
      volume_usd_nanos, pool, dex, launchpad, fee_usd_nanos, fee_unknown, held_before, held_after
    from unnest(
      ${texts(trades.map(({ mint }) => mint))},
      ${integers(trades.map(({ slot }) => slot))},
      ${integers(trades.map(({ index }) => index))},
      ${times(trades.map(({ timeMs }) => timeMs))},
      ${texts(trades.map(({ role }) => role))},
      ${texts(trades.map(({ signature }) => signature))},
      ${texts(trades.map(({ wallet }) => wallet))},
      ${list(
        PgTypes.OID.bool,
        trades.map(({ side }) => side === "buy")
      )},
      ${units(trades.map(({ amount }) => amount))},
      ${integers(trades.map(({ decimals }) => decimals))},
      ${units(trades.map(({ lamports }) => lamports))},
      ${list(
        PgTypes.OID.float8,
        trades.map(({ priceUsd }) => priceUsd)
      )},
      ${units(trades.map(({ volumeUsdNanos }) => volumeUsdNanos))},
      ${texts(trades.map(({ pool }) => pool))},
      ${texts(trades.map(({ dex }) => dex))},
      ${texts(trades.map(({ launchpad }) => launchpad))},
      ${units(trades.map(({ feeUsdNanos }) => feeUsdNanos ?? null))},
      ${list(
        PgTypes.OID.bool,
        trades.map(({ feeUsdNanos }) => feeUsdNanos === null)
      )},
      ${units(trades.map(({ held }) => held?.before ?? null))},
      ${units(trades.map(({ held }) => held?.after ?? null))}
    ) as given (
      mint, slot, place, at, role, signature, wallet, is_buy, amount, decimals, lamports, price_usd, volume_usd_nanos,
      pool, dex, launchpad, fee_usd_nanos, fee_unknown, held_before, held_after
    )
    on conflict do nothing
  `

  const insertLaunches = (chain: number, batches: ReadonlyArray<StoredBatch>) => {
    const all = batches.flatMap(({ launches, slot, timeMs }) =>
      (launches ?? []).map((launch, place) => ({ slot, timeMs, place, launch }))
    )
    return all.length === 0
      ? Effect.void
      : sql`
          insert into launches (chain, slot, place, at, event, mint, launchpad, pool)
          select ${chain}::int, slot, place, at, event, mint, launchpad, pool
          from unnest(
            ${integers(all.map(({ slot }) => slot))},
            ${integers(all.map(({ place }) => place))},
            ${times(all.map(({ timeMs }) => timeMs))},
            ${texts(all.map(({ launch }) => launch.event))},
            ${texts(all.map(({ launch }) => launch.mint))},
            ${texts(all.map(({ launch }) => launch.launchpad))},
            ${texts(all.map(({ launch }) => launch.pool))}
          ) as given (slot, place, at, event, mint, launchpad, pool)
          on conflict do nothing
        `
  }

  return {
    insertTrades,
    insertLaunches,

    /** Trades of these blocks, in the order of the chain. */
    between: (span: typeof Span.Type) => Effect.map(tradesWithin(span), (rows) => rows.map(tradeOf)),

    /** Launches of these blocks, in the order of the chain. */
    launchesBetween: (span: typeof Span.Type) => Effect.map(launchesWithin(span), (rows) => rows.map(launchOf)),

    /** The newest launches from before a time, oldest first. */
    launchesBefore: (chain: number, toMs: number, limit: number) =>
      Effect.map(newestLaunches({ chain, toMs, limit }), (rows) => rows.map(launchOf).toReversed()),

    /** The number of trades of each minute since a time, the newest minute first. */
    perMinute: SqlSchema.findAll({
      Request: Schema.Struct({ chain: Schema.Number, fromMs: Schema.Number }),
      Result: Schema.Struct({ at: Schema.Date, trades: Schema.Number }),
      execute: ({ chain, fromMs }) => sql`
        select date_bin('1 minute', at, 'epoch') as at, count(*)::float8 as trades from trades
        where chain = ${chain} and at >= ${PgTypes.timestamptz(fromMs)}
        group by 1 order by 1 desc
      `
    }),

    /** The newest trades of a wallet, newest first, without those of single pools of a route. */
    ofWallet: (chain: number, wallet: Address, limit: number) =>
      Effect.map(tradesOfWallet({ chain, wallet, limit }), (rows) => rows.map(tradeOf))
  }
}
