import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { type Mint, SOL, USDC } from "../../src/domain/Address.ts"
import { type QuoteRequest, SpotQuote } from "../../src/api/schemas/Quote.ts"
import { netOfSolFee } from "../../src/quotes/directRoute.ts"
import type { MintPools } from "../../src/quotes/pools/MintPools.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { at, constantProduct, ToyChain } from "./toyChain.ts"
import { describeRefusal } from "../../src/quotes/describeRefusal.ts"

const TOKEN = at(10)
const UNKNOWN = at(11)
const sell: QuoteRequest = { inputMint: TOKEN, outputMint: SOL, amount: 1_000_000n, slippageBps: 50 }
const buy: QuoteRequest = { inputMint: SOL, outputMint: TOKEN, amount: 1_000_000n, slippageBps: 100 }

const deep = constantProduct(at(1), TOKEN, SOL, [9_000_000n, 18_000_000n], { slot: 5, dex: "deep" })
const thin = constantProduct(at(2), TOKEN, SOL, [1_000_000n, 1_000_000n], { slot: 6, dex: "thin" })
const refused = (n: number, reason: "unsupported" | "closed" | "incomplete" | "malformed") => ({
  address: at(n),
  dex: "toy",
  reason,
  detail: `because ${n}`
})

/** A book with TOKEN/SOL that records the mints it was asked to warm. */
const bookOf = (known: MintPools, warmed: Array<string> = [], unsearched: ReadonlyArray<Mint> = []) =>
  Layer.succeed(
    PoolBook,
    PoolBook.of({
      between: (a, b) => (a === TOKEN || b === TOKEN ? known : null),
      poolsOf: () => known.pools,
      isLoaded: (mint) => mint === TOKEN || mint === SOL,
      graduationOf: () => null,
      leftOut: () => 0,
      lacking: (mint) => (unsearched.includes(mint) ? "not_captured" : null),
      learn: () => undefined,
      held: () => null,
      executedOf: () => [],
      poolAt: () => null,
      graph: { partnersOf: () => [], poolsBetween: () => known.pools },
      warm: (mint) =>
        Effect.as(
          Effect.sync(() => void warmed.push(mint)),
          { _tag: "Loaded" } as const
        )
    })
  )

const chain = (fresh: Partial<ToyChain["fresh"]> = {}) =>
  Object.assign(new ToyChain(), { fresh: { slot: 77, heardAtMs: 0, state: "live", ...fresh } })

const engineOver = (book: Layer.Layer<PoolBook>, feed: ToyChain = chain(), settings: Record<string, string> = {}) =>
  QuoteEngine.layerNative.pipe(
    Layer.provide([book, feed.layer, ConfigProvider.layer(ConfigProvider.fromUnknown(settings))])
  )

const quote = (request: QuoteRequest) => QuoteEngine.use((engine) => engine.quote(request))
const refusalOf = (request: QuoteRequest) => Effect.flip(quote(request))
const knows = (...pools: MintPools["pools"]) => bookOf({ pools, refused: [] })

describe("QuoteEngine.layerNative", () => {
  it.effect("quotes a sale from the best pool, net of the SOL fee", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1500)
      const answer = yield* quote({ ...sell, outputDecimals: 9 })
      assert.deepStrictEqual(
        { ...answer, requestId: "", engineTimeMs: -1 },
        {
          inputMint: TOKEN,
          outputMint: SOL,
          inAmount: 1_000_000n,
          outAmount: 1_782_000n,
          minOutAmount: 1_773_090n,
          outUiAmount: 0.001782,
          minOutUiAmount: 0.00177309,
          slippageBps: 50,
          impactMeasurable: true,
          clamped: false,
          route: [
            {
              dex: "deep",
              inputMint: TOKEN,
              outputMint: SOL,
              pool: at(1),
              percent: 100,
              amountIn: 1_000_000n,
              amountOut: 1_800_000n,
              priceImpactPct: 10,
              provenAtSlot: null
            }
          ],
          venues: ["deep"],
          engine: "svc_native_cache",
          priceImpactPct: 10,
          contextSlot: 77,
          engineTimeMs: -1,
          swapUsdValue: null,
          requestId: "",
          quotedAtMs: 1500,
          stateSlot: 5,
          stateAgeMs: 1500,
          feeBasis: "net"
        }
      )
      assert.match(answer.requestId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
      assert.isTrue(Schema.is(SpotQuote)(answer))
    }).pipe(Effect.provide(engineOver(knows(thin, deep))))
  )

  it.effect("quotes a purchase as principal, with the fee on top", () =>
    Effect.gen(function* () {
      const answer = yield* quote(buy)
      assert.strictEqual(answer.outAmount, 500_000n)
      assert.strictEqual(answer.minOutAmount, 495_000n)
      assert.strictEqual(answer.feeBasis, "principal")
      assert.isFalse("outUiAmount" in answer)
    }).pipe(Effect.provide(engineOver(knows(deep, thin))))
  )

  it.effect("answers a clamped quote, without an impact, when liquidity ends first", () =>
    Effect.gen(function* () {
      const answer = yield* quote(sell)
      assert.isTrue(answer.clamped)
      assert.isFalse(answer.impactMeasurable)
      assert.isNull(answer.priceImpactPct)
      assert.strictEqual(answer.inAmount, 1_000_000n)
      assert.strictEqual(answer.route[0]?.amountIn, 400_000n)
    }).pipe(
      Effect.provide(engineOver(knows({ ...constantProduct(at(1), TOKEN, SOL, [1n, 10n ** 9n], { most: 400_000n }) })))
    )
  )

  it.effect("gives every quote its own id", () =>
    Effect.gen(function* () {
      const ids = yield* Effect.replicateEffect(quote(sell).pipe(Effect.map(({ requestId }) => requestId)), 100)
      assert.strictEqual(new Set(ids).size, 100)
    }).pipe(Effect.provide(engineOver(knows(deep))))
  )

  it.effect("uses only the requested venues and pools", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* quote({ ...sell, venues: ["thin"] })).venues, ["thin"])
      assert.strictEqual((yield* quote({ ...sell, pools: [at(2)] })).route[0]?.pool, at(2))
      assert.strictEqual((yield* refusalOf({ ...sell, venues: ["deep"], pools: [at(2)] }))._tag, "NoRoute")
    }).pipe(Effect.provide(engineOver(knows(deep, thin))))
  )

  it.effect("serves direct routes whatever the hop limit, and refuses other shapes before anything else", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(quote({ ...sell, maxHops: 4, directOnly: true })))._tag, "StateStale")
      for (const request of [
        { ...sell, directOnly: false },
        { ...sell, outputMint: USDC },
        { ...sell, inputMint: SOL }
      ]) {
        assert.strictEqual((yield* refusalOf(request))._tag, "RouteNotSupported")
      }
    }).pipe(Effect.provide(engineOver(knows(deep), chain({ heardAtMs: null }))))
  )

  it.effect("queues a cold mint, from either side, and fails with StateCold", () => {
    const warmed: Array<string> = []
    return Effect.gen(function* () {
      for (const request of [
        { ...sell, inputMint: UNKNOWN },
        { ...buy, outputMint: UNKNOWN }
      ]) {
        const refusal = yield* refusalOf(request)
        assert.deepInclude(refusal, { _tag: "StateCold", mint: UNKNOWN })
      }
      assert.deepStrictEqual(warmed, [UNKNOWN, UNKNOWN])
    }).pipe(Effect.provide(engineOver(bookOf({ pools: [deep], refused: [] }, warmed))))
  })

  it.effect("finds no route where there is no pool, or only closed and malformed ones", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* refusalOf(sell))._tag, "NoRoute")
    }).pipe(Effect.provide(engineOver(bookOf({ pools: [], refused: [refused(3, "closed"), refused(4, "malformed")] }))))
  )

  it.effect("finds no route when the fee takes all proceeds", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* refusalOf({ ...sell, amount: 1n }))._tag, "NoRoute")
    }).pipe(Effect.provide(engineOver(knows(constantProduct(at(1), TOKEN, SOL, [10n, 11n])))))
  )

  it.effect("says that the amount is too small when every pool would pay nothing for it", () =>
    Effect.gen(function* () {
      const refusal = yield* refusalOf({ ...sell, amount: 1n })
      assert.deepInclude(refusal, { _tag: "NoRoute", paysNothing: true })
      assert.strictEqual(
        describeRefusal(refusal).message,
        "The amount is too small: every pool of this pair would pay nothing for it."
      )
      const none = yield* refusalOf({ ...sell, amount: 1n, venues: ["nowhere"] })
      assert.strictEqual(describeRefusal(none).message, "No pool trades this pair at this size.")
    }).pipe(Effect.provide(engineOver(knows(constantProduct(at(1), TOKEN, SOL, [10n ** 12n, 10n ** 9n])))))
  )

  it.effect("does not claim that there is no route while pools of the token could not be searched", () =>
    Effect.gen(function* () {
      for (const request of [sell, buy, { ...sell, venues: ["other"] }]) {
        assert.deepInclude(yield* refusalOf(request), { _tag: "PoolsNotSearched", mint: TOKEN })
      }
    }).pipe(Effect.provide(engineOver(bookOf({ pools: [], refused: [refused(3, "closed")] }, [], [TOKEN, SOL]))))
  )

  it.effect("names an unsupported pool, but only when nothing else can be priced", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* quote(sell)).route[0]?.pool, at(1))
      const refusal = yield* refusalOf({ ...sell, pools: [at(3)] })
      assert.deepInclude(refusal, {
        _tag: "RouteNotSupported",
        detail: `Pool ${at(3)} (toy) is not served: because 3.`
      })
    }).pipe(Effect.provide(engineOver(bookOf({ pools: [deep], refused: [refused(3, "unsupported")] }))))
  )

  it.effect("is cold while the only pools are not read yet", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* refusalOf(sell))._tag, "StateCold")
    }).pipe(
      Effect.provide(engineOver(bookOf({ pools: [], refused: [refused(3, "unsupported"), refused(4, "incomplete")] })))
    )
  )

  it.effect("is stale once the feed has been silent for longer than allowed", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(2000)
      yield* quote(sell)
      yield* TestClock.setTime(2001)
      const refusal = yield* refusalOf(sell)
      assert.deepInclude(refusal, { _tag: "StateStale", lastSlot: 77, silentMs: 2001 })
    }).pipe(Effect.provide(engineOver(knows(deep), chain(), { STALE_AFTER: "2 seconds" })))
  )

  it.effect("prices several trades at one moment, refusals in their places", () =>
    Effect.gen(function* () {
      const engine = yield* QuoteEngine
      const answers = yield* engine.quoteAll([sell, { ...sell, directOnly: false }, buy])
      assert.deepStrictEqual(answers.map(Result.isSuccess), [true, false, true])
    }).pipe(Effect.provide(engineOver(knows(deep))))
  )

  it.effect("answers from the state before a gap while the feed reads it again, until that state is too old", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1500)
      assert.strictEqual((yield* quote(sell)).stateAgeMs, 1500)
      yield* TestClock.setTime(2001)
      assert.deepInclude(yield* refusalOf(sell), { _tag: "StateStale", lastSlot: 77 })
    }).pipe(Effect.provide(engineOver(knows(deep), chain({ state: "reloading" }), { STALE_AFTER: "2 seconds" })))
  )

  it.effect("is stale while the feed has no whole state, and quotes again without a connection", () => {
    const feed = chain({ state: "loading" })
    return Effect.gen(function* () {
      assert.strictEqual((yield* refusalOf(sell))._tag, "StateStale")
      feed.fresh = { ...feed.fresh, state: "down" }
      yield* quote(sell)
      feed.fresh = { slot: 77, heardAtMs: null, state: "recorded" }
      yield* TestClock.setTime(1e12)
      assert.strictEqual((yield* quote(sell)).stateAgeMs, 0)
    }).pipe(Effect.provide(engineOver(knows(deep), feed)))
  })
})

const engineAt = (feeBps: string) => engineOver(knows(deep), chain(), { PLATFORM_FEE_BPS: feeBps })

describe("PLATFORM_FEE_BPS", () => {
  it.effect("at zero leaves the whole payout of the pool, and no fee basis", () =>
    Effect.gen(function* () {
      const sale = yield* quote(sell)
      assert.strictEqual(sale.outAmount, 1_800_000n)
      assert.strictEqual(sale.outAmount, sale.route[0]?.amountOut)
      assert.isFalse("feeBasis" in sale)
      assert.isFalse("feeBasis" in (yield* quote(buy)))
    }).pipe(Effect.provide(engineAt("0")))
  )

  it.effect("is taken from the proceeds, rounded up", () =>
    Effect.gen(function* () {
      const sale = yield* quote(sell)
      assert.strictEqual(sale.outAmount, 1_755_000n)
      assert.strictEqual(sale.feeBasis, "net")
    }).pipe(Effect.provide(engineAt("250")))
  )

  it.effect.each(["-1", "1001", "1.5", "one"])("may not be %s", (feeBps) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(engineAt(feeBps))))
      assert.include(error.message, "PLATFORM_FEE_BPS")
    })
  )
})

describe("netOfSolFee", () => {
  it.each([
    [0n, 0n],
    [1n, 0n],
    [99n, 98n],
    [100n, 99n],
    [101n, 99n],
    [1_000_000n, 990_000n]
  ])("of %d lamports is %d", (gross, net) => {
    assert.strictEqual(netOfSolFee(gross, 100n), net)
  })

  it("is the whole amount without a fee", () => {
    assert.strictEqual(netOfSolFee(101n, 0n), 101n)
  })
})
