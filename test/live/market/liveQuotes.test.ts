import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { UsageStore } from "../../../src/access/usage/UsageStore.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import { QuoteTicks } from "../../../src/quotes/QuoteTicks.ts"
import { makeTimerWheel } from "../../../src/quotes/timerWheel.ts"
import { makeLiveQuotes } from "../../../src/live/market/LiveQuotes.ts"
import * as MemoryUsage from "../../support/memoryUsage.ts"
import { A, Scene } from "./marketScene.ts"

it.effect("a quote whose first price fails with a defect costs nothing", () =>
  Effect.gen(function* () {
    const scene = new Scene()
    scene.opensAtOnce = false
    const { say } = scene.connect()
    say({ op: "subscribe", id: "q", channel: "quote", inputMint: SOL, outputMint: A, amount: "1000" })
    const [opening = assert.fail()] = scene.waiting
    const limiter = yield* RateLimiter
    const ticks = QuoteTicks.of({
      quote: () => Effect.die("broken"),
      tickQuote: () => () => Effect.die("broken"),
      wheel: yield* makeTimerWheel
    })
    const quotes = yield* makeLiveQuotes({ hub: scene.hub, limiter, usage: yield* UsageStore }).pipe(
      Effect.provideService(QuoteTicks, ticks)
    )
    const exit = yield* Effect.exit(quotes.open(opening))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    const { limit, remaining } = yield* limiter.peek({ id: "key_a", plan: DEFAULT_PLAN }, "quote")
    assert.strictEqual(remaining, limit)
  }).pipe(Effect.provide(Layer.merge(RateLimiter.layerMemory, MemoryUsage.layer)))
)
