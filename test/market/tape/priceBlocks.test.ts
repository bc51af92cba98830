import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import type { Leg } from "../../../src/api/schemas/Trade.ts"
import { makeBlockPricing } from "../../../src/market/tape/priceBlocks.ts"
import { TRADED_MS } from "../../../src/market/model/SolPrice.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { MOST_MONEY_SWAPS } from "../../../src/market/model/SwapLog.ts"
import { TokenPrices } from "../../../src/market/model/TokenPrices.ts"
import type { PriceBook } from "../../../src/tokens/PriceBook.ts"
import { leg, netOf, transactionOf } from "./decoded.ts"
import { mintOf, seededRandom } from "./tape.ts"

const [TOKEN, HUB] = [mintOf(1), mintOf(9)]
const NOW = 1_791_158_400_000

/** Pools with any price at any time: no recorded price comes from them. */
const book: PriceBook["Service"] = {
  at: (nowMs) => ({
    of: () => ({ sol: null, usd: { numerator: BigInt(nowMs) + 1n, denominator: 1n }, evidence: null }) as never,
    lifetime: null,
    isStale: false,
    silentMs: 0,
    clock: { slot: 1, epoch: 0, unixTimestamp: 0 }
  }),
  warm: () => Effect.void
}

/** A swap of these units for lamports, for micro-dollars or for units of another token. */
const swap = (mint: Mint, units: bigint, quote: Mint, paid: bigint): Leg =>
  leg({
    token: { mint, amount: units, decimals: 6 },
    quote: { mint: quote, amount: paid, decimals: quote === SOL ? 9 : 6 }
  })

const ofTwo = swap(TOKEN, 1000n, HUB, 50n)

/**
 * The trades of a block with these swaps, one in each transaction. With `isRouted`, the net trades of their wallet too.
 */
const blockOf = (slot: number, timeMs: number, swaps: ReadonlyArray<Leg>, isRouted = false) => ({
  slot,
  timeMs,
  transactions: swaps.map((each, index) => {
    const placed = { ...each, slot, indexInBlock: index }
    return transactionOf({ index, legs: [placed], nets: isRouted ? [netOf(placed, [0])] : [] })
  }),
  launches: null,
  afterGap: false
})

const valuesOf = (trades: ReadonlyArray<TapeTrade>) =>
  trades.flatMap(({ otherToken, priceUsd, volumeUsdNanos }) =>
    otherToken === undefined ? [] : [[volumeUsdNanos, priceUsd]]
  )

/** Value and price of the swap between two tokens, after the other swaps of the same block. */
const valueAfter = (...swaps: ReadonlyArray<Leg>) =>
  Effect.map(makeBlockPricing(book).price(blockOf(1, NOW, [...swaps, ofTwo])), ({ trades }) => valuesOf(trades)[0])

/** A swap for `n` times ten dollars. */
const dollarsAt = (number: number) => swap(HUB, 10_000_000n, USDC, BigInt(number) * 10_000_000n)

describe("the pricing of blocks", () => {
  it.effect("values a swap between two tokens by the token that traded for more dollars, as recorded", () =>
    Effect.gen(function* () {
      // One at three dollars, with ten of them traded; one at seven, with eleven traded.
      const hub = swap(HUB, 10_000_000n, USDC, 30_000_000n)
      const token = swap(TOKEN, 11_000_000n, USDC, 77_000_000n)
      assert.deepStrictEqual(yield* valueAfter(hub), [150_000n, 0.15])
      // A price that only the token itself gives does not price the token.
      assert.deepStrictEqual(yield* valueAfter(token), [7_000_000n, null])
      assert.deepStrictEqual(yield* valueAfter(hub, token), [7_000_000n, null])
      assert.deepStrictEqual(yield* valueAfter(hub, token, hub, hub), [150_000n, 0.15])
      assert.deepStrictEqual(yield* valueAfter(), [null, null])
    })
  )

  it.effect("values it in lamports at the SOL price of its block", () =>
    Effect.gen(function* () {
      const hub = swap(HUB, 10_000_000n, SOL, 200_000_000n)
      const sol = swap(SOL, 1_000_000_000n, USDC, 150_000_000n)
      assert.deepStrictEqual(yield* valueAfter(hub), [null, null])
      assert.deepStrictEqual(yield* valueAfter(hub, sol), [150_000n, 0.15])
    })
  )

  it.effect("leaves it without a value when there are only older swaps, or swaps of less than ten dollars", () =>
    Effect.gen(function* () {
      const [little, more] = [swap(HUB, 3_333_333n, USDC, 9_999_999n), swap(HUB, 10_000_000n, USDC, 30_000_000n)]
      assert.deepStrictEqual(yield* valueAfter(little), [null, null])
      const pricing = makeBlockPricing(book)
      yield* pricing.price(blockOf(1, NOW, [more]))
      const at = (slot: number, timeMs: number) =>
        Effect.map(pricing.price(blockOf(slot, timeMs, [ofTwo])), ({ trades }) => valuesOf(trades)[0]?.[0])
      assert.deepStrictEqual(yield* at(2, NOW + TRADED_MS), 150_000n)
      assert.deepStrictEqual(yield* at(3, NOW + TRADED_MS + 1), null)
    })
  )

  it.effect("takes the median of the newest swaps, in whatever order they arrive", () =>
    Effect.gen(function* () {
      const numbers = Array.from({ length: MOST_MONEY_SWAPS + 1 }, (_, i) => i + 1)
      const priced = yield* makeBlockPricing(book).price(blockOf(1, NOW, numbers.map(dollarsAt)))
      const valueOf = (recalled: ReadonlyArray<TapeTrade>) => {
        const pricing = makeBlockPricing(book)
        pricing.recall(recalled)
        pricing.recall(recalled)
        return Effect.map(pricing.price(blockOf(2, NOW, [ofTwo])), ({ trades }) => valuesOf(trades)[0]?.[0])
      }
      // The median of 2 to 17 by the dollars of each, which are as many.
      const expected = 600_000n
      assert.deepStrictEqual(yield* valueOf(priced.trades), expected)
      assert.deepStrictEqual(yield* valueOf(priced.trades.toReversed()), expected)
    })
  )

  it.effect("looks up the earlier swaps of tokens when they are needed, and values stored swaps again", () =>
    Effect.gen(function* () {
      const [before, after] = [swap(HUB, 10_000_000n, USDC, 30_000_000n), swap(HUB, 10_000_000n, USDC, 90_000_000n)]
      const { trades } = yield* makeBlockPricing(book).price(blockOf(1, NOW, [before]))
      const asked: Array<ReadonlyArray<Mint>> = []
      const pricing = makeBlockPricing(book, (mints) =>
        Effect.sync(() => {
          asked.push(mints)
          return trades
        })
      )
      const first = yield* pricing.price(blockOf(2, NOW, [ofTwo], true))
      // The swap of the pool, and the purchase and the sale of its wallet.
      assert.deepStrictEqual(valuesOf(first.trades), [
        [150_000n, 0.15],
        [150_000n, 0.15],
        [150_000n, 3]
      ])
      assert.deepStrictEqual(asked, [[HUB, TOKEN]])
      assert.deepStrictEqual(yield* pricing.changed(first.trades, NOW), [])
      yield* pricing.price(blockOf(1, NOW, [after, after]))
      const again = yield* pricing.changed(first.trades, NOW)
      assert.deepStrictEqual(valuesOf(again), [
        [450_000n, 0.45],
        [450_000n, 0.45],
        [450_000n, 9]
      ])
      assert.deepStrictEqual(pricing.revalued(first.trades), again)
      assert.deepStrictEqual(pricing.revalued(again), [])
      assert.lengthOf(asked, 1)
    })
  )

  it.effect("asks the pools for the price of SOL only when no recorded swap gives it", () =>
    Effect.gen(function* () {
      const asked: Array<Mint> = []
      const usd = { numerator: 150n, denominator: 1000n }
      const lifetime = { observedAtMs: NOW, expiresAtMs: null }
      const of = (mint: Mint) => {
        asked.push(mint)
        return { sol: null, usd }
      }
      const pricing = makeBlockPricing({ ...book, at: (nowMs) => ({ ...book.at(nowMs), lifetime, of }) })
      const valued = (slot: number, ...swaps: ReadonlyArray<Leg>) =>
        Effect.map(pricing.price(blockOf(slot, NOW, swaps)), ({ trades }) => trades.at(-1)?.volumeUsdNanos)
      const bought = swap(TOKEN, 1000n, SOL, 1_000_000_000n)
      assert.strictEqual(yield* valued(1, bought), 150_000_000_000n)
      assert.deepStrictEqual(asked, [SOL])
      assert.strictEqual(yield* valued(2, swap(SOL, 1_000_000_000n, USDC, 140_000_000n), bought), 140_000_000_000n)
      assert.strictEqual(yield* valued(3, bought), 140_000_000_000n)
      assert.deepStrictEqual(asked, [SOL])
    })
  )

  /** The trades of blocks with random swaps. Each reading of the clock moves it by so many milliseconds. */
  const pricedAtPace = Effect.fnUntraced(function* (seed: number, paceMs: number) {
    let clockMs = 0
    const monotonicTimeNanosUnsafe = () => BigInt(1e6 * (clockMs += paceMs))
    const clock: Clock.Clock = Object.assign(Object.create(yield* Clock.Clock), { monotonicTimeNanosUnsafe })
    const roll = seededRandom(seed)
    const below = (n: number) => Math.floor(roll() * n)
    const mints = [SOL, USDC, TOKEN, HUB, mintOf(2)] as const
    const pricing = makeBlockPricing(book)
    return yield* Effect.forEach(Array.from({ length: 30 }).keys(), (block) => {
      const swaps = Array.from({ length: below(20) }, () => {
        const [token, quote] = [mints[[0, 2, 3, 4][below(4)] ?? 0] ?? SOL, mints[1 + below(4)] ?? USDC]
        return token === quote
          ? ofTwo
          : swap(token, BigInt(1 + below(20_000_000)), quote, BigInt(1 + below(50_000_000)))
      })
      // Many blocks come late, and some minutes after the others.
      const timeMs = NOW + below(2 + block) * TRADED_MS
      return Effect.map(pricing.price(blockOf(block + 1, timeMs, swaps)), ({ trades }) => trades)
    }).pipe(Effect.provideService(Clock.Clock, clock))
  })

  it.effect("gives the same prices in many turns as in one", () =>
    Effect.gen(function* () {
      let valued = 0
      for (let seed = 1; seed <= 8; seed++) {
        const whole = yield* pricedAtPace(seed, 0)
        assert.deepStrictEqual(yield* pricedAtPace(seed, 1), whole)
        valued += valuesOf(whole.flat()).filter(([volume]) => volume !== null).length
      }
      assert.isAbove(valued, 40)
    })
  )

  it("counts the swaps of a block the same in parts as at once, also for the tokens that it would have forgotten", () => {
    const [whole, parts] = [new TokenPrices(), new TokenPrices()]
    const observe = (slot: number, timeMs: number, swaps: ReadonlyArray<Leg>) => {
      const placed = swaps.map((each, index) => ({ ...each, slot, indexInBlock: index }))
      whole.observe(placed, timeMs)
      whole.forget()
      placed.forEach((each) => parts.observe([each], timeMs))
      parts.forget()
    }
    const pricesOf = (prices: TokenPrices, timeMs: number) =>
      [HUB, TOKEN].map((mint) => prices.betterOf(mint, mintOf(2), { timeMs, solNanos: null }))
    const later = NOW + 3 * TRADED_MS
    observe(1, NOW, [dollarsAt(3), swap(TOKEN, 10_000_000n, USDC, 70_000_000n)])
    observe(2, later, [swap(mintOf(3), 1n, USDC, 10n), dollarsAt(5)])
    // A late block sees the older swap of the token that was swapped again. The other token is forgotten.
    assert.strictEqual(pricesOf(parts, NOW)[0]?.price.numerator, 30_000_000n)
    assert.isNull(pricesOf(parts, NOW)[1] ?? null)
    for (const timeMs of [NOW, later]) {
      assert.deepStrictEqual(pricesOf(parts, timeMs), pricesOf(whole, timeMs))
    }
  })
})
