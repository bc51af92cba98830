/** `HistoryStore` on Postgres. Every query has a deadline. */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Address, SOL } from "../domain/Address.ts"
import { makeTradeNames } from "../market/history/tradeNames.ts"
import { makeTradeTable } from "../market/history/tradeTable.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import { bounded } from "../storage/deadline.ts"
import { transaction } from "../storage/transaction.ts"
import { packWallet } from "../market/history/tradeRows.ts"
import { askedAgain, HistoryProgress, NOT_BEGUN } from "./historyProgress.ts"
import { type HistoryJob, HistoryStore, HistoryStoreUnavailable } from "./HistoryStore.ts"

/** A request waits for these reads, so they have to answer within this time. */
const READ_DEADLINE = Duration.seconds(1)
const WRITE_DEADLINE = Duration.seconds(10)

const unavailable = (cause: unknown) => new HistoryStoreUnavailable({ cause })

const Progress = Schema.fromJsonString(HistoryProgress)
const encode = Schema.encodeEffect(Progress)
const ChainRow = Schema.Struct({ id: Schema.Number })
const Row = Schema.Struct({ wallet: Address, version: Schema.Int, progress: Progress })
const OfChain = Schema.Struct({ chain: Schema.Number, timeMs: Schema.Number })
const Asked = Schema.Struct({ chain: Schema.Number, wallets: Schema.Array(Address) })
const ProgressRow = Schema.Struct({ wallet: Address, progress: Progress, askedAt: Schema.Date })
const WalletOnly = Schema.Struct({ wallet: Address })
const Close = Schema.Struct({ close: Schema.NullOr(Schema.Number) })
const Version = Schema.Struct({ version: Schema.Int })

/** A repeated request is stored at most once in this time. */
const ASKED_MS = 60_000
/** Histories that are deleted at a time: each has up to `WALLET_HISTORY` trades. */
const FORGOTTEN_AT_ONCE = 5
const MINUTE_MS = 60_000

/** The queries of `wallet_backfills`. */
const makeTable = (sql: SqlClient.SqlClient) => {
  const chainOf = SqlSchema.findAll({
    Request: Schema.String,
    Result: ChainRow,
    execute: (genesis) => sql`select id from chains where genesis = ${genesis}`
  })
  const waiting = SqlSchema.findAll({
    Request: Schema.Number,
    Result: Row,
    // A row that was never stepped has the version 0. Callers of readings from before callers were noted count as one.
    execute: (chain) => sql`
      with turns as materialized (
        select coalesce(progress->>'askedBy', '') as caller, max(stepped_at) filter (where version > 0) as turned_at
        from wallet_backfills where chain = ${chain} group by 1
      )
      select wallet, version, progress::text from wallet_backfills
      join turns on turns.caller = coalesce(progress->>'askedBy', '')
      where chain = ${chain} and state = 'running' order by turned_at nulls first, stepped_at, wallet limit 1
    `
  })
  const changed = SqlSchema.findAll({
    Request: OfChain,
    Result: ProgressRow,
    execute: ({ chain, timeMs }) => sql`
      select wallet, progress::text, asked_at as "askedAt" from wallet_backfills
      where chain = ${chain} and changed_at >= ${PgTypes.timestamptz(timeMs)} order by changed_at
    `
  })
  const locked = SqlSchema.findAll({
    Request: Asked,
    Result: Row,
    execute: ({ chain, wallets }) => sql`
      select wallet, version, progress::text from wallet_backfills
      where chain = ${chain} and ${sql.in("wallet", wallets)} order by wallet for update
    `
  })
  const stepped = SqlSchema.findAll({
    Request: Schema.Struct({
      chain: Schema.Number,
      wallet: Address,
      version: Schema.Int,
      state: Schema.String,
      progress: Schema.String,
      nowMs: Schema.Number
    }),
    Result: Version,
    execute: ({ chain, nowMs, progress, state, version, wallet }) => sql`
      update wallet_backfills set
        state = ${state}, progress = ${progress}::jsonb, version = version + 1,
        stepped_at = ${PgTypes.timestamptz(nowMs)}, changed_at = ${PgTypes.timestamptz(nowMs)}
      where chain = ${chain} and wallet = ${wallet} and version = ${version}
      returning version
    `
  })
  const forgotten = SqlSchema.findAll({
    Request: OfChain,
    Result: WalletOnly,
    execute: ({ chain, timeMs }) => sql`
      with old as materialized (
        select wallet from wallet_backfills
        where chain = ${chain} and asked_at < ${PgTypes.timestamptz(timeMs)}
        order by asked_at, wallet limit ${FORGOTTEN_AT_ONCE} for update skip locked
      )
      delete from wallet_backfills using old
      where wallet_backfills.chain = ${chain} and wallet_backfills.wallet = old.wallet
      returning wallet_backfills.wallet
    `
  })
  const closes = SqlSchema.findAll({
    Request: Schema.Struct({ chain: Schema.Number, fromMs: Schema.Number, toMs: Schema.Number }),
    Result: Close,
    execute: ({ chain, fromMs, toMs }) => sql`
      select close from bars
      where mint = ${SOL} and chain = ${chain} and width = 60
        and at >= ${PgTypes.timestamptz(fromMs)} and at <= ${PgTypes.timestamptz(toMs - MINUTE_MS)}
      order by at desc limit 1
    `
  })
  const noteAsked = (chain: number, wallets: ReadonlyArray<Address>, nowMs: number) => sql`
    update wallet_backfills set asked_at = ${PgTypes.timestamptz(nowMs)}, changed_at = ${PgTypes.timestamptz(nowMs)}
    where chain = ${chain} and ${sql.in("wallet", wallets)} and asked_at < ${PgTypes.timestamptz(nowMs - ASKED_MS)}
  `
  const deleteTrades = (chain: number, wallets: ReadonlyArray<Address>) => sql`
    delete from wallet_history
    where chain = ${chain} and ${sql.in(
      "wallet",
      wallets.map((wallet) => PgTypes.bytea(packWallet(wallet)))
    )}
  `
  const insert = (chain: number, wallet: Address, progress: string, nowMs: number) => sql`
    insert into wallet_backfills (chain, wallet, state, progress, asked_at, stepped_at, changed_at)
    values (
      ${chain}, ${wallet}, 'running', ${progress}::jsonb,
      ${PgTypes.timestamptz(nowMs)}, ${PgTypes.timestamptz(nowMs)}, ${PgTypes.timestamptz(nowMs)}
    )
    on conflict do nothing
  `
  const update = (chain: number, { progress, wallet, version }: HistoryJob, nowMs: number) =>
    Effect.flatMap(encode(progress), (text) =>
      stepped({ chain, wallet, version, state: progress.state, progress: text, nowMs })
    )
  return { chainOf, waiting, changed, locked, insert, update, forgotten, closes, noteAsked, deleteTrades }
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const names = makeTradeNames(sql)
  const trades = makeTradeTable(sql, names, "wallet_history")
  const market = makeTradeTable(sql, names)
  const table = makeTable(sql)
  const read = bounded(READ_DEADLINE, unavailable)
  const write = bounded(WRITE_DEADLINE, unavailable)
  const state: { chain: number | null } = { chain: null }

  const opened = Effect.suspend(() =>
    state.chain === null ? Effect.fail(unavailable(new Error("no chain is open"))) : Effect.succeed(state.chain)
  )

  const ask = Effect.fnUntraced(function* (chain: number, wallets: ReadonlyArray<Address>, caller: string) {
    const nowMs = yield* Clock.currentTimeMillis
    const begun = yield* encode({ ...NOT_BEGUN, askedBy: caller })
    // Always in the same order, so that two requests at once cannot deadlock.
    yield* Effect.forEach(wallets.toSorted(), (wallet) => table.insert(chain, wallet, begun, nowMs), { discard: true })
    const rows = yield* table.locked({ chain, wallets })
    yield* Effect.forEach(
      rows,
      (row) => {
        const again = askedAgain(row.progress, nowMs)
        const progress = { ...again, askedBy: caller }
        return again === row.progress ? Effect.void : table.update(chain, { ...row, progress }, nowMs)
      },
      { discard: true }
    )
    yield* table.noteAsked(chain, wallets, nowMs)
  })

  const forget = Effect.fnUntraced(function* (chain: number, timeMs: number) {
    const gone = yield* table.forgotten({ chain, timeMs })
    if (gone.length > 0) {
      yield* table.deleteTrades(
        chain,
        gone.map(({ wallet }) => wallet)
      )
    }
    return gone.length === FORGOTTEN_AT_ONCE
  })

  const save = Effect.fnUntraced(function* (chain: number, job: HistoryJob, found: ReadonlyArray<TapeTrade>) {
    const nowMs = yield* Clock.currentTimeMillis
    const insert = found.length === 0 ? Effect.void : yield* trades.insertTrades(chain, found)
    return yield* transaction(
      sql,
      Effect.gen(function* () {
        const [row] = yield* table.update(chain, job, nowMs)
        yield* row === undefined ? Effect.void : insert
        return row !== undefined
      })
    )
  })

  return HistoryStore.of({
    open: Effect.fn("HistoryStore.open")(function* (genesis: string) {
      const [row] = yield* write(table.chainOf(genesis))
      state.chain = row?.id ?? null
      return row !== undefined
    }),
    ask: Effect.fn("HistoryStore.ask")(function* (wallets: ReadonlyArray<Address>, caller: string) {
      const chain = yield* opened
      if (wallets.length > 0) {
        yield* read(transaction(sql, ask(chain, wallets, caller)))
      }
    }),
    next: Effect.gen(function* () {
      const [row] = yield* write(table.waiting(yield* opened))
      return row ?? null
    }).pipe(Effect.withSpan("HistoryStore.next")),
    save: Effect.fn("HistoryStore.save")(function* (job, progress, found) {
      const chain = yield* opened
      return yield* write(save(chain, { ...job, progress }, found))
    }),
    changedSince: Effect.fn("HistoryStore.changedSince")(function* (timeMs: number) {
      const rows = yield* write(table.changed({ chain: yield* opened, timeMs }))
      return rows.map(({ askedAt, ...row }) => ({ ...row, askedAtMs: askedAt.getTime() }))
    }),
    ofWallet: Effect.fn("HistoryStore.ofWallet")(function* (wallet: Address, limit: number) {
      return yield* read(trades.ofWallet(yield* opened, wallet, limit))
    }),
    forget: Effect.fn("HistoryStore.forget")(function* (beforeMs: number) {
      return yield* write(transaction(sql, forget(yield* opened, beforeMs)))
    }),
    solClose: Effect.fn("HistoryStore.solClose")(function* (fromMs: number, toMs: number) {
      const [row] = yield* write(table.closes({ chain: yield* opened, fromMs, toMs }))
      return row?.close ?? null
    }),
    solSwaps: Effect.fn("HistoryStore.solSwaps")(function* (after: number, to: number, limit: number) {
      return yield* write(market.swapsOf({ chain: yield* opened, after, to }, SOL, limit))
    })
  })
})

/** Histories in the tables `wallet_history` and `wallet_backfills`. */
export const layer: Layer.Layer<HistoryStore, never, SqlClient.SqlClient> = Layer.effect(HistoryStore, make)
