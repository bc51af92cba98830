import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Mint } from "../../../src/domain/Address.ts"
import { makeBlockPricing } from "../../../src/market/tape/priceBlocks.ts"
import type { PriceBook, UnitPrice } from "../../../src/tokens/PriceBook.ts"
import { leg } from "./decoded.ts"
import { mintOf } from "./tape.ts"

const [TOKEN, HUB] = [mintOf(1), mintOf(9)]
const NOW = 1_791_158_400_000

const priceOf = (micro: bigint, depthMicro: bigint): UnitPrice => ({
  sol: null,
  usd: { numerator: micro, denominator: 1n },
  evidence: { path: [], depthMicro }
})

const bookOf = (known: ReadonlyMap<Mint, UnitPrice>, isStale = false): PriceBook["Service"] => ({
  at: () => ({
    of: (mint) => known.get(mint) ?? null,
    lifetime: { observedAtMs: NOW, expiresAtMs: null },
    isStale,
    silentMs: 0,
    clock: { slot: 1, epoch: 0, unixTimestamp: 0 }
  }),
  warm: () => Effect.void
})

const trade = leg({
  token: { mint: TOKEN, amount: 1000n, decimals: 6 },
  quote: { mint: HUB, amount: 50n, decimals: 6 }
})

const volumeAt = (timeMs: number, known: ReadonlyMap<Mint, UnitPrice>, isStale = false) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(NOW)
    const { trades } = yield* makeBlockPricing(bookOf(known, isStale)).price({
      slot: 1,
      timeMs,
      transactions: [{ index: 0, legs: [trade], moves: [], nets: [], unresolved: 0 } as never],
      launches: null,
      afterGap: false
    })
    return trades.map(({ volumeUsdNanos }) => volumeUsdNanos)
  })

const both = new Map([
  [TOKEN, priceOf(7n, 100n)],
  [HUB, priceOf(3n, 5000n)]
])

describe("the pricing of blocks", () => {
  it.effect("values a trade of two tokens by the one whose price has the greater depth", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* volumeAt(NOW - 5000, both), [150_000n])
      assert.deepStrictEqual(yield* volumeAt(NOW, new Map([[TOKEN, priceOf(7n, 100n)]])), [7_000_000n])
    })
  )

  it.effect("leaves it without a value when the block is older than the prices, or they are stale", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* volumeAt(NOW - 5001, both), [null])
      assert.deepStrictEqual(yield* volumeAt(NOW, both, true), [null])
      assert.deepStrictEqual(yield* volumeAt(NOW, new Map()), [null])
    })
  )
})
