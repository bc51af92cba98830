import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { PoolBook, QuoteEngine, SOL } from "../../src/index.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import * as SimulatedMarket from "../../src/testing/SimulatedMarket.ts"

const sell = (mint: typeof SOL) => ({ inputMint: mint, outputMint: SOL, amount: 1_000_000n, slippageBps: 50 })

const answered = Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 })

layer(SimulatedMarket.layer({ seed: "embedding", speed: 10 }), { excludeTestServices: true })(
  "SimulatedMarket",
  (it) => {
    it.effect("quotes the pools of its own node through the real client", () =>
      Effect.gen(function* () {
        const engine = yield* QuoteEngine
        const book = yield* PoolBook
        const { mints } = yield* Simulator
        const mint = mints().find(({ address }) => address !== SOL)?.address ?? SOL
        const quote = yield* engine.quote(sell(mint)).pipe(answered)
        const pool = book.poolsOf(mint).find(({ address }) => address === quote.route[0]?.pool)
        assert.strictEqual(pool?.dex, quote.route[0]?.dex)
        assert.strictEqual(quote.feeBasis, "net")
      })
    )

    it.effect("moves: the price of a trade changes as slots pass", () =>
      Effect.gen(function* () {
        const engine = yield* QuoteEngine
        const { mints } = yield* Simulator
        const mint = mints().find(({ address }) => address !== SOL)?.address ?? SOL
        const first = yield* engine.quote(sell(mint)).pipe(answered)
        const later = yield* engine.quote(sell(mint)).pipe(
          Effect.filterOrFail(({ contextSlot }) => contextSlot > first.contextSlot + 20),
          answered
        )
        assert.isAbove(later.contextSlot, first.contextSlot)
      })
    )
  }
)
