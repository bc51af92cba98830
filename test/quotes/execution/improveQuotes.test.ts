/** Which routes are executed, over pools made by hand and an executor that computes x·y = k. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { NoRoute, type QuoteRequest } from "../../../src/api/schemas/Quote.ts"
import type { Mint } from "../../../src/domain/Address.ts"
import { closedAmms } from "../../../src/programs/executed/closedAmms.ts"
import type { Pool } from "../../../src/programs/interface/Program.ts"
import type { Found } from "../../../src/quotes/ExecutedQuotes.ts"
import type { ExecutionRefused } from "../../../src/quotes/execution/Executor.ts"
import type { SwapOrder, SwapResult } from "../../../src/quotes/execution/executeSwap.ts"
import { improveQuotes } from "../../../src/quotes/execution/improveQuotes.ts"
import { CurveBook } from "../../../src/quotes/execution/PoolCurves.ts"
import { LearnedPools } from "../../../src/quotes/pools/LearnedPools.ts"
import type { PoolBook } from "../../../src/quotes/pools/PoolBook.ts"
import type { HeldPool } from "../../../src/quotes/pools/PoolCache.ts"
import { pricedRoute } from "../../../src/quotes/routedQuote.ts"
import type { Moment } from "../../../src/quotes/spotQuote.ts"
import { at, constantProduct } from "../toyChain.ts"

const [IN, HUB, OUT] = [at(2), at(3), at(4)] as const
const program = closedAmms[0] ?? assert.fail("no program")
const clock = { slot: 9, epoch: 0, unixTimestamp: 0 }
const moment: Moment = {
  nowMs: 0,
  clock,
  freshness: { slot: 9, heardAtMs: 0, state: "live" },
  proofs: { provenAtSlot: () => null }
}

const held = (n: number, mints: readonly [Mint, Mint]): HeldPool => ({
  program,
  address: at(n),
  foundBy: undefined,
  mints,
  version: 1,
  accounts: new Map(),
  missing: null
})

const trades = (a: Mint, b: Mint) => (mints: readonly [Mint, Mint]) => mints.includes(a) && mints.includes(b)
const refusing = () => Effect.succeed<SwapResult>({ error: "NotMyCaller", units: 1 })

/** A book with these computed pools and these executed ones. */
const bookOf = (native: ReadonlyArray<Pool>, executed: ReadonlyArray<HeldPool>): PoolBook["Service"] => {
  const pairs = [...native.map(({ mintA, mintB }) => [mintA, mintB] as const), ...executed.map(({ mints }) => mints)]
  return {
    between: () => null,
    poolsOf: () => [],
    isLoaded: () => true,
    leftOut: () => 0,
    lacking: () => null,
    graduationOf: () => null,
    learn: () => undefined,
    poolAt: () => null,
    held: () => null,
    executedOf: (mint) => executed.filter(({ mints }) => mints.includes(mint)),
    graph: {
      partnersOf: (mint) => pairs.flatMap(([a, b]) => (a === mint ? b : b === mint ? a : [])),
      poolsBetween: (a, b) => native.filter(({ mintA, mintB }) => trades(a, b)([mintA, mintB]))
    },
    warm: () => Effect.succeed({ _tag: "Loaded" })
  }
}

interface Scene {
  readonly native: ReadonlyArray<Pool>
  readonly executed: ReadonlyArray<readonly [HeldPool, readonly [bigint, bigint]]>
  readonly result?: (order: SwapOrder) => Effect.Effect<SwapResult, ExecutionRefused>
}

/** The finder over the scene, and how many single swaps were executed, samples apart. */
const finder = ({ executed, native, result }: Scene) => {
  const reserves = new Map(executed.map(([pool, both]) => [pool.address, both]))
  const counts = { single: 0 }
  const executor = {
    deploymentOf: () => "one",
    execute: (pool: HeldPool, orders: ReadonlyArray<SwapOrder>) =>
      Effect.forEach(orders, (order) => {
        counts.single += orders.length === 1 ? 1 : 0
        if (result !== undefined && orders.length === 1) {
          return result(order)
        }
        const [a, b] = reserves.get(pool.address) ?? [1n, 1n]
        const [from, to] = order.aToB ? [a, b] : [b, a]
        const amountOut = (to * order.amount) / (from + order.amount)
        return Effect.succeed<SwapResult>({ amountIn: order.amount, amountOut, units: 1234 })
      })
  }
  const curves = new CurveBook(executor, new LearnedPools())
  const book = bookOf(
    native,
    executed.map(([pool]) => pool)
  )
  const improve = improveQuotes(executor, curves, (sample) => void Effect.runSync(sample))
  return {
    counts,
    improve: (request: QuoteRequest, found: Found) =>
      improve(book, request, found, moment, { feeBps: 0n, isDirect: false }),
    computed: (request: QuoteRequest): Found =>
      pricedRoute(book.graph, request, clock) ?? new NoRoute({ inputMint: IN, outputMint: OUT })
  }
}

const request: QuoteRequest = { inputMint: IN, outputMint: OUT, amount: 1_000_000n, slippageBps: 50 }
const must = <A>(value: A | null): A => value ?? assert.fail("nothing is executed")
const BIG = 10n ** 12n

describe("routes over executed venues", () => {
  it("are not looked for where no executed pool is near", () => {
    const scene = finder({ native: [constantProduct(at(10), IN, OUT, [BIG, BIG])], executed: [] })
    assert.isNull(scene.improve(request, scene.computed(request)))
    const exactOut = { ...request, swapMode: "exactOut" as const }
    const near = finder({ native: [], executed: [[held(20, [IN, OUT]), [BIG, BIG]]] })
    assert.isNull(near.improve(exactOut, near.computed(exactOut)))
  })

  it.effect("win only where they pay more, and then say what was executed", () =>
    Effect.gen(function* () {
      const native = [constantProduct(at(10), IN, OUT, [BIG, BIG])]
      const worse = finder({ native, executed: [[held(20, [IN, OUT]), [BIG, BIG / 2n]]] })
      const computed = worse.computed(request)
      assert.strictEqual(yield* must(worse.improve(request, computed)), computed)
      assert.strictEqual(worse.counts.single, 0, "its curve already says that it cannot win")
      const better = finder({ native, executed: [[held(20, [IN, OUT]), [BIG, 2n * BIG]]] })
      const route = yield* must(better.improve(request, computed))
      assert.isFalse("_tag" in route)
      if (!("_tag" in route)) {
        assert.strictEqual(route.engine, "executed")
        assert.strictEqual(route.outAmount, (2n * BIG * 1_000_000n) / (BIG + 1_000_000n))
        assert.deepInclude(route.route[0], { computeUnits: 1234, executedAtSlot: 9, pool: at(20) })
      }
    })
  )

  it.effect("join computed hops, each with what the one before it paid", () =>
    Effect.gen(function* () {
      const native = [constantProduct(at(10), IN, HUB, [BIG, BIG]), constantProduct(at(11), HUB, OUT, [BIG, BIG / 10n])]
      const scene = finder({ native, executed: [[held(20, [HUB, OUT]), [BIG, 2n * BIG]]] })
      const computed = scene.computed(request)
      // The first request has the curve sampled.
      scene.improve(request, computed)
      const route = yield* must(scene.improve(request, computed))
      if ("_tag" in route) {
        return assert.fail(route._tag)
      }
      const hub = (BIG * 1_000_000n) / (BIG + 1_000_000n)
      assert.deepStrictEqual(
        route.route.map(({ pool }) => pool),
        [at(10), at(20)]
      )
      assert.strictEqual(route.route[1]?.amountIn, hub)
      assert.strictEqual(route.outAmount, (2n * BIG * hub) / (BIG + hub))
      assert.isUndefined(route.route[0]?.computeUnits)
    })
  )

  it.effect("leave the computed answer where the program refuses, and name the pool where there is none", () =>
    Effect.gen(function* () {
      const pool = [held(20, [IN, OUT]), [BIG, 2n * BIG]] as const
      const beside = finder({
        native: [constantProduct(at(10), IN, OUT, [BIG, BIG])],
        executed: [pool],
        result: refusing
      })
      const computed = beside.computed(request)
      assert.strictEqual(yield* must(beside.improve(request, computed)), computed)
      const alone = finder({ native: [], executed: [pool], result: refusing })
      const refused = yield* must(alone.improve(request, alone.computed(request)))
      assert.deepInclude(refused, { _tag: "NotExecuted", pool: at(20), retryInMs: null })
      assert.include(JSON.stringify(refused), "NotMyCaller")
    })
  )

  it.effect("are given up after 100 ms where there is another answer, and after a second where there is none", () =>
    Effect.gen(function* () {
      const pool = [held(20, [IN, OUT]), [BIG, 2n * BIG]] as const
      const beside = finder({
        native: [constantProduct(at(10), IN, OUT, [BIG, BIG])],
        executed: [pool],
        result: () => Effect.never
      })
      const computed = beside.computed(request)
      const first = yield* Effect.forkChild(must(beside.improve(request, computed)), { startImmediately: true })
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* Fiber.join(first), computed)
      const alone = finder({ native: [], executed: [pool], result: () => Effect.never })
      const second = yield* Effect.forkChild(must(alone.improve(request, alone.computed(request))), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(second), { _tag: "NotExecuted", retryInMs: 1000 })
    })
  )
})
