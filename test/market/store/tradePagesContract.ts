/** The contract of pages of swaps, for every trade store. */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import type { TradesRequest } from "../../../src/market/store/TradesRequest.ts"
import type { StoredBatch } from "../../../src/market/store/StoredBatch.ts"
import { mintOf, MONDAY, trade, walletOf } from "../tape/tape.ts"

const open = (genesis: string) => TradeStore.use((store) => store.open({ genesis, isSandbox: false }))
const append = (...batches: ReadonlyArray<StoredBatch>) => TradeStore.use((store) => store.append(batches))

/** A block of a second after `MONDAY`; its trades are numbered in the order given. */
const swaps = (second: number, given: ReadonlyArray<Parameters<typeof trade>[0]>): StoredBatch => {
  const [slot, timeMs] = [1000 + second, (MONDAY + second) * 1000]
  const trades = given.map((each, index) => trade({ slot, timeMs, index, ...each }))
  return { slot, timeMs, trades, launches: [], afterGap: false }
}

const unfiltered = { side: null, wallet: null, pool: null, minUsdNanos: null, fromMs: null, toMs: null, before: null }

/** The newest swaps of a mint. */
export const ofMint = (mint: number, limit: number, given: Partial<TradesRequest> = {}): TradesRequest => ({
  ...unfiltered,
  mint: mintOf(mint),
  limit,
  ...given
})

/** The contract. Each test has its own chain. */
export const tradePagesContract = <E>(name: string, store: Layer.Layer<TradeStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("pages through the swaps of a mint in pools, newest first", () =>
      Effect.gen(function* () {
        yield* open("swaps of a mint")
        const trades = yield* TradeStore
        const first = swaps(1, [{}, { role: "wallet" }, { mint: mintOf(2) }, {}])
        const second = swaps(2, [{ role: "pool" }, {}])
        yield* append(first, second)
        const places = (given: Partial<TradesRequest>, limit = 10) =>
          Effect.map(trades.swapsOf(ofMint(1, limit, given)), ({ searchedTo, trades }) => {
            assert.isNull(searchedTo)
            return trades.map(({ index, slot }) => `${slot}.${index}`)
          })
        assert.deepStrictEqual(yield* places({}), ["1002.1", "1002.0", "1001.3", "1001.0"])
        assert.deepStrictEqual(yield* places({}, 2), ["1002.1", "1002.0"])
        assert.deepStrictEqual(yield* places({ before: { slot: 1002, index: 0 } }), ["1001.3", "1001.0"])
        assert.deepStrictEqual(yield* places({ fromMs: (MONDAY + 2) * 1000 }), ["1002.1", "1002.0"])
        assert.deepStrictEqual(yield* places({ toMs: (MONDAY + 2) * 1000 }), ["1001.3", "1001.0"])
        const { trades: newest } = yield* trades.swapsOf(ofMint(1, 1))
        assert.deepStrictEqual(newest, second.trades.slice(1))
        assert.deepStrictEqual((yield* trades.swapsOf(ofMint(7, 1))).trades, [])
      })
    )

    it.effect("filters the swaps of a mint by side, wallet, pool and value", () =>
      Effect.gen(function* () {
        yield* open("filtered swaps")
        const trades = yield* TradeStore
        const dollars = [1n, 2n].map((dollar) => dollar * 1_000_000_000n)
        yield* append(
          swaps(1, [
            { side: "sell", volumeUsdNanos: dollars[0] ?? null, pool: mintOf(8) },
            { wallet: walletOf(2), volumeUsdNanos: dollars[1] ?? null, pool: mintOf(9) },
            { volumeUsdNanos: null },
            { volumeUsdNanos: 9_250_000_000_000_000_000n }
          ])
        )
        const found = (given: Partial<TradesRequest>) =>
          Effect.map(trades.swapsOf(ofMint(1, 10, given)), ({ trades }) => trades.map(({ index }) => index))
        assert.deepStrictEqual(yield* found({ side: "sell" }), [0])
        assert.deepStrictEqual(yield* found({ side: "buy" }), [3, 2, 1])
        assert.deepStrictEqual(yield* found({ wallet: walletOf(2) }), [1])
        assert.deepStrictEqual(yield* found({ pool: mintOf(8) }), [0])
        assert.deepStrictEqual(yield* found({ pool: mintOf(7) }), [])
        assert.deepStrictEqual(yield* found({ minUsdNanos: dollars[1] ?? 0n }), [3, 1])
        // Above half of the values that a stored integer has: beyond 2^63 nano-dollars.
        assert.deepStrictEqual(yield* found({ minUsdNanos: 9_300_000_000_000_000_000n }), [])
        assert.deepStrictEqual(yield* found({ minUsdNanos: 9_250_000_000_000_000_000n }), [3])
      })
    )

    it.effect("finds the largest swaps of a mint in pools, one of each span", () =>
      Effect.gen(function* () {
        yield* open("largest swaps")
        const trades = yield* TradeStore
        const largest = (seconds: ReadonlyArray<number>, toSlot = 2000) =>
          Effect.map(
            trades.largestOf({ mint: mintOf(1), startsMs: seconds.map((second) => (MONDAY + second) * 1000), toSlot }),
            (found) => {
              assert.isNull(found.clippedAtMs)
              return found.trades.map(({ index, slot }) => `${slot}.${index}`).toSorted()
            }
          )
        yield* append(
          swaps(1, [{ volumeUsdNanos: 90n }, { volumeUsdNanos: 5n }]),
          swaps(2, [{ volumeUsdNanos: 7n }, { volumeUsdNanos: 8n, role: "wallet" }, { volumeUsdNanos: null }]),
          swaps(3, [{ volumeUsdNanos: 7n }, { volumeUsdNanos: 9n, mint: mintOf(2) }]),
          // Beyond half of the values that a stored integer has.
          swaps(4, [{ volumeUsdNanos: 9_250_000_000_000_000_000n }, { volumeUsdNanos: 9_000_000_000_000_000_000n }]),
          swaps(5, [{ volumeUsdNanos: null }])
        )
        assert.deepStrictEqual(yield* largest([0]), ["1004.0"])
        assert.deepStrictEqual(yield* largest([0, 2, 4, 5]), ["1001.0", "1003.0", "1004.0"])
        assert.deepStrictEqual(yield* largest([2], 1002), ["1002.0"])
        assert.deepStrictEqual(yield* largest([5]), [])
        assert.deepStrictEqual(yield* largest([]), [])
      })
    )
  })
