/** The ticks of a quote stream: a fixed grid from its start, on which late points are skipped and never queued. */
import { Cause, Clock, Effect, Option, Random } from "effect"
import type { BudgetExceeded, BudgetState, Charge, LimiterUnavailable } from "../domain/Budget.ts"
import type { QuoteRefusal, QuoteRequest, SpotQuote } from "../domain/quotes/Quote.ts"
import { uuidV4 } from "../domain/uuid.ts"
import { describeRefusal } from "./describeRefusal.ts"
import type { QuoteEngine } from "./QuoteEngine.ts"
import type { QuoteSession } from "./QuoteSession.ts"

/** A tick may start this many milliseconds after its grid point; later it is skipped. */
const MOST_LATE_MS = 100

type Quote = QuoteEngine["Service"]["quote"]

/** Payment of a tick. */
export interface TickMeter {
  readonly admit: Effect.Effect<Charge, BudgetExceeded | LimiterUnavailable>
  readonly refund: (charge: Charge) => Effect.Effect<BudgetState, LimiterUnavailable>
}

/** Dependencies of the ticks of one stream. */
export interface TickRun {
  readonly session: QuoteSession
  readonly request: QuoteRequest
  readonly intervalMs: number
  readonly durationMs: number
  /** When the grid began, by the monotonic clock, in milliseconds. */
  readonly startedAt: number
  readonly meter: TickMeter
}

/** Milliseconds on the clock that never goes back. */
export const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1000n) / 1000

const LIMITER_DOWN = { code: "limiter_unavailable", message: "Admission could not be decided.", retryable: true }
const OUR_FAULT = { code: "internal_error", message: "Something went wrong on our side.", retryable: true }

/** Prices and charges one tick and hands the result to the session. Never fails. */
const runTick = (quote: Quote, { meter, request, session }: TickRun, tick: number) =>
  Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const nextId = () => uuidV4(fiber.getRef(Random.Random))
    const now = () => clock.currentTimeMillisUnsafe()

    const priced = (charge: Charge) => (price: SpotQuote) =>
      Effect.sync(() => session.quoted(tick, price, charge.remaining, now()))

    const refused = (charge: Charge) => (cause: Cause.Cause<QuoteRefusal>) => {
      const refusal = Option.getOrUndefined(Cause.findErrorOption(cause))
      const { ours, ...failure } = refusal === undefined ? { ...OUR_FAULT, ours: true } : describeRefusal(refusal)
      const tell = (units: 0 | 1) =>
        Effect.sync(() => session.failed(tick, { ...failure, requestId: nextId() }, units, now()))
      const told = ours
        ? Effect.matchEffect(meter.refund(charge), { onFailure: () => tell(1), onSuccess: () => tell(0) })
        : tell(1)
      return refusal === undefined ? Effect.andThen(Effect.logError("A quote failed", cause), told) : told
    }

    const turnedAway = (error: BudgetExceeded | LimiterUnavailable) =>
      Effect.sync(() => {
        if (error._tag === "BudgetExceeded") {
          session.throttled(tick, error, now())
        } else {
          session.failed(tick, { ...LIMITER_DOWN, requestId: nextId() }, 0, now())
        }
      })

    return Effect.matchEffect(meter.admit, {
      onFailure: turnedAway,
      onSuccess: (charge) =>
        Effect.matchCauseEffect(quote(request), { onFailure: refused(charge), onSuccess: priced(charge) })
    })
  })

/** Runs the ticks after the first until the stream is over. */
export const runTicks = Effect.fnUntraced(function* (quote: Quote, run: TickRun) {
  const { durationMs, intervalMs, session, startedAt } = run
  const clock = yield* Clock.Clock
  let next = 1
  while (!session.closed) {
    const elapsed = monotonicMs(clock) - startedAt
    const due = Math.min(next * intervalMs, durationMs)
    if (elapsed < due) {
      yield* Effect.sleep(Math.ceil(due - elapsed))
    } else if (elapsed >= durationMs) {
      session.skipped(Math.max(0, Math.ceil(durationMs / intervalMs) - next))
      session.close("completed", clock.currentTimeMillisUnsafe())
    } else {
      // Points that went by while something else ran are gone; the newest may still be on time.
      const tick = Math.floor(elapsed / intervalMs)
      const isOnTime = elapsed - tick * intervalMs <= MOST_LATE_MS
      session.skipped(isOnTime ? tick - next : tick - next + 1)
      if (isOnTime) {
        yield* runTick(quote, run, tick)
      }
      next = tick + 1
    }
  }
})
