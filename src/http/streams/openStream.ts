/** Opening a quote stream: its first tick is priced before the answer begins, so that a refusal is an ordinary one. */
import { Clock, Effect, type Scope } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { RateLimiter } from "../../access/RateLimiter.ts"
import { type Charge, LimiterUnavailable } from "../../domain/Budget.ts"
import type { QuoteRefusal } from "../../domain/quotes/Quote.ts"
import type { StreamTerms } from "../../domain/quotes/QuoteStream.ts"
import type { QuoteEngine } from "../../quotes/QuoteEngine.ts"
import { monotonicMs, runTicks, type TickMeter } from "../../quotes/runTicks.ts"
import { decide } from "../middleware/decisionDeadline.ts"
import type { Place } from "./StreamPlaces.ts"
import { streamSession } from "./quoteStream.ts"
import { tickRequest } from "../handlers/spotRequests.ts"

/** What a stream is opened with. */
export interface Opening {
  readonly terms: StreamTerms
  readonly place: Place
  /** What the first tick has cost. */
  readonly charge: Charge
}

const unavailable = () => new LimiterUnavailable({ cause: "no decision in time" })

const tickMeter = (limiter: RateLimiter["Service"], key: string): TickMeter => ({
  admit: decide(limiter.admit({ key, budget: "quote", cost: 1 }), unavailable, (late) => limiter.refund(late)),
  refund: (charge) => decide(limiter.refund(charge), unavailable)
})

/** The answer that carries the stream. Fails with whatever keeps the first tick from being priced. */
export const openStream = Effect.fnUntraced(function* (
  engine: QuoteEngine["Service"],
  limiter: RateLimiter["Service"],
  { charge, place, terms }: Opening
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, QuoteRefusal, Scope.Scope> {
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const startedAt = monotonicMs(clock)
  const openedAtMs = now()
  const request = tickRequest(terms)
  const first = yield* engine.quote(request)

  const writer = yield* Effect.withFiber(Effect.succeed)
  const { response, session } = yield* streamSession(terms, writer)
  session.open({ ...charge, remaining: charge.remaining + charge.cost }, openedAtMs)
  session.quoted(0, first, charge.remaining, now())
  place.attach(session, now())

  const { durationSeconds, intervalMs } = terms
  const meter = tickMeter(limiter, place.key)
  yield* runTicks(engine, { session, request, intervalMs, durationMs: durationSeconds * 1000, startedAt, meter }).pipe(
    Effect.catchDefect((defect) => {
      session.close("failed", now())
      return Effect.logError("A quote stream failed", defect)
    }),
    Effect.forkScoped
  )
  return response
})
