import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Pool } from "../../src/programs/interface/Program.ts"
import { type Mint, SOL, USDC } from "../../src/domain/Address.ts"
import { type Rational, reduce } from "../../src/domain/rational.ts"
import type { Freshness } from "../../src/chain/ChainFeed.ts"
import { PriceBook, type Prices } from "../../src/tokens/PriceBook.ts"
import { USDT } from "../../src/domain/stables.ts"
import { at, constantProduct } from "../quotes/toyChain.ts"
import { feed } from "../support/http.ts"
import { settle } from "./tokenScene.ts"
import { type ToyPools, toyPoolBook } from "./toyPools.ts"

const [TOKEN, OTHER] = [at(10), at(11)]

let pools = 0
/** Reserves in millions of units. */
const pool = (a: Mint, b: Mint, ...[inA, inB]: [bigint, bigint]): Pool => {
  const reserves: [bigint, bigint] = [inA * 1_000_000n, inB * 1_000_000n]
  return { ...constantProduct(at(100 + (pools++ % 100)), a, b, reserves), reserves }
}

const toy = (some: ReadonlyArray<Pool>, loaded: ReadonlyArray<Mint> = [TOKEN, OTHER, USDC]): ToyPools => ({
  pools: some,
  loaded: new Set(loaded),
  warmed: new Set()
})

const live: Freshness = { slot: 7, heardAtMs: 1000, state: "live" }

const pricesAt = (book: ToyPools, use: (prices: Prices) => void, freshness: Freshness = live, nowMs = 1000) =>
  PriceBook.use(({ at }) => Effect.sync(() => use(at(nowMs)))).pipe(
    Effect.provide(PriceBook.layer.pipe(Layer.provide([toyPoolBook(book), feed(() => freshness)])))
  )

const ratio = (value: Rational | null | undefined): string | null => {
  if (value === null || value === undefined) {
    return null
  }
  const { denominator, numerator } = reduce(value)
  return `${numerator}/${denominator}`
}

const both = (prices: Prices, mint: Mint) => {
  const price = prices.of(mint)
  return price === null ? null : [ratio(price.sol), ratio(price.usd)]
}

// 150 USDC a SOL: 0.15 micro-USDC a lamport.
const money = pool(SOL, USDC, 1_000_000n, 150_000n)

describe("PriceBook", () => {
  it.effect("prices a mint in SOL by its pool, and in dollars through SOL", () =>
    pricesAt(toy([money, pool(TOKEN, SOL, 1000n, 4000n)]), (prices) => {
      assert.deepStrictEqual(both(prices, TOKEN), ["4/1", "3/5"])
    })
  )

  it.effect("prices a mint in dollars by its pool, and in SOL through dollars", () =>
    pricesAt(toy([money, pool(USDC, TOKEN, 3000n, 1000n)]), (prices) => {
      assert.deepStrictEqual(both(prices, TOKEN), ["20/1", "3/1"])
    })
  )

  it.effect("weights pools against SOL and against USDC by their quote side in dollars", () => {
    const inSol = pool(TOKEN, SOL, 1000n, 4000n)
    const richer = pool(TOKEN, USDC, 1000n, 700n)
    const poorer = pool(TOKEN, USDC, 700n, 500n)
    return Effect.andThen(
      pricesAt(toy([money, inSol, richer]), (prices) => assert.strictEqual(both(prices, TOKEN)?.[1], "7/10")),
      pricesAt(toy([money, inSol, poorer]), (prices) => assert.strictEqual(both(prices, TOKEN)?.[1], "3/5"))
    )
  })

  it.effect("does not let a thin pool at another price decide", () =>
    pricesAt(toy([money, pool(TOKEN, SOL, 1000n, 4000n), pool(TOKEN, SOL, 1n, 900n)]), (prices) => {
      assert.strictEqual(both(prices, TOKEN)?.[0], "4/1")
    })
  )

  it.effect("prices SOL in USDC by the same rule, and the dollar as itself", () =>
    pricesAt(toy([money, pool(USDC, SOL, 1n, 900n)]), (prices) => {
      assert.deepStrictEqual(both(prices, SOL), ["1/1", "3/20"])
      assert.deepStrictEqual(both(prices, USDC), ["20/3", "1/1"])
    })
  )

  it.effect("gives null for the other currency while SOL has no price", () =>
    pricesAt(toy([pool(TOKEN, SOL, 1000n, 4000n), pool(OTHER, USDC, 1000n, 2000n)]), (prices) => {
      assert.deepStrictEqual(both(prices, TOKEN), ["4/1", null])
      assert.deepStrictEqual(both(prices, OTHER), [null, "2/1"])
      assert.deepStrictEqual(both(prices, SOL), ["1/1", null])
      assert.deepStrictEqual(both(prices, USDC), [null, "1/1"])
    })
  )

  it.effect("gives null for a mint without a path to SOL or a dollar", () =>
    pricesAt(toy([money, pool(TOKEN, OTHER, 1000n, 4000n)]), (prices) => {
      assert.deepStrictEqual(both(prices, TOKEN), [null, null])
    })
  )

  it.effect("prices a mint that trades against another token, with the path and its least depth", () => {
    const first = pool(TOKEN, OTHER, 100_000n, 400_000n)
    const second = pool(OTHER, SOL, 20_000_000n, 10_000_000n)
    return pricesAt(toy([money, first, second]), (prices) => {
      assert.deepStrictEqual(both(prices, TOKEN), ["2/1", "3/10"])
      const evidence = prices.of(TOKEN)?.evidence
      assert.deepStrictEqual(evidence?.path, [
        { pool: first.address, from: TOKEN, to: OTHER },
        { pool: second.address, from: OTHER, to: SOL }
      ])
      // About 1 % of 400,000,000,000 units at half a lamport and 0.15 micro-dollars.
      assert.approximately(Number(evidence?.depthMicro), 298_514_815, 10)
    })
  })

  it.effect(
    "prices a mint in dollars by a pool against any stable coin, and values a coin that lost its peg by its pools",
    () => {
      const inTether = pool(TOKEN, USDT, 1000n, 2000n)
      return Effect.andThen(
        pricesAt(toy([money, inTether]), (prices) => assert.deepStrictEqual(both(prices, TOKEN), ["40/3", "2/1"])),
        pricesAt(toy([money, inTether, pool(USDT, USDC, 1_000_000n, 500_000n)]), (prices) => {
          assert.deepStrictEqual(both(prices, TOKEN), ["20/3", "1/1"])
          assert.deepStrictEqual(both(prices, USDT), ["10/3", "1/2"])
        })
      )
    }
  )

  it.effect("loads the stable coins and hubs that a price needs, and a partner for a mint without a price", () => {
    const book = toy([money, pool(TOKEN, USDT, 1000n, 2000n), pool(OTHER, at(70), 1000n, 2000n)])
    return PriceBook.use(({ at: pricesNow }) =>
      Effect.gen(function* () {
        book.warmed.clear()
        const prices = pricesNow(1000)
        prices.of(TOKEN)
        prices.of(OTHER)
        yield* settle
        assert.sameMembers(Array.from(book.warmed), [USDT, at(70)])
        book.warmed.clear()
        pricesNow(2000).of(OTHER)
        yield* settle
        assert.deepStrictEqual(Array.from(book.warmed), [])
      })
    ).pipe(Effect.provide(PriceBook.layer.pipe(Layer.provide([toyPoolBook(book), feed(() => live)]))))
  })

  it.effect("prices a bonding curve without purchases", () =>
    pricesAt(toy([money, { ...pool(TOKEN, SOL, 1000n, 4000n), reserves: [1000n, 0n] }]), (prices) => {
      assert.strictEqual(both(prices, TOKEN)?.[0], "4/1")
    })
  )

  it.effect("distinguishes a mint whose pools are not loaded from one without a price", () =>
    pricesAt(toy([money, pool(TOKEN, USDC, 1n, 1n)], [USDC]), (prices) => {
      assert.isNull(both(prices, TOKEN))
    })
  )

  it.effect("follows the pools", () => {
    const book = toy([money, pool(TOKEN, SOL, 1000n, 4000n)])
    return PriceBook.use(({ at }) =>
      Effect.sync(() => {
        assert.strictEqual(both(at(1000), TOKEN)?.[1], "3/5")
        book.pools = [pool(SOL, USDC, 1_000_000n, 300_000n), pool(TOKEN, SOL, 1000n, 4000n)]
        assert.strictEqual(both(at(1000), TOKEN)?.[1], "6/5")
      })
    ).pipe(Effect.provide(PriceBook.layer.pipe(Layer.provide([toyPoolBook(book), feed(() => live)]))))
  })

  it.effect("is stale once the chain has been silent for ten seconds", () =>
    Effect.gen(function* () {
      const book = toy([money])
      yield* pricesAt(book, ({ isStale }) => assert.isFalse(isStale), live, 11_000)
      yield* pricesAt(book, ({ isStale }) => assert.isTrue(isStale), live, 11_001)
      yield* pricesAt(book, ({ isStale }) => assert.isTrue(isStale), { ...live, state: "loading" })
      yield* pricesAt(book, ({ lifetime }) =>
        assert.deepStrictEqual(lifetime, { observedAtMs: 1000, expiresAtMs: 11_000 })
      )
      yield* pricesAt(book, ({ lifetime }) => assert.isNull(lifetime), { ...live, heardAtMs: null })
    })
  )

  it.effect("never expires over a recording", () =>
    pricesAt(
      toy([money]),
      ({ isStale, lifetime }) => {
        assert.isFalse(isStale)
        assert.deepStrictEqual(lifetime, { observedAtMs: 1000, expiresAtMs: null })
      },
      { ...live, state: "recorded" },
      1e9
    )
  )

  it.effect("loads USDC at the start, and with every mint", () => {
    const book = toy([], [])
    return PriceBook.use(({ warm }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(Array.from(book.warmed), [USDC])
        book.warmed.clear()
        yield* warm(TOKEN)
        assert.deepStrictEqual(Array.from(book.warmed), [USDC, TOKEN])
      })
    ).pipe(Effect.provide(PriceBook.layer.pipe(Layer.provide([toyPoolBook(book), feed(() => live)]))))
  })
})
