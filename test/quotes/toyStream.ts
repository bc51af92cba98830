/** A quote stream with scripted prices, a counted budget and a reader that keeps every frame. */
import { assert } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../src/domain/Address.ts"
import { BudgetExceeded, type Charge } from "../../src/api/schemas/Budget.ts"
import {
  NoRoute,
  type QuoteRefusal,
  RouteNotSupported,
  type SpotQuote,
  StateStale
} from "../../src/api/schemas/Quote.ts"
import type { Frame, StreamTerms } from "../../src/api/schemas/QuoteStream.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { QuoteSession } from "../../src/quotes/QuoteSession.ts"
import { runTicks, type TickMeter } from "../../src/quotes/runTicks.ts"
import { makeTimerWheel } from "../../src/quotes/timerWheel.ts"
import { monotonicMs } from "../../src/domain/loopTime.ts"
import { at } from "./toyChain.ts"

const TOKEN = at(10)
export const START = 1_000_000
const terms: StreamTerms = {
  inputMint: TOKEN,
  outputMint: SOL,
  amount: 5n,
  outputDecimals: null,
  slippageBps: 50,
  intervalMs: 1000,
  durationSeconds: 5,
  changesOnly: false
}

export const quoteOf = (outAmount: bigint, pool = at(1), clamped = false): SpotQuote => ({
  inputMint: TOKEN,
  outputMint: SOL,
  inAmount: 5n,
  outAmount,
  minOutAmount: outAmount,
  slippageBps: 50,
  impactMeasurable: false,
  clamped,
  route: [
    {
      dex: "toy",
      inputMint: TOKEN,
      outputMint: SOL,
      pool,
      percent: 100,
      amountIn: 5n,
      amountOut: outAmount,
      priceImpactPct: null,
      provenAtSlot: null
    }
  ],
  venues: ["toy"],
  engine: "svc_native_cache",
  priceImpactPct: null,
  contextSlot: 1,
  engineTimeMs: 0,
  swapUsdValue: null,
  requestId: "id",
  quotedAtMs: START,
  stateSlot: 1,
  stateAgeMs: 0,
  feeBasis: "net"
})

export const noRoute = new NoRoute({ inputMint: TOKEN, outputMint: SOL })
export const stale = new StateStale({ lastSlot: 7, silentMs: 12_000 })
export const unsupported = new RouteNotSupported({ detail: "no" })

type Answer = SpotQuote | QuoteRefusal | "defect" | { readonly slowMs: number }

/** Gives the answers in turn, and repeats the last one. */
const engineOf = (answers: ReadonlyArray<Answer>) => {
  let asked = 0
  const quote = (): Effect.Effect<SpotQuote, QuoteRefusal> => {
    const answer = answers[Math.min(asked++, answers.length - 1)] ?? "defect"
    if (answer === "defect") {
      return Effect.die(new Error("a bug"))
    }
    if ("slowMs" in answer) {
      return Effect.delay(Effect.succeed(quoteOf(1n)), answer.slowMs)
    }
    return "_tag" in answer ? Effect.fail(answer) : Effect.succeed(answer)
  }
  return QuoteEngine.of({ quote, quoteAll: () => Effect.succeed([]), exitMint: SOL })
}

const exceeded = () =>
  new BudgetExceeded({ budget: "quote", cost: 1, windowMs: 60_000, limit: 300, remaining: 0, fitsAtMs: START + 3500 })

/** A budget of this many units that never refills, and counts its use. */
export const meterOf = (units: number) => {
  const spent = { units: 0 }
  const charge = (): Charge => ({
    key: "k",
    budget: "quote",
    cost: 1,
    windowMs: 60_000,
    limit: 300,
    remaining: units - spent.units,
    resetAtMs: START + 60_000,
    atMs: START,
    seq: spent.units
  })
  const meter: TickMeter = {
    admit: () => {
      if (spent.units >= units) {
        return Effect.fail(exceeded())
      }
      spent.units++
      return Effect.succeed(charge())
    },
    refund: () =>
      Effect.sync(() => {
        spent.units--
        return charge()
      })
  }
  return { meter, spent }
}

interface Scenario {
  readonly answers: ReadonlyArray<Answer>
  readonly units?: number
  readonly terms?: Partial<StreamTerms>
  readonly meter?: TickMeter
  readonly room?: number
}

/** A stream whose first tick was priced at 100. */
export const start = Effect.fnUntraced(function* (scenario: Scenario) {
  yield* TestClock.setTime(START)
  const frames: Array<Frame> = []
  const all = { ...terms, ...scenario.terms }
  const session = new QuoteSession("str_1", all, (frame) => {
    const taken = frame.event === "close" || frames.length < (scenario.room ?? Infinity)
    if (taken) {
      frames.push(frame)
    }
    return taken
  })
  session.open({ windowMs: 60_000, limit: 300, remaining: 300, resetAtMs: START }, START)
  session.quoted(0, quoteOf(100n), 299, START)
  const { meter, spent } = meterOf(scenario.units ?? 300)
  const engine = engineOf(scenario.answers)
  const fiber = yield* Effect.forkChild(
    runTicks(yield* makeTimerWheel, (request) => () => engine.quote(request), {
      session,
      request: { inputMint: TOKEN, outputMint: SOL, amount: all.amount, slippageBps: all.slippageBps },
      intervalMs: all.intervalMs,
      durationMs: all.durationSeconds * 1000,
      startedAt: monotonicMs(yield* Clock.Clock),
      meter: scenario.meter ?? meter
    }),
    { startImmediately: true }
  )
  return { frames, fiber, session, spent }
})

export const run = Effect.fnUntraced(function* (scenario: Scenario) {
  const stream = yield* start(scenario)
  for (let ms = 0; ms < 60_000 && !stream.session.closed; ms += 250) {
    yield* TestClock.adjust(250)
  }
  yield* Fiber.join(stream.fiber)
  return stream
})

export const story = (frames: ReadonlyArray<Frame>) =>
  frames.map((frame) => ("tick" in frame.data ? `${frame.event} ${frame.data.tick}` : frame.event))

export const closing = (frames: ReadonlyArray<Frame>) => {
  const last = frames.at(-1)
  assert.strictEqual(last?.event, "close")
  return last?.event === "close" ? last.data : null
}
