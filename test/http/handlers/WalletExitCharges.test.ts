import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import { WalletExitCheck } from "../../../src/api/schemas/WalletExit.ts"
import { QuoteEngine } from "../../../src/quotes/QuoteEngine.ts"
import { call, running } from "../../support/http.ts"
import { engineOver, LONELY, makeMarket, SHALLOW, TOKEN } from "../../support/market.ts"
import { readerOver } from "../../wallets/readers.ts"
import { OTHER, tradeOf, WALLET } from "../../wallets/trades.ts"

const send = (body: Record<string, unknown>) =>
  call("/api/v1/spot/exit-check", {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" }
  })

const mints = [TOKEN, SHALLOW, LONELY, OTHER]

const wallets = readerOver({
  trades: {
    [WALLET]: mints.map((mint, i) => tradeOf({ mint, slot: 9 - i, amount: 2000n, held: { before: 0n, after: 2000n } }))
  }
})

/** The native engine, each call of which takes a second. */
const slowEngine = Layer.effect(
  QuoteEngine,
  Effect.map(QuoteEngine, (engine) =>
    QuoteEngine.of({
      ...engine,
      quoteAll: (requests) => Effect.tap(engine.quoteAll(requests), TestClock.adjust("1 second"))
    })
  )
).pipe(Layer.provide(engineOver(makeMarket())))

layer(running({ engine: slowEngine, wallets }))("the time of a wallet's exit check", (it) => {
  it.effect("is bounded: positions that are not reached are named and not charged", () =>
    Effect.gen(function* () {
      const answer = yield* send({ wallet: WALLET })
      const { counts, positions, total } = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(WalletExitCheck))(
        answer.text
      )
      assert.deepStrictEqual(
        positions.map(({ state }) => state),
        ["checked", "checked", "not_reached", "not_reached"]
      )
      assert.strictEqual(counts.notReached, 2)
      assert.isFalse(total.complete)
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "12")
    })
  )
})

/** A limiter of which another request of the key takes all the room that a refund makes. */
const contested = Layer.effect(
  RateLimiter,
  Effect.map(RateLimiter, (limiter) =>
    RateLimiter.of({
      ...limiter,
      refund: (charge) =>
        Effect.tap(limiter.refund(charge), ({ remaining }) =>
          Effect.orDie(limiter.admit({ key: { id: charge.key, plan: DEFAULT_PLAN }, budget: "quote", cost: remaining }))
        )
    })
  )
).pipe(Layer.provide(RateLimiter.layerMemory))

layer(running({ engine: slowEngine, wallets, limiter: contested }))("a price that cannot be exchanged", (it) => {
  it.effect("answers 429 without a check, and no work goes uncharged", () =>
    Effect.gen(function* () {
      const answer = yield* send({ wallet: WALLET })
      assert.deepStrictEqual([answer.status, answer.json("error.code")], [429, "rate_limited"])
      assert.isUndefined(answer.json("total"))
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "0")
      assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/u)
    })
  )
})
