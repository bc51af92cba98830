/** `HistoryStore` on Postgres. Every query has a deadline. */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Address, SOL } from "../domain/Address.ts"
import { makeTradeNames } from "../market/store/tradeNames.ts"
import { makeTradeTable } from "../market/store/tradeTable.ts"
import type { TapeTrade } from "../market/tape/TapeTrade.ts"
import { bounded } from "../storage/deadline.ts"
import { transaction } from "../storage/transaction.ts"
import { askedAgain, HistoryProgress, NOT_BEGUN } from "./historyProgress.ts"
import { type HistoryJob, HistoryStore, HistoryStoreUnavailable } from "./HistoryStore.ts"

/** On the path of a request. */
const READ_DEADLINE = Duration.seconds(1)
const WRITE_DEADLINE = Duration.seconds(10)

const unavailable = (cause: unknown) => new HistoryStoreUnavailable({ cause })

const Progress = Schema.fromJsonString(HistoryProgress)
const encode = Schema.encodeEffect(Progress)
const ChainRow = Schema.Struct({ id: Schema.Number })
const Row = Schema.Struct({ wallet: Address, version: Schema.Int, progress: Progress })
const OfChain = Schema.Struct({ chain: Schema.Number, timeMs: Schema.Number })
const Asked = Schema.Struct({ chain: Schema.Number, wallets: Schema.Array(Address) })
const Version = Schema.Struct({ version: Schema.Int })

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
    execute: (chain) => sql`
      select wallet, version, progress::text from wallet_backfills
      where chain = ${chain} and state = 'running' order by stepped_at, wallet limit 1
    `
  })
  const changed = SqlSchema.findAll({
    Request: OfChain,
    Result: Row,
    execute: ({ chain, timeMs }) => sql`
      select wallet, version, progress::text from wallet_backfills
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
  return { chainOf, waiting, changed, locked, insert, update }
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

  const ask = Effect.fnUntraced(function* (chain: number, wallets: ReadonlyArray<Address>) {
    const nowMs = yield* Clock.currentTimeMillis
    const begun = yield* encode(NOT_BEGUN)
    // In one order, so that two requests wait for each other instead of locking each other out.
    yield* Effect.forEach(wallets.toSorted(), (wallet) => table.insert(chain, wallet, begun, nowMs), { discard: true })
    const rows = yield* table.locked({ chain, wallets })
    yield* Effect.forEach(
      rows,
      (row) => {
        const progress = askedAgain(row.progress, nowMs)
        return progress === row.progress ? Effect.void : table.update(chain, { ...row, progress }, nowMs)
      },
      { discard: true }
    )
  })

  const save = Effect.fnUntraced(function* (chain: number, job: HistoryJob, found: ReadonlyArray<TapeTrade>) {
    const nowMs = yield* Clock.currentTimeMillis
    const [row] = yield* table.update(chain, job, nowMs)
    if (row === undefined) {
      return null
    }
    return found.length === 0 ? [] : yield* trades.insertTrades(chain, found)
  })

  return HistoryStore.of({
    open: Effect.fn("HistoryStore.open")(function* (genesis: string) {
      const [row] = yield* write(table.chainOf(genesis))
      state.chain = row?.id ?? null
      return row !== undefined
    }),
    ask: Effect.fn("HistoryStore.ask")(function* (wallets: ReadonlyArray<Address>) {
      const chain = yield* opened
      if (wallets.length > 0) {
        yield* read(transaction(sql, ask(chain, wallets)))
      }
    }),
    next: Effect.gen(function* () {
      const [row] = yield* write(table.waiting(yield* opened))
      return row ?? null
    }).pipe(Effect.withSpan("HistoryStore.next")),
    save: Effect.fn("HistoryStore.save")(function* (job, progress, found) {
      const chain = yield* opened
      const fresh = yield* write(transaction(sql, save(chain, { ...job, progress }, found)))
      names.keep(fresh ?? [])
      return fresh !== null
    }),
    changedSince: Effect.fn("HistoryStore.changedSince")(function* (timeMs: number) {
      return yield* write(table.changed({ chain: yield* opened, timeMs }))
    }),
    ofWallet: Effect.fn("HistoryStore.ofWallet")(function* (wallet: Address, limit: number) {
      return yield* read(trades.ofWallet(yield* opened, wallet, limit))
    }),
    solSwaps: Effect.fn("HistoryStore.solSwaps")(function* (after: number, to: number, limit: number) {
      return yield* write(market.swapsOf({ chain: yield* opened, after, to }, SOL, limit))
    })
  })
})

/** Histories in the tables `wallet_history` and `wallet_backfills`. */
export const layer: Layer.Layer<HistoryStore, never, SqlClient.SqlClient> = Layer.effect(HistoryStore, make)
