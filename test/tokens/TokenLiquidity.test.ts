import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SOL, USDC } from "../../src/domain/Address.ts"
import { constantProduct } from "../quotes/toyChain.ts"
import { COLD, makeTokenWorld, NOTHING, PLAIN, pools, TOKEN } from "../support/tokens.ts"
import { known, missing, partly, withTokens } from "./tokenScene.ts"

describe("TokenReader.liquidityOf", () => {
  it.effect("lists the pools of the token, deepest first, each from the token's side", () =>
    withTokens((tokens) =>
      Effect.gen(function* () {
        const { data } = yield* tokens.liquidityOf(TOKEN, 20)
        const common = {
          baseMint: TOKEN,
          lpBurnedPct: null,
          createdAtMs: null,
          volume24hUsd: missing("usd", "not_captured"),
          stateAgeMs: 0
        }
        assert.deepStrictEqual(data.pools, [
          {
            ...common,
            pool: pools.SOL_POOL,
            dex: "raydium-cpmm",
            quoteMint: SOL,
            baseReserve: 1_000_000_000n,
            quoteReserve: 2_000_000_000n,
            liquidityUsd: "600",
            depth2pct: {
              sellQuoteOut: 20_101_011n,
              sellUsd: "3.015151",
              buyBaseOut: 9_852_456n,
              buyUsd: "2.955736",
              reason: null
            },
            feeBps: 0,
            stateSlot: 75
          },
          {
            ...common,
            pool: pools.USDC_POOL,
            dex: "whirlpool",
            quoteMint: USDC,
            baseReserve: 100_000_000n,
            quoteReserve: 40_000_000n,
            // 40 USDC, and 100 of the token at 0.3 USDC each.
            liquidityUsd: "70",
            depth2pct: {
              sellQuoteOut: null,
              sellUsd: null,
              buyBaseOut: 1_970_489n,
              buyUsd: "0.591146",
              reason: "range_clipped"
            },
            feeBps: 0,
            stateSlot: 74
          },
          {
            ...common,
            pool: pools.ODD_POOL,
            dex: "pumpswap",
            quoteMint: PLAIN,
            baseReserve: 1_000_000n,
            quoteReserve: 1_000_000n,
            liquidityUsd: null,
            depth2pct: {
              sellQuoteOut: 10_049n,
              sellUsd: null,
              buyBaseOut: 9851n,
              buyUsd: "0.002955",
              reason: null
            },
            feeBps: 0,
            stateSlot: 73
          }
        ])
        assert.deepInclude(data.totalLiquidityUsd, partly("670"))
      })
    )
  )

  it.effect("sums all pools, however few are listed", () =>
    withTokens((tokens) =>
      Effect.gen(function* () {
        const { data } = yield* tokens.liquidityOf(TOKEN, 1)
        assert.strictEqual(data.pools.length, 1)
        assert.strictEqual(data.totalLiquidityUsd.value, "670")
      })
    )
  )

  it.effect("is known when every pool states its reserves, and a known zero without pools", () => {
    const world = makeTokenWorld()
    world.pools.pools = world.pools.pools.filter(
      ({ address }) => address !== pools.ODD_POOL && address !== pools.USDC_POOL
    )
    return withTokens(
      (tokens) =>
        Effect.gen(function* () {
          const { data } = yield* tokens.liquidityOf(TOKEN, 20)
          assert.deepStrictEqual(data.totalLiquidityUsd, known("600", "usd"))
          const none = yield* tokens.liquidityOf(PLAIN, 20)
          assert.deepStrictEqual(none.data.totalLiquidityUsd, known("0", "usd"))
          assert.deepStrictEqual(none.data.pools, [])
          assert.deepInclude(none.knowledge, { status: "known", observedAtMs: 1000 })
        }),
      world
    )
  })

  it.effect("values at most a thousand pools, and marks the sum as clipped", () => {
    const world = makeTokenWorld()
    const first = world.pools.pools.find(({ address }) => address === pools.SOL_POOL)
    const many = Array.from({ length: 1001 }, () => first ?? assert.fail("no pool"))
    world.pools.pools = [...many, ...world.pools.pools.filter(({ address }) => address !== pools.SOL_POOL)]
    return withTokens(
      (tokens) =>
        Effect.gen(function* () {
          const { data } = yield* tokens.liquidityOf(TOKEN, 50)
          assert.deepInclude(data.totalLiquidityUsd, {
            value: "600000",
            coverage: { complete: false, reason: "limit_clipped" }
          })
        }),
      world
    )
  })

  it.effect("hides values once the chain has been silent, and states the age of the state", () =>
    withTokens((tokens) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(10_001)
        const { data } = yield* tokens.liquidityOf(TOKEN, 20)
        assert.isTrue(
          data.pools.every(({ liquidityUsd, stateAgeMs }) => liquidityUsd === null && stateAgeMs === 10_001)
        )
        assert.strictEqual(data.totalLiquidityUsd.status, "stale")
      })
    )
  )

  it.effect("does not wait for pools, and queues them for loading", () =>
    withTokens((tokens, { pools }) =>
      Effect.gen(function* () {
        pools.warmed.clear()
        assert.strictEqual((yield* Effect.flip(tokens.liquidityOf(COLD, 20)))._tag, "TokenNotLoaded")
        assert.isTrue(pools.warmed.has(COLD))
        assert.strictEqual((yield* Effect.flip(tokens.liquidityOf(NOTHING, 20)))._tag, "UnknownToken")
      })
    )
  )
})

describe("TokenReader.pricesOf", () => {
  it.effect("gives a row for every mint in order, known or not", () =>
    withTokens((tokens) =>
      Effect.gen(function* () {
        const { data, knowledge } = yield* tokens.pricesOf([NOTHING, TOKEN, COLD, USDC, SOL])
        assert.deepStrictEqual(
          data.map(({ mint, priceSol, priceUsd }) => [mint, priceUsd.value, priceSol.value]),
          [
            [NOTHING, null, null],
            [TOKEN, "0.3", "0.002"],
            [COLD, null, null],
            [USDC, "1", "0.00666666666666667"],
            [SOL, "150", "1"]
          ]
        )
        assert.deepInclude(knowledge, { status: "partial", observedAtMs: 1000 })
      })
    )
  )

  it.effect("is known when every price is, and unavailable when none is", () =>
    withTokens((tokens) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* tokens.pricesOf([TOKEN, SOL])).knowledge.status, "known")
        assert.deepInclude((yield* tokens.pricesOf([NOTHING])).knowledge, { status: "unavailable", observedAtMs: null })
      })
    )
  )

  it.effect("follows the pools", () =>
    withTokens((tokens, world) =>
      Effect.gen(function* () {
        const pool = {
          ...constantProduct(pools.SOL_POOL, TOKEN, SOL, [10n ** 11n, 3n * 10n ** 11n]),
          reserves: [10n ** 9n, 10n ** 10n] as const
        }
        world.pools.pools = [pool, ...world.pools.pools.filter(({ address }) => address !== pools.SOL_POOL)]
        const { data } = yield* tokens.pricesOf([TOKEN])
        assert.strictEqual(data[0]?.priceSol.value, "0.003")
      })
    )
  )
})
