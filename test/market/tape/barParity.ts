import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import { Candles } from "../../../src/market/memory/Candles.ts"
import { type BarPage, foldBars, walkStored } from "../../../src/market/memory/foldBars.ts"
import { TradeRecord } from "../../../src/market/model/TradeRecord.ts"
import { type Resolution, widthOf } from "../../../src/market/model/resolutions.ts"
import { barsOfTrades } from "../../../src/market/history/barsOfTrades.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import type { StoredBars } from "../../../src/market/model/StoredBars.ts"
import type { StoredBatch } from "../../../src/market/model/StoredBatch.ts"
import { address, seededRandom, makeTape, mintOf, MONDAY } from "./tape.ts"
import { type MarketStorePorts, marketStores } from "../../../src/market/model/MarketStores.ts"
import { printsOfTrades } from "../../../src/testing/MemoryStores.ts"
import { BlockStore } from "../../../src/market/model/BlockStore.ts"

const resolutions = Object.keys(widthOf).filter((name): name is Resolution => name in widthOf)
const FOREVER = MONDAY * 2

const fill = (trades: ReadonlyArray<TapeTrade>) => {
  const candles = new Candles({ bars: 1_000_000 })
  const record = new TradeRecord()
  for (const trade of trades) {
    record.read(trade)
    record.token = 1
    candles.add(record)
  }
  return candles
}

const poolOf = (n: number) => address(5, n)

const denoms = ["usd", "sol"] as const
type Denom = (typeof denoms)[number]

const window = (resolution: Resolution, denom: Denom) => ({ resolution, denom, from: null, to: null, limit: 100_000 })

/** The page of stored buckets. */
const pageOf = (stored: StoredBars, resolution: Resolution, denom: Denom): BarPage =>
  foldBars(walkStored(stored), window(resolution, denom), false)

const series = resolutions.flatMap((resolution) => denoms.map((denom) => ({ resolution, denom })))

/** Wallets of a bar that lies half in memory are not counted. */
const withoutUncounted = (expected: BarPage["bars"], found: BarPage["bars"], cut: number): BarPage["bars"] =>
  expected.map((bar, place) => (found[place]?.traders === null && bar.second < cut ? { ...bar, traders: null } : bar))

/** Blocks with a few trades each. */
const blocksOf = (trades: ReadonlyArray<TapeTrade>): ReadonlyArray<StoredBatch> =>
  Array.from(
    Map.groupBy(trades, ({ slot }) => slot),
    ([slot, of]) => ({ slot, timeMs: of.at(-1)?.timeMs ?? 0, trades: of, launches: [], afterGap: false })
  )

/** Stores the trades a few blocks at a time, and closes candles now and then. */
const store = Effect.fnUntraced(function* (trades: ReadonlyArray<TapeTrade>, seed: number) {
  const { append, closeBars } = yield* BlockStore
  const roll = seededRandom(seed)
  const blocks = blocksOf(trades)
  for (let at = 0; at < blocks.length;) {
    const count = 1 + Math.floor(roll() * 60)
    yield* append(blocks.slice(at, at + count))
    if (roll() < 0.5) {
      yield* closeBars
    }
    at += count
  }
})

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
const paces = [0.4, 25, 900, 9000]

/** Candles of a trade store and candles in memory. Each run has its own chain. */
export const barParity = <E>(layer: Layer.Layer<MarketStorePorts, E>, runs: number) => {
  it.live.prop(
    "from memory, from the database and recomputed from trades agree to the digit, at every resolution",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const stored = yield* marketStores
        yield* stored.blocks.open({ genesis: `parity ${seed}`, isSandbox: false })
        const paceSeconds = paces[seed % paces.length] ?? 1
        const trades = makeTape({ seed, trades: 400, tokens: 1, wallets: 5, paceSeconds }).map((trade, i) => ({
          ...trade,
          pool: poolOf(i % 3),
          role: (["both", "pool", "wallet"] as const)[i % 7 === 0 ? 2 : i % 2] ?? ("both" as const)
        }))
        yield* store(trades, seed)
        for (const denom of denoms) {
          const middle = Math.floor((trades[200]?.timeMs ?? 0) / 1000)
          const prints = { mint: mintOf(0), denom, from: middle, before: middle + 600 * paceSeconds, limit: 100 }
          const ofPool = { ...prints, pool: poolOf(0) }
          assert.deepStrictEqual(yield* stored.candles.prints(prints), printsOfTrades(trades, prints))
          assert.deepStrictEqual(yield* stored.candles.prints(ofPool), printsOfTrades(trades, ofPool))
        }
        const priced = trades.filter(({ role }) => role !== "wallet")
        const candles = fill(priced)
        for (const { denom, resolution } of series) {
          const request = { mint: mintOf(0), resolution, from: null, before: FOREVER, limit: 100_000 }
          const recomputed = pageOf(barsOfTrades(trades, request), resolution, denom)
          const fromStore = pageOf(yield* stored.candles.bars(request), resolution, denom)
          assert.deepStrictEqual(fromStore, recomputed, `stored ${resolution} ${denom}`)
          const ofPool = { ...request, pool: poolOf(1) }
          assert.deepStrictEqual(
            pageOf(yield* stored.candles.bars(ofPool), resolution, denom),
            pageOf(barsOfTrades(trades, ofPool), resolution, denom),
            `pool ${resolution} ${denom}`
          )
          // Memory keeps seconds for seven days only.
          const inMemory = candles.read(1, window(resolution, denom))
          const kept = inMemory.bars[0]?.second ?? 0
          const whole = inMemory.trimmed ? fromStore.bars.filter(({ second }) => second >= kept) : fromStore.bars
          assert.deepStrictEqual(inMemory.bars, whole, `memory ${resolution} ${denom}`)
        }
      }).pipe(Effect.provide(layer)),
    { timeout: 180_000, arbitrary: { runs } }
  )

  it.live.prop(
    "meet without a seam wherever memory begins",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const stored = yield* marketStores
        yield* stored.blocks.open({ genesis: `seam ${seed}`, isSandbox: false })
        const trades = makeTape({ seed, trades: 300, tokens: 1, wallets: 5, paceSeconds: paces[seed % 3] ?? 1 })
        yield* store(trades, seed)
        const cut = Math.floor((trades[seed % trades.length]?.timeMs ?? 0) / 1000)
        const candles = fill(trades.filter(({ timeMs }) => timeMs >= cut * 1000))
        for (const { denom, resolution } of series) {
          const whole = pageOf(
            barsOfTrades(trades, { mint: mintOf(0), resolution, from: null, before: FOREVER, limit: 100_000 }),
            resolution,
            denom
          )
          for (const limit of [3, 1000]) {
            const older = yield* stored.candles.bars({
              mint: mintOf(0),
              resolution,
              from: null,
              before: cut,
              limit: limit + 1
            })
            const page = candles.read(1, { ...window(resolution, denom), limit }, older)
            const expected = withoutUncounted(whole.bars.slice(-limit), page.bars, cut)
            assert.deepStrictEqual(page.bars, expected, `${resolution} ${denom} ${limit}`)
            assert.strictEqual(page.truncated, whole.bars.length > limit)
          }
        }
      }).pipe(Effect.provide(layer)),
    { timeout: 180_000, arbitrary: { runs } }
  )
}
