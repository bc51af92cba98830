/** Starts a quote stream. The first tick is priced before the response begins, so its failure is an ordinary error. */
import { Clock, Effect, type Fiber, type Scope } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { RateLimiter } from "../../access/RateLimiter.ts"
import type { UsageStore } from "../../access/usage/UsageStore.ts"
import { type Charge, LimiterUnavailable } from "../../api/schemas/Budget.ts"
import type { QuoteRefusal } from "../../api/schemas/Quote.ts"
import type { StreamTerms } from "../../api/schemas/QuoteStream.ts"
import { type QuoteTicks, tickRequest } from "../../quotes/QuoteTicks.ts"
import { countedMeter, runTicks, type TickMeter } from "../../quotes/runTicks.ts"
import { monotonicMs } from "../../domain/loopTime.ts"
import { withDecisionDeadline, withDecisionDeadlineOn } from "../middleware/decisionDeadline.ts"
import type { StreamHolder, StreamSlot } from "./StreamLimits.ts"
import { streamSession } from "./quoteStream.ts"

export interface StreamStart {
  readonly terms: StreamTerms
  readonly slot: StreamSlot
  /** The charge of the first tick. */
  readonly charge: Charge
}

const unavailable = () => new LimiterUnavailable({ cause: "no decision in time" })

/** Where the ticks of a stream are charged and counted. */
export interface StreamAccounting {
  readonly limiter: RateLimiter["Service"]
  readonly usage: UsageStore["Service"]
  /** Operation id that the stream is counted under. */
  readonly operation: string
}

const tickMeter = (
  { limiter, operation, usage }: StreamAccounting,
  { accountId, key }: StreamHolder,
  fiber: Fiber.Fiber<unknown, unknown>
): TickMeter => {
  const request = { key, budget: "quote", cost: 1 } as const
  const refund = (charge: Charge) => limiter.refund(charge)
  return countedMeter(
    {
      admit: (clock) => withDecisionDeadlineOn(fiber, limiter.admit(request, clock), unavailable, refund),
      refund: (charge) => withDecisionDeadline(refund(charge), unavailable)
    },
    (units) => usage.addUnits({ id: key.id, accountId }, operation, units)
  )
}

/** The response that carries the stream. Fails when the first tick cannot be priced. */
export const openStream = Effect.fnUntraced(function* (
  { quote, tickQuote, wheel }: QuoteTicks["Service"],
  accounting: StreamAccounting,
  { charge, slot, terms }: StreamStart
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, QuoteRefusal, Scope.Scope> {
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const startedAt = monotonicMs(clock)
  const openedAtMs = now()
  const request = tickRequest(terms)
  const first = yield* quote(request)

  const writer = yield* Effect.withFiber(Effect.succeed)
  const { response, sentBytes, session } = yield* streamSession(terms, writer)
  const { accountId, key } = slot.holder
  const stop = accounting.usage.open({ id: key.id, accountId }, accounting.operation, sentBytes)
  yield* Effect.addFinalizer(() => Effect.sync(stop))
  session.open({ ...charge, remaining: charge.remaining + charge.cost }, openedAtMs)
  session.quoted(0, first, charge.remaining, now())
  slot.attach(session, now())

  const { durationSeconds, intervalMs } = terms
  const meter = tickMeter(accounting, slot.holder, writer)
  yield* runTicks(wheel, tickQuote, {
    session,
    request,
    intervalMs,
    durationMs: durationSeconds * 1000,
    startedAt,
    meter
  }).pipe(
    Effect.catchDefect((defect) => {
      session.close("failed", now())
      return Effect.logError("A quote stream failed", defect)
    }),
    Effect.forkScoped
  )
  return response
})
