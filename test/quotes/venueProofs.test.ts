/** Quotes with proofs of venues: the evidence of each swap, and refused venues. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SOL } from "../../src/domain/Address.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import * as VenueProofs from "../../src/quotes/VenueProofs.ts"
import { engineOver, makeMarket, routerOver, THIN_POOL, TOKEN } from "../support/market.ts"

const sale = { inputMint: TOKEN, outputMint: SOL, amount: 1_000_000n, slippageBps: 50 }

const engines = [
  ["the native engine", engineOver],
  ["the router", routerOver]
] as const

const quoted = (over: (typeof engines)[number][1]) => {
  const market = makeMarket()
  const layer = over(market).pipe(Layer.provideMerge(VenueProofs.layer))
  return { layer, market }
}

/** Refuses the venue of the deeper pool. */
const refuse = (...venues: ReadonlyArray<string>) =>
  Effect.map(VenueProofs.VenueProofs, ({ replace }) =>
    replace(new Map(venues.map((dex) => [dex, { provenAtSlot: null, refusal: "its prices were found wrong" }])))
  )

describe.each(engines)("%s", (_, over) => {
  it.effect("shows the slot of the proof with each swap, and null when none is known", () =>
    Effect.gen(function* () {
      const engine = yield* QuoteEngine
      const before = yield* engine.quote(sale)
      assert.isNotEmpty(before.route)
      assert.isTrue(before.route.every(({ provenAtSlot }) => provenAtSlot === null))
      const { replace } = yield* VenueProofs.VenueProofs
      replace(new Map([["raydium-cpmm", { provenAtSlot: 70, refusal: null }]]))
      const { route } = yield* engine.quote(sale)
      assert.isTrue(route.some(({ dex }) => dex === "raydium-cpmm"))
      for (const { dex, provenAtSlot } of route) {
        assert.strictEqual(provenAtSlot, dex === "raydium-cpmm" ? 70 : null)
      }
    }).pipe(Effect.provide(quoted(over).layer))
  )

  it.effect("routes around a refused venue, and uses it again after the next proof", () =>
    Effect.gen(function* () {
      const engine = yield* QuoteEngine
      const before = yield* engine.quote(sale)
      yield* refuse("raydium-cpmm")
      const around = yield* engine.quote(sale)
      assert.deepStrictEqual(
        around.route.map(({ pool }) => pool),
        [THIN_POOL]
      )
      assert.isBelow(Number(around.outAmount), Number(before.outAmount))
      yield* refuse()
      assert.strictEqual((yield* engine.quote(sale)).outAmount, before.outAmount)
    }).pipe(Effect.provide(quoted(over).layer))
  )

  it.effect("refuses a pair that no other venue trades, with the reason", () =>
    Effect.gen(function* () {
      const engine = yield* QuoteEngine
      yield* refuse("raydium-cpmm", "pumpswap", "raydium-amm-v4")
      const refusal = yield* Effect.flip(engine.quote(sale))
      assert.strictEqual(refusal._tag, "RouteNotSupported")
      assert.match(
        "detail" in refusal ? refusal.detail : "",
        /^Pool \w+ \(raydium-cpmm\) is not served: its prices were found wrong\.$/u
      )
      const [named] = yield* engine.quoteAll([{ ...sale, venues: ["pumpswap"] }])
      assert.include(JSON.stringify(named), "(pumpswap) is not served")
    }).pipe(Effect.provide(quoted(over).layer))
  )
})

describe("the refused venues", () => {
  it.effect("are the same map until one changes", () =>
    Effect.gen(function* () {
      const { refused } = yield* VenueProofs.VenueProofs
      yield* refuse("raydium-cpmm")
      const before = refused()
      yield* refuse("raydium-cpmm")
      assert.strictEqual(refused(), before)
      yield* refuse("pumpswap")
      assert.deepStrictEqual([...refused().keys()], ["pumpswap"])
      yield* refuse()
      assert.strictEqual(refused().size, 0)
    }).pipe(Effect.provide(VenueProofs.layer))
  )
})
