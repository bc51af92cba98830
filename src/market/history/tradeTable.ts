/** Queries of the tables `trade_rows`, `wallet_history` and `launches`. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlError, SqlSchema, type Statement } from "effect/sql"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { makeTurns } from "../../domain/loopTime.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { newestFirst } from "../model/TradesRequest.ts"
import type { StoredBatch, StoredLaunch } from "../model/StoredBatch.ts"
import { bytesColumn, columnsOf } from "./arrays.ts"
import type { TradeNames } from "./tradeNames.ts"
import {
  COLUMN_COUNT,
  OWN_COLUMNS,
  packSignature,
  packWallet,
  readTrade,
  remembered,
  roleNumber,
  ROW,
  ROW_COLUMNS,
  unknownNames
} from "./tradeRows.ts"

const StoredAddress = Schema.String.pipe(Schema.refine((text): text is Address => text.length > 0))

const LaunchRow = Schema.Struct({
  slot: Schema.Number,
  at: Schema.Date,
  event: Schema.Literals(["created", "migrated"]),
  mint: StoredAddress,
  launchpad: Schema.String,
  pool: Schema.NullOr(StoredAddress),
  creator: Schema.NullOr(StoredAddress),
  platform: Schema.NullOr(Schema.String),
  quoteMint: Schema.NullOr(StoredAddress),
  holderRewards: Schema.NullOr(Schema.Boolean)
})

/** Blocks of a chain in `(after, to]` from a time on. */
export interface SlotSpan {
  readonly chain: number
  readonly after: number
  readonly to: number
  readonly fromMs: number
  readonly untilMs: number
}

const SpanRow = Schema.Struct({
  chain: Schema.Number,
  after: Schema.Number,
  to: Schema.Number,
  fromMs: Schema.Number,
  untilMs: Schema.Number
})

/** A position in the order of the chain. */
export interface Place {
  readonly slot: number
  readonly place: number
}

const launchOf = ({
  at,
  creator,
  holderRewards,
  platform,
  quoteMint,
  slot,
  ...launch
}: typeof LaunchRow.Type): StoredLaunch => ({
  slot,
  timeMs: at.getTime(),
  launch: {
    ...launch,
    ...(creator !== null && { creator }),
    ...(platform !== null && { platform }),
    ...(quoteMint !== null && { quoteMint }),
    ...(holderRewards !== null && { holderRewards })
  }
})

const broken = (cause: unknown) =>
  new SqlError.SqlError({
    reason: new SqlError.UnknownError({ cause, message: "a stored trade is malformed", operation: "decode" })
  })

/** The state of a chain among rows of trades: it has one more column. */
const markOf = (row: ReadonlyArray<unknown>): ReadonlyArray<{ readonly slot: number; readonly repaired: string }> => {
  const [slot, repaired] = [row[ROW.slot], row[COLUMN_COUNT]]
  return typeof slot === "number" && typeof repaired === "string" ? [{ slot, repaired }] : []
}

/** Rows of one insert: about two milliseconds of processor time. */
const ROWS_AT_ONCE = 500
/** Inserts that are prepared before a deadline. More rows make them larger. */
const MOST_INSERTS = 20

/** Attempts to get all names of a page of rows into memory. */
const NAME_TRIES = 5

/** The names of a trade that have a number in the database. */
const namesOf = ({ dex, launchpad, mint, otherToken, pool }: TapeTrade) => [
  mint,
  pool,
  dex,
  launchpad,
  otherToken?.mint ?? null
]

/** A table of trades: trades of blocks, or trades of single wallets. */
export type TradeRows = "trade_rows" | "wallet_history"

export const makeTradeTable = (sql: SqlClient.SqlClient, names: TradeNames, table: TradeRows = "trade_rows") => {
  const columns = sql.literal(ROW_COLUMNS)

  /** Reads the trades of rows with their names. A name that was forgotten meanwhile is looked up again. */
  const readTrades = Effect.fnUntraced(function* (rows: ReadonlyArray<ReadonlyArray<unknown>>, own?: Address) {
    let unknown = unknownNames(rows, names.nameOf)
    for (let tries = 0; unknown.size > 0 && tries < NAME_TRIES; tries++) {
      yield* names.load(unknown)
      unknown = unknownNames(rows, names.nameOf)
    }
    return yield* Effect.try({ try: () => rows.map((row) => readTrade(row, names.nameOf, own)), catch: broken })
  })

  /**
   * The newest trades and transfers of a wallet after a slot. From a plain comparison of the wallet the planner takes a large
   * wallet for a small one: it knows that its first bytes and the wallet are both frequent, and not that they are the same.
   * Then it would sort all rows of the wallet instead of reading the newest ones from the index. It knows nothing of a `case`.
   */
  const newestOf = (chain: number, wallet: Address, limit: number, after: number) => {
    const packed = PgTypes.bytea(packWallet(wallet))
    const isOwn = sql`wallet = ${packed} and chain = ${chain}`
    return sql`
      select ${sql.literal(OWN_COLUMNS)} from ${sql(table)}
      where substr(wallet, 1, 7) = substr(${packed}, 1, 7) and role <> 0 and slot > ${after}::int
        and ${table === "trade_rows" ? sql`case when ${isOwn} then true else false end` : isOwn}
      order by slot desc, place desc limit ${limit}
    `
  }

  const launchesWithin = SqlSchema.findAll({
    Request: SpanRow,
    Result: LaunchRow,
    execute: ({ after, chain, fromMs, to, untilMs }) => sql`
      select slot, at, event, mint, launchpad, pool, creator, platform, quote_mint, holder_rewards from launches
      where chain = ${chain} and slot > ${after} and slot <= ${to} and at >= ${PgTypes.timestamptz(fromMs)}
        and at <= ${PgTypes.timestamptz(untilMs)}
      order by slot, place
    `
  })

  const newestLaunches = SqlSchema.findAll({
    Request: Schema.Struct({ chain: Schema.Number, toMs: Schema.Number, limit: Schema.Number }),
    Result: LaunchRow,
    execute: ({ chain, limit, toMs }) => sql`
      select slot, at, event, mint, launchpad, pool, creator, platform, quote_mint, holder_rewards from launches
      where chain = ${chain} and at < ${PgTypes.timestamptz(toMs)}
      order by slot desc, place desc limit ${limit}
    `
  })

  const slotOf = SqlSchema.findAll({
    Request: Schema.Struct({ chain: Schema.Number, fromMs: Schema.Number, toMs: Schema.Number }),
    Result: Schema.Struct({ slot: Schema.NullOr(Schema.Number) }),
    // `slot + 0` keeps the planner from walking the index by slot until it meets the time.
    execute: ({ chain, fromMs, toMs }) => sql`
      select min(slot + 0) as slot from trade_rows
      where chain = ${chain} and at >= ${PgTypes.timestamptz(fromMs)} and at < ${PgTypes.timestamptz(toMs)}
    `
  })

  const newestSlots = SqlSchema.findAll({
    Request: Schema.Struct({ ...SpanRow.fields, most: Schema.Number }),
    Result: Schema.Struct({ slot: Schema.Number }),
    execute: ({ after, chain, fromMs, most, to, untilMs }) => sql`
      select slot from trade_rows
      where chain = ${chain} and slot > ${after} and slot <= ${to} and at >= ${PgTypes.timestamptz(fromMs)}
        and at <= ${PgTypes.timestamptz(untilMs)} and role <> ${roleNumber("transfer")}
      order by slot desc offset ${PgTypes.int8(BigInt(most - 1))} limit 1
    `
  })

  /**
   * The statement that inserts these trades. Makes its arrays in turns: the wide ones row by row, the others four columns at
   * a time.
   */
  const insertRows = Effect.fnUntraced(function* (
    turns: Effect.Success<typeof makeTurns>,
    chain: number,
    trades: ReadonlyArray<TapeTrade>,
    known: ReadonlyMap<string, number>
  ) {
    const [wallet, signature] = [remembered(packWallet), remembered(packSignature)]
    const wallets = bytesColumn(trades.length)
    const signatures = bytesColumn(trades.length)
    const counterparties = bytesColumn(trades.length)
    yield* turns.visit(trades, (trade) => {
      const { counterparty } = trade
      wallets.add(wallet(trade.wallet))
      signatures.add(signature(trade.signature))
      counterparties.add(counterparty === undefined ? null : wallet(counterparty))
    })
    const given = columnsOf(trades)
    const numbers = (name: (trade: TapeTrade) => string | null) =>
      given.integers((trade) => {
        const text = name(trade)
        return text === null ? null : (known.get(text) ?? null)
      })
    const made: Array<Statement.Fragment> = []
    yield* turns.visit(
      [
        () => given.integers(({ slot }) => slot),
        () => given.integers(({ index }) => index),
        () => given.times(({ timeMs }) => timeMs),
        () => given.shorts(({ role }) => roleNumber(role)),
        () => given.booleans(({ side }) => side === "buy"),
        () => given.shorts(({ decimals }) => decimals),
        () => given.units(({ amount }) => amount),
        () => given.units(({ lamports }) => lamports),
        () => given.floats(({ priceUsd }) => priceUsd),
        () => given.units(({ volumeUsdNanos }) => volumeUsdNanos),
        () => given.units(({ solUsdNanos }) => solUsdNanos),
        () => numbers(({ mint }) => mint),
        () => numbers(({ pool }) => pool),
        () => numbers(({ dex }) => dex),
        () => numbers(({ launchpad }) => launchpad),
        () => wallets.close(),
        () => signatures.close(),
        () => given.units(({ feeUsdNanos }) => feeUsdNanos ?? null),
        () => given.booleans(({ feeUsdNanos }) => feeUsdNanos === null),
        () => given.units(({ feeLamports }) => feeLamports ?? null),
        () => given.units(({ held }) => held?.before ?? null),
        () => given.units(({ held }) => held?.after ?? null),
        () => given.units(({ priorityLamports }) => priorityLamports ?? null),
        () => given.units(({ tipLamports }) => tipLamports ?? null),
        () => numbers(({ otherToken }) => otherToken?.mint ?? null),
        () => given.units(({ otherToken }) => otherToken?.amount ?? null),
        () => given.shorts(({ otherToken }) => otherToken?.decimals ?? null),
        () => counterparties.close()
      ],
      (make) => made.push(sql`${make()}`)
    )
    return sql`
      insert into ${sql(table)} (
        chain, slot, place, at, role, is_buy, decimals, amount, lamports, price_usd, volume_usd_nanos, sol_usd_nanos, mint,
        pool, dex, launchpad, wallet, signature, fee_usd_nanos, fee_unknown, fee_lamports, held_before,
        held_after, priority_lamports, tip_lamports, other_mint, other_amount, other_decimals, counterparty
      )
      select ${chain}::int, * from unnest(${sql.csv(made)})
      on conflict do nothing
    `
  })

  const insertLaunches = (chain: number, batches: ReadonlyArray<StoredBatch>) => {
    const all = batches.flatMap(({ launches, slot, timeMs }) =>
      (launches ?? []).map((launch, place) => ({ slot, timeMs, place, launch }))
    )
    const given = columnsOf(all)
    return all.length === 0
      ? Effect.void
      : sql`
          insert into launches (chain, slot, place, at, event, mint, launchpad, pool, creator, platform, quote_mint, holder_rewards)
          select ${chain}::int, slot, place, at, event, mint, launchpad, pool, creator, platform, quote_mint, holder_rewards
          from unnest(
            ${given.integers(({ slot }) => slot)},
            ${given.integers(({ place }) => place)},
            ${given.times(({ timeMs }) => timeMs)},
            ${given.texts(({ launch }) => launch.event)},
            ${given.texts(({ launch }) => launch.mint)},
            ${given.texts(({ launch }) => launch.launchpad)},
            ${given.texts(({ launch }) => launch.pool)},
            ${given.texts(({ launch }) => launch.creator ?? null)},
            ${given.texts(({ launch }) => launch.platform ?? null)},
            ${given.texts(({ launch }) => launch.quoteMint ?? null)},
            ${given.booleans(({ launch }) => launch.holderRewards ?? null)}
          ) as given (slot, place, at, event, mint, launchpad, pool, creator, platform, quote_mint, holder_rewards)
          on conflict do nothing
        `
  }

  return {
    readTrades,

    /**
     * Prepares the statements that insert trades that are not stored yet. Gives numbers to their names at once, so it must
     * run before a transaction begins. The statements have all their arrays, so no transaction waits while they are made in
     * turns.
     */
    insertTrades: Effect.fnUntraced(function* (chain: number, trades: ReadonlyArray<TapeTrade>) {
      const turns = yield* makeTurns
      const known = yield* names.number(trades, namesOf)
      yield* turns.pause
      const parts: Array<Effect.Success<ReturnType<typeof insertRows>>> = []
      const many = Math.max(ROWS_AT_ONCE, Math.ceil(trades.length / MOST_INSERTS))
      for (let from = 0; from < trades.length; from += many) {
        parts.push(yield* insertRows(turns, chain, trades.slice(from, from + many), known))
      }
      return Effect.all(parts, { discard: true })
    }),

    /** The statement that inserts the launches of blocks. */
    insertLaunches,

    /** The statement that replaces the prices of stored trades. */
    reprice: (chain: number, trades: ReadonlyArray<TapeTrade>) => {
      const given = columnsOf(trades)
      return sql`
      update trade_rows set
        price_usd = given.price_usd, volume_usd_nanos = given.volume_usd_nanos, sol_usd_nanos = given.sol_usd_nanos,
        fee_usd_nanos = given.fee_usd_nanos, fee_unknown = given.fee_unknown
      from unnest(
        ${given.integers(({ slot }) => slot)},
        ${given.integers(({ index }) => index)},
        ${given.times(({ timeMs }) => timeMs)},
        ${given.floats(({ priceUsd }) => priceUsd)},
        ${given.units(({ volumeUsdNanos }) => volumeUsdNanos)},
        ${given.units(({ solUsdNanos }) => solUsdNanos)},
        ${given.units(({ feeUsdNanos }) => feeUsdNanos ?? null)},
        ${given.booleans(({ feeUsdNanos }) => feeUsdNanos === null)}
      ) as given (slot, place, at, price_usd, volume_usd_nanos, sol_usd_nanos, fee_usd_nanos, fee_unknown)
      where trade_rows.chain = ${chain} and trade_rows.slot = given.slot and trade_rows.place = given.place
        and trade_rows.at = given.at
    `
    },

    /** The newest swaps of SOL up to a slot, at most so many, oldest first. */
    solSwaps: (chain: number, slot: number, limit: number) =>
      Effect.map(
        Effect.flatMap(
          sql`
            select ${columns} from trade_rows
            where mint = (select id from trade_names where name = ${SOL}) and chain = ${chain} and slot <= ${slot}
              and role <> ${roleNumber("wallet")} and volume_usd_nanos is not null
            order by slot desc, place desc limit ${limit}
          `.values,
          readTrades
        ),
        (trades) => trades.toReversed()
      ),

    /** The first slot with trades in `[fromMs, toMs)`; null when there is none. */
    firstSlot: (chain: number, fromMs: number, toMs: number) =>
      Effect.map(slotOf({ chain, fromMs, toMs }), ([row]) => row?.slot ?? null),

    /** The slot of the `most`-newest trade; null when there are fewer. */
    newestSlot: (span: SlotSpan, most: number) =>
      Effect.map(newestSlots({ ...span, most }), ([row]) => row?.slot ?? null),

    /** The next trades after a place, at most so many, in the order of the chain. */
    next: ({ chain, fromMs, to, untilMs }: SlotSpan, after: Place, limit: number) =>
      Effect.flatMap(
        sql`
          select ${columns} from trade_rows
          where chain = ${chain} and (slot, place) > (${after.slot}::int, ${after.place}::int) and slot <= ${to}
            and at >= ${PgTypes.timestamptz(fromMs)} and at <= ${PgTypes.timestamptz(untilMs)}
            and role <> ${roleNumber("transfer")}
          order by slot, place limit ${limit}
        `.values,
        readTrades
      ),

    /** Launches of these blocks, in the order of the chain. */
    launchesWithin: (span: SlotSpan) => Effect.map(launchesWithin(span), (rows) => rows.map(launchOf)),

    /** The newest launches from before a time, oldest first. */
    launchesBefore: (chain: number, toMs: number, limit: number) =>
      Effect.map(newestLaunches({ chain, toMs, limit }), (rows) => rows.map(launchOf).toReversed()),

    /** The newest swaps of a mint in pools within `(after, to]`, newest first, at most so many. */
    swapsOf: ({ after, chain, to }: Omit<SlotSpan, "fromMs" | "untilMs">, mint: Mint, limit: number) =>
      Effect.flatMap(
        sql`
          select ${columns} from ${sql(table)}
          where mint = (select id from trade_names where name = ${mint}) and chain = ${chain}
            and slot > ${after}::int and slot <= ${to}::int
            and role not in (${roleNumber("wallet")}, ${roleNumber("transfer")})
          order by slot desc, place desc limit ${limit}
        `.values,
        readTrades
      ),

    /** The newest trades and transfers of a wallet, newest first, without the trades of single pools of a route. */
    ofWallet: (chain: number, wallet: Address, limit: number) =>
      Effect.flatMap(newestOf(chain, wallet, limit, -1).values, (rows) => readTrades(rows, wallet)),

    /**
     * The same after a slot, with the newest stored slot of the chain and what was repaired until then, all of one moment.
     * Of a chain of which nothing is stored there is no mark.
     */
    ofWalletNow: Effect.fnUntraced(function* (chain: number, wallet: Address, limit: number, after = -1) {
      const gaps = sql`select string_agg(from_slot || '-' || to_slot, ' ' order by from_slot) from block_gaps where chain = ${chain}`
      const read = sql`
        select slot, ${sql.literal("null, ".repeat(COLUMN_COUNT - 1))}
          concat_ws(' ', repairs, first_slot, extract(epoch from read_from), (${gaps})) as repaired
        from chains where id = ${chain} and slot is not null
        union all
        select own.*, null from (${newestOf(chain, wallet, limit, after)}) as own
      `.values
      const found = yield* read
      const marks = found.flatMap(markOf)
      const rows = yield* readTrades(
        found.filter((row) => markOf(row).length === 0),
        wallet
      )
      return { mark: marks[0] ?? null, rows: rows.toSorted(newestFirst) }
    })
  }
}
