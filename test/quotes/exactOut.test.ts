import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result, Schema } from "effect"
import { NoRoute, type QuoteRequest, RouteNotSupported } from "../../src/api/schemas/Quote.ts"
import { type Mint, SOL } from "../../src/domain/Address.ts"
import type { Pool } from "../../src/programs/interface/Program.ts"
import { netOfSolFee, grossOfSolFee } from "../../src/quotes/directRoute.ts"
import { exactOutPath } from "../../src/quotes/exactOutPath.ts"
import type { PoolGraph } from "../../src/quotes/pools/PoolGraph.ts"
import { type Priced, QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { engineOver, makeMarket, routerOver, TOKEN } from "../support/market.ts"
import { at, constantProduct } from "./toyChain.ts"

const clock = { slot: 1, epoch: 0, unixTimestamp: 0 }
const exactPool = (n: number, reserves: [bigint, bigint], dex = "orca-whirlpool") =>
  constantProduct(at(n), TOKEN, SOL, reserves, { dex, exactOut: true })
const plainPool = (n: number, reserves: [bigint, bigint], dex = "raydium-cpmm") =>
  constantProduct(at(n), TOKEN, SOL, reserves, { dex })

const buy: QuoteRequest = { inputMint: SOL, outputMint: TOKEN, amount: 1n, slippageBps: 50, swapMode: "exactOut" }
const sell: QuoteRequest = { ...buy, inputMint: TOKEN, outputMint: SOL }

const pricing = (pools: ReadonlyArray<Pool>, over: typeof engineOver | typeof routerOver = engineOver) => {
  const market = makeMarket()
  market.pools = pools
  const runtime = Layer.build(over(market))
  return (requests: ReadonlyArray<QuoteRequest>, next?: (answers: ReadonlyArray<Priced>) => Array<QuoteRequest>) =>
    Effect.scoped(
      Effect.flatMap(runtime, (context) =>
        Effect.flatMap(QuoteEngine, (engine) => engine.quoteAll(requests, next)).pipe(Effect.provide(context))
      )
    )
}

const one = Effect.fnUntraced(function* (pools: ReadonlyArray<Pool>, request: QuoteRequest) {
  const [answer] = yield* pricing(pools)([request])
  return answer ?? assert.fail("no answer")
})

const refusalOf = (answer: Priced) => (Result.isFailure(answer) ? answer.failure : assert.fail("it was priced"))
const quoteOf = (answer: Priced | undefined) =>
  answer !== undefined && Result.isSuccess(answer) ? answer.success : assert.fail("it was refused")

const Units = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 900_000n }))

describe("the quote of an exact output", () => {
  for (const [name, request] of [
    ["purchase", buy],
    ["sale", sell]
  ] as const) {
    it.effect.prop(
      `of a ${name} has the least input: as exact input it pays the output, and one unit less does not`,
      [Units],
      ([amount]) =>
        Effect.gen(function* () {
          const price = pricing([exactPool(1, [1_000_000n, 2_000_000n])])
          const [answer] = yield* price([{ ...request, amount }])
          const { inAmount, outAmount, minOutAmount } = quoteOf(answer)
          assert.deepStrictEqual([outAmount, minOutAmount], [amount, amount])
          const given = (units: bigint): QuoteRequest => ({ ...request, swapMode: "exactIn", amount: units })
          const [exact, less] = yield* price([given(inAmount), given(inAmount - 1n)].filter((each) => each.amount > 0n))
          assert.isTrue(quoteOf(exact).outAmount >= amount)
          assert.isTrue(less === undefined || Result.isFailure(less) || less.success.outAmount < amount)
        }),
      { arbitrary: { runs: 150 } }
    )
  }

  it.effect("bounds the input by the slippage, rounded up", () =>
    Effect.gen(function* () {
      const { inAmount, maxInAmount, swapMode } = quoteOf(
        yield* one([exactPool(1, [1_000_000n, 2_000_000n])], { ...buy, amount: 1000n })
      )
      // ceil(2000000·1000/999000), and 50 basis points on top of it.
      assert.deepStrictEqual([inAmount, maxInAmount, swapMode], [2003n, 2014n, "exactOut"])
    })
  )

  it.effect("takes the cheapest pool that has such a swap, and names the venues that have none", () =>
    Effect.gen(function* () {
      const pools = [
        exactPool(1, [1_000_000n, 2_000_000n]),
        exactPool(2, [2_000_000n, 2_000_000n], "raydium-clmm"),
        plainPool(3, [9_000_000n, 2_000_000n])
      ]
      const quote = quoteOf(yield* one(pools, { ...buy, amount: 1000n }))
      assert.deepStrictEqual(quote.venues, ["raydium-clmm"])
      assert.deepStrictEqual(quote.withoutExactOut, ["raydium-cpmm"])
    })
  )

  it.effect("is refused by name when no pool of the pair has such a swap", () =>
    Effect.gen(function* () {
      const oneSided: Pool = { ...exactPool(1, [1_000_000n, 2_000_000n], "pumpswap"), exactOutOnly: "bToA" }
      const pools = [oneSided, plainPool(2, [1_000_000n, 2_000_000n])]
      const refusal = refusalOf(yield* one(pools, { ...sell, amount: 5n }))
      assert.instanceOf(refusal, RouteNotSupported)
      assert.include("detail" in refusal ? refusal.detail : "", "in this direction: pumpswap, raydium-cpmm.")
      assert.deepStrictEqual(quoteOf(yield* one(pools, { ...buy, amount: 5n })).venues, ["pumpswap"])
    })
  )

  it.effect("is no route when the pools hold less, and is never clamped", () =>
    Effect.gen(function* () {
      const refusal = refusalOf(yield* one([exactPool(1, [1000n, 2000n])], { ...buy, amount: 1000n }))
      assert.instanceOf(refusal, NoRoute)
    })
  )

  it("adds the fee of a sale so that exactly the wanted lamports are left", () => {
    for (let net = 1n; net < 3000n; net++) {
      for (const feeBps of [0n, 1n, 100n, 333n, 1000n]) {
        const gross = grossOfSolFee(net, feeBps)
        assert.strictEqual(netOfSolFee(gross, feeBps), net)
        assert.isTrue(netOfSolFee(gross - 1n, feeBps) < net)
      }
    }
  })
})

describe("excluded venues", () => {
  const pools = [exactPool(1, [1_000_000n, 2_000_000n]), plainPool(2, [1_000_000n, 9_000_000n])]
  const exactIn: QuoteRequest = { ...sell, swapMode: "exactIn", amount: 1000n }

  for (const over of [engineOver, routerOver]) {
    it.effect("are not quoted", () =>
      Effect.gen(function* () {
        const [all, some, none] = yield* pricing(
          pools,
          over
        )([
          exactIn,
          { ...exactIn, excludeVenues: ["raydium-cpmm"] },
          { ...exactIn, excludeVenues: ["raydium-cpmm"], venues: ["raydium-cpmm"] }
        ])
        assert.include(quoteOf(all).venues, "raydium-cpmm")
        assert.deepStrictEqual(quoteOf(some).venues, ["orca-whirlpool"])
        assert.isTrue(none !== undefined && Result.isFailure(none))
      })
    )
  }
})

const graphOf = (pools: ReadonlyArray<Pool>): PoolGraph => ({
  partnersOf: (mint) =>
    new Set(pools.flatMap(({ mintA, mintB }) => (mintA === mint ? [mintB] : mintB === mint ? [mintA] : []))),
  poolsBetween: (a, b) =>
    pools.filter(({ mintA, mintB }) => (mintA === a && mintB === b) || (mintA === b && mintB === a))
})

/** The least input of any path without a repeated mint, found by trying every path; null when none pays. */
const leastInput = (pools: ReadonlyArray<Pool>, amount: bigint, maxHops: number): bigint | null => {
  const walk = (mint: Mint, needed: bigint, hops: number, seen: ReadonlyArray<Mint>): bigint | null => {
    if (mint === at(1) || hops === maxHops) {
      return mint === at(1) ? needed : null
    }
    return pools.reduce<bigint | null>((least, pool) => {
      const from = pool.mintA === mint ? pool.mintB : pool.mintB === mint ? pool.mintA : null
      const swap =
        from === null || seen.includes(from) ? undefined : pool.swapExactOut?.(pool.mintA === from, needed, clock)
      const input =
        from === null || swap?.ending !== "filled" ? null : walk(from, swap.amountIn, hops + 1, [...seen, from])
      return input !== null && (least === null || input < least) ? input : least
    }, null)
  }
  return walk(at(2), amount, 0, [at(2)])
}

const Reserve = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1_000n, maximum: 1_000_000_000n }))
const MintIndex = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 }))
const Edge = Schema.Struct({ a: MintIndex, b: MintIndex, x: Reserve, y: Reserve, has: Schema.Boolean })
const Market = Schema.Array(Edge).check(Schema.isMinLength(4), Schema.isMaxLength(14))
const Hops = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))

describe("a route of an exact output", () => {
  it.effect.prop(
    "costs the least of all paths up to three hops, and pays the output when its swaps are made with exact inputs",
    [Market, Units, Hops],
    ([edges, amount, maxHops]) =>
      Effect.sync(() => {
        const pools = edges.flatMap(({ a, b, has, x, y }, i) =>
          a === b ? [] : [constantProduct(at(100 + i), at(a), at(b), [x, y], { exactOut: has })]
        )
        const path = exactOutPath(graphOf(pools), { inputMint: at(1), outputMint: at(2), amount, maxHops }, clock)
        const input = path?.[0]?.swap.amountIn ?? null
        assert.strictEqual(input, leastInput(pools, amount, Math.min(maxHops, 3)))
        const paid = path?.reduce(
          (held, { inputMint, pool }) => pool.swap(pool.mintA === inputMint, held, clock).amountOut,
          input ?? 0n
        )
        assert.isTrue(paid === undefined || paid >= amount)
      }),
    { arbitrary: { runs: 500 } }
  )

  it.effect("is priced by the router over several pools", () =>
    Effect.gen(function* () {
      const pools = [
        exactPool(1, [1_000_000n, 2_000_000n]),
        constantProduct(at(2), SOL, at(20), [1_000_000n, 1_000_000n], { dex: "raydium-clmm", exactOut: true })
      ]
      const path = exactOutPath(
        graphOf(pools),
        { inputMint: TOKEN, outputMint: at(20), amount: 1000n, maxHops: 3 },
        clock
      )
      assert.deepStrictEqual(
        path?.map(({ swap }) => [swap.amountIn, swap.amountOut]),
        [
          [502n, 1002n],
          [1002n, 1000n]
        ]
      )
    })
  )
})

describe("several quotes at one state", () => {
  it.effect("include the trades that follow from the first answers", () =>
    Effect.gen(function* () {
      const request: QuoteRequest = { ...sell, swapMode: "exactIn", amount: 1000n }
      const [there, back] = yield* pricing([exactPool(1, [1_000_000n, 2_000_000n])])([request], ([answer]) => [
        { ...request, inputMint: SOL, outputMint: TOKEN, amount: quoteOf(answer).outAmount }
      ])
      assert.strictEqual(quoteOf(back).inAmount, quoteOf(there).outAmount)
      assert.isTrue(quoteOf(back).outAmount < 1000n)
    })
  )
})
