/** An application built only from the entries of the package. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schedule, Stream } from "effect"
import {
  ActivityReader,
  AuditReader,
  MarketReader,
  PriceBook,
  RiskReader,
  SOL,
  TokenBook,
  TokenReader,
  Market
} from "../src/index.ts"
import * as SimulatedMarket from "../src/testing/SimulatedMarket.ts"

const readers = Layer.mergeAll(
  TokenReader.layer.pipe(Layer.provide(ActivityReader.layerUnknown)),
  RiskReader.layer.pipe(Layer.provide(AuditReader.layer))
).pipe(Layer.provideMerge(SimulatedMarket.layerWithTrades({ seed: "embedded" })))

const soon = Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 })

layer(readers, { excludeTestServices: true, timeout: "60 seconds" })("an embedding application", (it) => {
  const someMint = Effect.map(
    SimulatedMarket.Simulator,
    ({ mints }) => mints().find(({ address }) => address !== SOL)?.address ?? SOL
  )

  it.effect("reads risk and facts of tokens", () =>
    Effect.gen(function* () {
      const mint = yield* someMint
      const risk = yield* RiskReader
      const tokens = yield* TokenReader
      const { address } = yield* risk.riskOf(mint).pipe(soon)
      assert.strictEqual(address, mint)
      const facts = yield* tokens.factsOf(mint).pipe(soon)
      assert.strictEqual(facts.data.token.address, mint)
    })
  )

  it.effect("reads the market from the tape that it watches", () =>
    Effect.gen(function* () {
      const { applied, state } = yield* Market
      const market = yield* MarketReader
      const trades = applied.pipe(Stream.flatMap((batch) => Stream.fromIterable(batch.trades)))
      const priced = trades.pipe(Stream.filter(({ priceUsd }) => priceUsd !== null))
      const [trade] = yield* priced.pipe(Stream.take(1), Stream.runCollect)
      const mint = trade?.mint ?? SOL
      assert.isTrue(state.has(mint))
      const view = { resolution: "1s", denom: "usd", mode: "price", from: null, to: null, limit: 10 } as const
      const { data } = yield* market.chart(mint, view).pipe(soon)
      assert.isAbove(data.bars.length, 0)
      assert.isTrue(data.bars.every(({ c, v }) => c > 0 && v > 0))
    })
  )

  it.effect("has the books that the readers read", () =>
    Effect.gen(function* () {
      const mint = yield* someMint
      const tokens = yield* TokenBook
      const prices = yield* PriceBook
      yield* tokens.warm(mint)
      yield* prices.warm(mint)
      const state = yield* Effect.suspend(() => Effect.fromNullishOr(tokens.read(mint))).pipe(soon)
      assert.strictEqual(state._tag, "Token")
      const price = yield* Effect.suspend(() => Effect.fromNullishOr(prices.at(Date.now()).of(mint)?.sol)).pipe(soon)
      assert.isTrue(price.numerator > 0n)
    })
  )
})
