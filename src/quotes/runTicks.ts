/** Runs the ticks of a quote stream on a fixed grid. A grid point that has passed is skipped, never queued. */
import { Cause, Clock, Context, Effect, Exit, Fiber, Option } from "effect"
import type { BudgetExceeded, BudgetState, Charge, LimiterUnavailable } from "../api/schemas/Budget.ts"
import type { QuoteRefusal, QuoteRequest } from "../api/schemas/Quote.ts"
import { describeRefusal } from "./describeRefusal.ts"
import type { TickQuote } from "./sharedQuotes.ts"
import type { QuoteSession } from "./QuoteSession.ts"
import { type TimerWheel } from "./timerWheel.ts"
import { monotonicMs, withClock } from "../domain/loopTime.ts"

/** A tick may start up to this many milliseconds after its grid point. Later it is skipped. */
const MOST_LATE_MS = 100

/** Charges and refunds a tick. */
export interface TickMeter {
  /** Charges one unit. Returns an `Exit` when the decision is made in memory. */
  readonly admit: (clock: Clock.Clock) => Effect.Effect<Charge, BudgetExceeded | LimiterUnavailable>
  readonly refund: (charge: Charge) => Effect.Effect<BudgetState, LimiterUnavailable>
}

/** Counts the units that a meter charges and refunds. */
export const countedMeter = ({ admit, refund }: TickMeter, count: (units: number) => void): TickMeter => ({
  admit: (clock) =>
    Effect.mapEager(admit(clock), (charge) => {
      count(charge.cost)
      return charge
    }),
  refund: (charge) => Effect.tap(refund(charge), () => Effect.sync(() => count(-charge.cost)))
})

export interface TickRun {
  readonly session: QuoteSession
  readonly request: QuoteRequest
  readonly intervalMs: number
  readonly durationMs: number
  /** Start of the grid, in milliseconds of the monotonic clock. */
  readonly startedAt: number
  readonly meter: TickMeter
}

const LIMITER_DOWN = { code: "limiter_unavailable", message: "Admission could not be decided.", retryable: true }
const OUR_FAULT = { code: "internal_error", message: "Something went wrong on our side.", retryable: true }

/** Runs `act` at once; `Effect.sync` would need a fiber. */
const runNow = (act: () => void): Exit.Exit<void> => {
  act()
  return Exit.void
}

/**
 * Prices and charges a tick and passes the result to the session. Never fails. Returns an `Exit` when the tick is charged
 * and priced at once.
 */
const makeTick = (quote: TickQuote, { meter, request, session }: TickRun, clock: Clock.Clock) => {
  const price = quote(request)
  const now = () => clock.currentTimeMillisUnsafe()

  const refused = (tick: number, charge: Charge, cause: Cause.Cause<QuoteRefusal>) => {
    const refusal = Option.getOrUndefined(Cause.findErrorOption(cause))
    const { isOurFault, ...failure } =
      refusal === undefined ? { ...OUR_FAULT, isOurFault: true } : describeRefusal(refusal)
    const fail = (units: 0 | 1) =>
      Effect.sync(() => session.failed(tick, { ...failure, requestId: crypto.randomUUID() }, units, now()))
    const failed = isOurFault
      ? Effect.matchEffect(meter.refund(charge), { onFailure: () => fail(1), onSuccess: () => fail(0) })
      : fail(1)
    return refusal === undefined ? Effect.andThen(Effect.logError("A quote failed", cause), failed) : failed
  }

  const rejected = (tick: number, error: BudgetExceeded | LimiterUnavailable): void => {
    if (error._tag === "BudgetExceeded") {
      session.throttled(tick, error, now())
    } else {
      session.failed(tick, { ...LIMITER_DOWN, requestId: crypto.randomUUID() }, 0, now())
    }
  }

  return (tick: number): Effect.Effect<void> => {
    const admitted = Effect.flatMapEager(meter.admit(clock), (charge) =>
      Effect.matchCauseEffectEager(price(clock), {
        onFailure: (cause) => refused(tick, charge, cause),
        onSuccess: (quoted) => runNow(() => session.quoted(tick, quoted, charge.remaining, now()))
      })
    )
    return Effect.catchEager(admitted, (error) => runNow(() => rejected(tick, error)))
  }
}

/** What a grid says now: nothing is due yet, a tick may start, a tick is too late, or the end is reached. */
export type GridState =
  | { readonly _tag: "Waiting"; readonly dueMs: number }
  | { readonly _tag: "Due" | "Late"; readonly tick: number; readonly skipped: number }
  | { readonly _tag: "Over"; readonly skipped: number }

/**
 * The state of a grid `elapsedMs` after its start, when all points before `next` are done. Points that have passed
 * are skipped, except the newest, which stays due for MOST_LATE_MS. `dueMs` counts from the start.
 */
export const gridState = (
  elapsedMs: number,
  next: number,
  { durationMs, intervalMs }: Pick<TickRun, "durationMs" | "intervalMs">
): GridState => {
  const dueMs = Math.min(next * intervalMs, durationMs)
  if (elapsedMs < dueMs) {
    return { _tag: "Waiting", dueMs }
  }
  if (elapsedMs >= durationMs) {
    return { _tag: "Over", skipped: Math.max(0, Math.ceil(durationMs / intervalMs) - next) }
  }
  const tick = Math.floor(elapsedMs / intervalMs)
  return elapsedMs - tick * intervalMs <= MOST_LATE_MS
    ? { _tag: "Due", tick, skipped: tick - next }
    : { _tag: "Late", tick, skipped: tick - next + 1 }
}

/**
 * Runs all ticks after the first, until the stream ends. A tick that is priced and charged at once costs no fiber and no
 * timer of its own.
 */
export const runTicks = (wheel: TimerWheel, quote: TickQuote, run: TickRun): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.callback<void>((resume) => {
      const { session, startedAt } = run
      const clock = Context.get(context, Clock.Clock)
      const fork = Effect.runForkWith(context)
      const tickOf = makeTick(quote, run, clock)
      let next = 1
      let running: Fiber.Fiber<void> | undefined
      let isStopped = false

      const settled = (exit: Exit.Exit<void>): void => {
        running = undefined
        return Exit.isSuccess(exit) ? proceed() : resume(exit)
      }

      const proceed = (): void => {
        if (isStopped || session.closed) {
          return resume(Effect.void)
        }
        const state = gridState(monotonicMs(clock) - startedAt, next, run)
        if (state._tag === "Waiting") {
          return wheel.at(startedAt + state.dueMs, proceed)
        }
        session.skipped(state.skipped)
        if (state._tag === "Over") {
          return resume(Effect.sync(() => session.close("completed", clock.currentTimeMillisUnsafe())))
        }
        next = state.tick + 1
        if (state._tag === "Late") {
          return proceed()
        }
        const ticked = withClock(clock, () => tickOf(state.tick))
        if (Exit.isExit(ticked)) {
          return settled(ticked as Exit.Exit<void>)
        }
        running = fork(ticked)
        running.addObserver(settled)
      }

      proceed()
      return Effect.suspend(() => {
        isStopped = true
        return running === undefined ? Effect.void : Fiber.interrupt(running)
      })
    })
  )
