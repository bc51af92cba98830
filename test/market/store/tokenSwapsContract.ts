import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import type { TapeTrade } from "../../../src/market/tape/TapeTrade.ts"
import { mintOf, MONDAY } from "../tape/tape.ts"
import { storedBlock } from "./tradeStoreContract.ts"

/** Seconds and places of trades. */
const places = (found: ReadonlyArray<TapeTrade>) => found.map(({ index, slot }) => [slot - 1000, index])

/** The contract of every trade store about the swaps that price tokens. */
export const tokenSwapsContract = <E>(name: string, store: Layer.Layer<TradeStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("finds the swaps that price tokens, and the swaps of two tokens that they price", () =>
      Effect.gen(function* () {
        const trades = yield* TradeStore
        yield* trades.open({ genesis: "tokens", isSandbox: false })
        const [a, b, c] = [mintOf(1), mintOf(2), mintOf(3)]
        const otherToken = { mint: b, amount: MAX_U64, decimals: null }
        const dollars = { lamports: null, volumeUsdNanos: 1_000_000n }
        const ofTwo = { ...dollars, mint: a, otherToken }
        const [first, second, third, fourth] = [
          storedBlock(1, [{ mint: a }, { mint: b, ...dollars }, { mint: c, role: "wallet" }]),
          storedBlock(200, [{ mint: a }, ofTwo, { mint: b, lamports: null, volumeUsdNanos: null }]),
          storedBlock(300, [
            { mint: a, role: "both" },
            { ...ofTwo, role: "wallet", mint: c }
          ]),
          storedBlock(400, [{ mint: b }, { ...ofTwo, mint: c, otherToken: { ...otherToken, mint: a, decimals: 9 } }])
        ]
        const blocks = [first, second, third, fourth]
        yield* trades.append(blocks)
        const kept = yield* Stream.runCollect(trades.since({ second: MONDAY, after: 0, most: 100 }))
        assert.deepStrictEqual(Array.from(kept), blocks)
        assert.deepStrictEqual(places(yield* trades.moneySwaps(1300, 600_000, 2)), [
          [1, 1],
          [200, 0],
          [300, 0]
        ])
        assert.deepStrictEqual(places(yield* trades.moneySwaps(1300, 100_000, 9)), [
          [200, 0],
          [300, 0]
        ])
        const of = (fromSecond: number, most: number, ...asked: ReadonlyArray<readonly [typeof a, number]>) =>
          Effect.map(
            trades.moneySwapsOf({
              places: asked.map(([mint, slot]) => ({ mint, slot: 1000 + slot })),
              fromMs: (MONDAY + fromSecond) * 1000,
              most
            }),
            places
          )
        assert.deepStrictEqual(yield* of(0, 1, [a, 299], [a, 300], [b, 399], [c, 999], [mintOf(77), 999]), [
          [1, 1],
          [200, 0],
          [300, 0]
        ])
        assert.deepStrictEqual(yield* of(2, 9, [a, 400], [b, 399]), [
          [200, 0],
          [300, 0]
        ])
        const after = (slot: number, toSecond: number, most: number, ...mints: ReadonlyArray<typeof a>) =>
          Effect.map(
            trades.tokenSwapsAfter({
              after: 1000 + slot,
              fromMs: MONDAY * 1000,
              toMs: (MONDAY + toSecond) * 1000,
              mints,
              most
            }),
            places
          )
        assert.deepStrictEqual(yield* after(1, 999, 3, a), [
          [200, 1],
          [400, 1]
        ])
        assert.deepStrictEqual(yield* after(1, 399, 3, a), [[200, 1]])
        assert.deepStrictEqual(yield* after(200, 999, 1, b), [[300, 1]])
        assert.deepStrictEqual(yield* after(1, 999, 2, a, b), [
          [200, 1],
          [300, 1]
        ])
        assert.deepStrictEqual(yield* after(1, 999, 3), [])
        // More tokens than one statement names.
        const many = Array.from({ length: 2500 }, (_, n) => mintOf(1000 + n))
        assert.deepStrictEqual(yield* after(1, 999, 2, a, ...many, b), [
          [200, 1],
          [300, 1]
        ])
        const asked = [a, ...many, b].map((mint): [typeof a, number] => [mint, mint === a ? 400 : 399])
        assert.deepStrictEqual(yield* of(2, 9, ...asked), [
          [200, 0],
          [300, 0]
        ])
      })
    )
  })
