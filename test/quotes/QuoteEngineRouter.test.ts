import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import type { Pool } from "../../src/programs/interface/Program.ts"
import { type Mint, SOL, USDC } from "../../src/domain/Address.ts"
import type { QuoteRequest } from "../../src/api/schemas/Quote.ts"
import type { PoolGraph } from "../../src/quotes/pools/PoolGraph.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { at, constantProduct, ToyChain } from "./toyChain.ts"

const A = at(10)
const B = at(11)
const M = 1_000_000n
const request: QuoteRequest = { inputMint: A, outputMint: B, amount: 50_000n, slippageBps: 100, outputDecimals: 3 }

const pools = [
  constantProduct(at(1), A, SOL, [M, M], { dex: "one", slot: 9 }),
  constantProduct(at(2), SOL, B, [M, M], { dex: "two", slot: 7 })
]

const graphOf = (known: ReadonlyArray<Pool>): PoolGraph => ({
  partnersOf: (mint) =>
    new Set(known.flatMap(({ mintA, mintB }) => (mintA === mint ? [mintB] : mintB === mint ? [mintA] : []))),
  poolsBetween: (a, b) => known.filter(({ mintA, mintB }) => [mintA, mintB].includes(a) && [mintA, mintB].includes(b))
})

interface World {
  readonly loaded?: ReadonlyArray<Mint>
  readonly warmed?: Array<Mint>
  readonly hubs?: string
  readonly unsearched?: ReadonlyArray<Mint>
}

const engineOver = (world: World) => {
  const loaded = world.loaded ?? [A, B, SOL]
  const book = Layer.succeed(
    PoolBook,
    PoolBook.of({
      between: (a, b) => (loaded.includes(a) || loaded.includes(b) ? { pools: [], refused: [] } : null),
      poolsOf: () => pools,
      isLoaded: (mint) => loaded.includes(mint),
      graduationOf: () => null,
      leftOut: () => 0,
      lacking: (mint) => (world.unsearched?.includes(mint) === true ? "not_captured" : null),
      learn: () => undefined,
      held: () => null,
      executedOf: () => [],
      poolAt: () => null,
      graph: graphOf(pools),
      warm: (mint) =>
        Effect.as(
          Effect.sync(() => void world.warmed?.push(mint)),
          { _tag: "Loaded" } as const
        )
    })
  )
  const chain = Object.assign(new ToyChain(), { fresh: { slot: 77, heardAtMs: 0, state: "live" } })
  const settings = ConfigProvider.layer(
    ConfigProvider.fromUnknown(world.hubs === undefined ? {} : { ROUTER_HUBS: world.hubs })
  )
  return QuoteEngine.layerRouter.pipe(Layer.provide([book, chain.layer, settings]))
}

const quote = (asked: QuoteRequest) => QuoteEngine.use((engine) => engine.quote(asked))

const directRefusal = (asked: QuoteRequest) =>
  Effect.map(Effect.flip(quote({ ...asked, maxHops: 1 })), ({ _tag }) => _tag)

describe("QuoteEngine.layerRouter", () => {
  it.effect("joins two mints that share no pool", () =>
    Effect.gen(function* () {
      const answer = yield* quote(request)
      assert.strictEqual(answer.engine, "svc_router")
      assert.deepStrictEqual(
        answer.route.map(({ dex, amountIn, amountOut }) => [dex, amountIn, amountOut]),
        [
          ["one", 50_000n, 47_619n],
          ["two", 47_619n, 45_454n]
        ]
      )
      assert.deepStrictEqual(answer.venues, ["one", "two"])
      assert.strictEqual(answer.outAmount, 45_454n)
      assert.strictEqual(answer.minOutAmount, 44_999n)
      assert.strictEqual(answer.outUiAmount, 45.454)
      assert.strictEqual(answer.stateSlot, 7)
      assert.isUndefined(answer.feeBasis)
    }).pipe(Effect.provide(engineOver({})))
  )

  it.effect("takes no fee of its own, even when one leg is SOL", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...request, outputMint: SOL })
      assert.strictEqual(answer.outAmount, 47_619n)
    }).pipe(Effect.provide(engineOver({})))
  )

  it.effect("accepts what the native engine refuses: directOnly=false", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...request, directOnly: false })
      assert.strictEqual(answer.route.length, 2)
    }).pipe(Effect.provide(engineOver({})))
  )

  it.effect("fails with NoRoute when the hops do not reach", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(quote({ ...request, maxHops: 1 })))._tag, "NoRoute")
      assert.strictEqual((yield* Effect.flip(quote({ ...request, directOnly: true })))._tag, "NoRoute")
    }).pipe(Effect.provide(engineOver({})))
  )

  it.effect("does not claim that there is no route while pools of an end could not be searched", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* quote(request)).route.length, 2)
      const refusal = yield* Effect.flip(quote({ ...request, maxHops: 1 }))
      assert.deepInclude(refusal, { _tag: "PoolsNotSearched", mint: B })
    }).pipe(Effect.provide(engineOver({ unsearched: [B, SOL] })))
  )

  it.effect("looks at the hub's pools only when the other end has none", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* directRefusal(request), "NoRoute")
      assert.strictEqual(yield* directRefusal({ ...request, inputMint: USDC, outputMint: B }), "PoolsNotSearched")
      assert.strictEqual(yield* directRefusal({ ...request, inputMint: USDC, outputMint: SOL }), "PoolsNotSearched")
    }).pipe(Effect.provide(engineOver({ loaded: [A, B, SOL, USDC], unsearched: [B, SOL, USDC], hubs: `${B},${USDC}` })))
  )

  it.effect("is cold until both ends are loaded, and loads the missing one", () => {
    const warmed: Array<Mint> = []
    return Effect.gen(function* () {
      const refusal = yield* Effect.flip(quote(request))
      assert.deepInclude(refusal, { _tag: "StateCold", mint: B })
      assert.include(warmed, B)
    }).pipe(Effect.provide(engineOver({ loaded: [A, SOL], warmed })))
  })

  it.effect("keeps its hubs loaded: USDC, or the configured ones", () => {
    const usual: Array<Mint> = []
    const told: Array<Mint> = []
    return Effect.gen(function* () {
      yield* Effect.scoped(Layer.build(engineOver({ warmed: usual })))
      yield* Effect.scoped(Layer.build(engineOver({ warmed: told, hubs: `${A},${B}` })))
      assert.deepStrictEqual(usual, [USDC])
      assert.deepStrictEqual(told, [A, B])
    })
  })
})
