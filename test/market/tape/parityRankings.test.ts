import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DiscoveryAnswer, LighthouseAnswer } from "../../../src/api/Market.ts"
import { TopTradersAnswer } from "../../../src/api/TopTraders.ts"
import { toBase58 } from "../../../src/domain/base58.ts"
import { fromAtomic, quotient } from "../../../src/domain/decimal.ts"
import { dollarsText } from "../../../src/market/reads/measures.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { rankingFrom } from "../../../src/market/memory/Traders.ts"
import {
  windowFrom,
  type WindowName,
  windowIndex,
  windowNames,
  windowSeconds
} from "../../../src/market/model/windows.ts"
import { call, keyOf } from "../../support/http.ts"
import { block, makeBooks, reading, setSecond } from "../../support/reads.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { storesFrom, storesOn } from "../../support/marketStores.ts"
import { DOLLAR, priceAll } from "../../support/views.ts"
import { makeTape, mintOf, MONDAY } from "./tape.ts"

const DAY = 86_400
const TOKENS = 8
const NOW = 2 * DAY - 1000
const mints = Array.from({ length: TOKENS }, (_, n) => mintOf(n))
const roles = ["both", "pool", "wallet", "both"] as const

/** Two days of trades up to now, some of them without a known price. */
const trades: ReadonlyArray<TapeTrade> = makeTape({
  seed: 11,
  trades: 5000,
  tokens: TOKENS,
  wallets: 30,
  paceSeconds: 35
})
  .map((trade, i) => ({ ...trade, role: roles[i % roles.length] ?? "both" }))
  .filter(({ timeMs }) => timeMs <= (MONDAY + NOW) * 1000)

const books = makeBooks()
priceAll(books, mints)

const decode = <A, I>(schema: Schema.Codec<A, I>) => Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
const widthOf = (window: WindowName): number => windowSeconds[windowIndex[window]] ?? 0

const Whole = Schema.BigIntFromString
const traderRows = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      wallet: Schema.Uint8Array,
      bought: Whole,
      sold: Whole,
      boughtNanos: Schema.NullOr(Whole),
      soldNanos: Schema.NullOr(Whole),
      volume: Whole,
      buys: Schema.Number,
      sells: Schema.Number,
      lastMs: Schema.Number
    })
  )
)
const sumRows = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ name: Schema.String, buys: Schema.Number, sells: Schema.Number, volume: Whole }))
)
const tokenRows = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ mint: Schema.String, trades: Schema.Number, traders: Schema.Number, volume: Whole }))
)

const keys = "abcdefgh".split("").map((letter) => keyOf(letter))
const database = Layer.unwrap(Effect.map(TestDatabase.create, TestDatabase.connect))
const stored = storesOn(database).pipe(Layer.provideMerge(database))

describe.runIf(TestDatabase.isAvailable)("the answers of the market endpoints", () => {
  it.effect(
    "equal plain SQL over the stored trades",
    () =>
      Effect.gen(function* () {
        const tape = yield* Tape
        const launches = mints.map((mint) => ({ event: "created" as const, mint, launchpad: "pump-fun", pool: null }))
        yield* setSecond(NOW)
        // Built after the clock is set, or its periodic tasks would run for decades of test time.
        const context = yield* Layer.build(stored)
        const [store, sql] = [storesFrom(context), Context.get(context, SqlClient.SqlClient)]
        yield* store.blocks.open({ genesis: "rankings", isSandbox: false })
        yield* tape.apply(block(0))
        for (let i = 0; i < trades.length; i += 500) {
          const part = trades.slice(i, i + 500)
          const batch = { ...block(i), timeMs: part.at(-1)?.timeMs ?? 0, trades: part }
          yield* store.blocks.append([batch])
          yield* tape.apply(batch)
        }
        yield* tape.apply(block(NOW, { launches }))
        const now = MONDAY + NOW

        // The wallets of one token: in a day, and ever.
        for (const [window, from] of [
          ["24h", (rankingFrom("24h", now) ?? 0) - 1],
          ["all", 0]
        ] as const) {
          const rows = yield* sql`
            select wallet,
              coalesce(sum(amount) filter (where is_buy), 0)::text as bought,
              coalesce(sum(amount) filter (where not is_buy), 0)::text as sold,
              case when count(*) filter (where is_buy and volume_usd_nanos is null) > 0 then null
                else coalesce(sum(volume_usd_nanos) filter (where is_buy), 0)::text end as bought_nanos,
              case when count(*) filter (where not is_buy and volume_usd_nanos is null) > 0 then null
                else coalesce(sum(volume_usd_nanos) filter (where not is_buy), 0)::text end as sold_nanos,
              coalesce(sum(volume_usd_nanos), 0)::text as volume,
              (count(*) filter (where is_buy))::int as buys, (count(*) filter (where not is_buy))::int as sells,
              (select floor(extract(epoch from max(at)))::float8 * 1000 from trades as any_time
                where any_time.wallet = trades.wallet and mint = ${mintOf(0)} and role <> 'pool') as last_ms
            from trades
            where mint = ${mintOf(0)} and role <> 'pool' and floor(extract(epoch from at)) > ${from}::bigint
            group by wallet order by coalesce(sum(volume_usd_nanos), 0) desc
          `.pipe(Effect.flatMap((found) => traderRows(found)))
          assert.isAbove(rows.length, 15)
          const path = `/api/v1/tokens/solana/${mintOf(0)}/top-traders?window=${window}&limit=100`
          const { data } = yield* decode(TopTradersAnswer)((yield* call(path, { key: "a" })).text)
          assert.deepStrictEqual(
            data.map(({ realizedPnl: _pnl, rank: _rank, wallet, ...row }) => ({ wallet: String(wallet), ...row })),
            rows.map(({ bought, boughtNanos, buys, lastMs, sells, sold, soldNanos, wallet }) => ({
              wallet: toBase58(wallet),
              boughtTokens: fromAtomic(bought, 6),
              soldTokens: fromAtomic(sold, 6),
              boughtUsd: boughtNanos === null ? null : dollarsText(boughtNanos),
              soldUsd: soldNanos === null ? null : dollarsText(soldNanos),
              buys,
              sells,
              lastTradeAtMs: lastMs
            })),
            window
          )
        }

        // The venues, whose windows move in 300 steps.
        const { data: lighthouse } = yield* decode(LighthouseAnswer)(
          (yield* call("/api/v1/market/lighthouse", { key: "b" })).text
        )
        for (const window of windowNames) {
          const step = widthOf(window) / 300
          const rows = yield* sql`
            select coalesce(dex, 'none') as name, (count(*) filter (where is_buy))::int as buys,
              (count(*) filter (where not is_buy))::int as sells, coalesce(sum(volume_usd_nanos), 0)::text as volume
            from trades
            where role <> 'wallet' and floor(floor(extract(epoch from at)) / ${step}::int) > floor(${now}::bigint / ${step}::int) - 300
            group by grouping sets ((coalesce(dex, 'none')), ())
          `.pipe(Effect.flatMap((found) => sumRows(found.map((row) => ({ ...row, name: row["name"] ?? "all" })))))
          for (const { buys, name, sells, volume } of rows) {
            const stats = lighthouse.markets.find(({ key }) => key === name)?.stats[window]
            assert.deepInclude(stats?.trades, { total: buys + sells, buys, sells }, `${name} ${window}`)
            assert.strictEqual(stats?.volumeUsd.total, quotient(volume, DOLLAR), `${name} ${window}`)
          }
          assert.isAtLeast(rows.length, 3)
        }

        // Every token, in windows that begin with a bucket.
        for (const [i, window] of windowNames.entries()) {
          const from = windowFrom(i, now) - 1
          const rows = yield* sql`
            select mint, (count(*) filter (where role <> 'wallet'))::int as trades,
              (count(distinct wallet) filter (where role <> 'pool'))::int as traders,
              coalesce(sum(volume_usd_nanos) filter (where role <> 'wallet'), 0)::text as volume
            from trades where floor(extract(epoch from at)) > ${from}::bigint group by mint
          `.pipe(Effect.flatMap((found) => tokenRows(found)))
          const answer = yield* call(`/api/v1/market/discovery?stage=new&window=${window}`, {
            key: "cdef".charAt(i)
          })
          const { data } = yield* decode(DiscoveryAnswer)(answer.text)
          assert.lengthOf(data, TOKENS)
          for (const { token, trades: count, traders, volumeUsd } of data) {
            const row = rows.find(({ mint }) => mint === token.address)
            assert.deepStrictEqual(
              [count.value, traders.value, volumeUsd.value],
              [String(row?.trades ?? 0), String(row?.traders ?? 0), dollarsText(row?.volume ?? 0n)],
              `${token.address} ${window}`
            )
          }
        }
      }).pipe(Effect.provide(reading({ books, world: { keys } }))),
    { timeout: 60_000 }
  )
})
