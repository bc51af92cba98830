import { Clock, Context, Effect, Layer } from "effect"
import { monotonicMs, withClock } from "../domain/loopTime.ts"
import {
  BudgetExceeded,
  type BudgetName,
  budgets,
  type BudgetState,
  type BudgetTerms,
  type Caller,
  type Charge,
  type LimiterUnavailable,
  termsOf
} from "../api/schemas/Budget.ts"
import { KeyedBudget, type KeyBudget } from "./KeyedBudget.ts"

/** Charges the budgets of a key: at most `limit` units of its plan in any window, exactly. */
export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /** True when every decision is made in memory, before the call returns. */
    readonly isImmediate: boolean
    /** Charges the whole cost or nothing. With a clock, a decision in memory is made at once: the effect is an `Exit` then. */
    admit(
      request: { readonly key: Caller; readonly budget: BudgetName; readonly cost: number },
      clock?: Clock.Clock
    ): Effect.Effect<Charge, BudgetExceeded | LimiterUnavailable>
    /** Gives a charge back. Giving it back twice, or after it left the window, changes nothing. */
    refund(charge: Charge): Effect.Effect<BudgetState, LimiterUnavailable>
    /** State of a budget; charges nothing. */
    peek(key: Caller, budget: BudgetName, clock?: Clock.Clock): Effect.Effect<BudgetState, LimiterUnavailable>
  }
>()("fathom/access/RateLimiter") {
  /** Budgets of this process alone. The monotonic clock measures the windows, so changing the date moves nothing. */
  static readonly layerMemory: Layer.Layer<RateLimiter> = Layer.sync(RateLimiter, () => {
    const meters = { rest: new KeyedBudget(budgets.rest), quote: new KeyedBudget(budgets.quote) }

    return RateLimiter.of({
      isImmediate: true,
      admit: ({ budget, cost, key }, clock) =>
        withClock(clock, (clock) => {
          if (!Number.isSafeInteger(cost) || cost < 0) {
            return Effect.die(new RangeError(`a cost is a whole number of units, not ${cost}`))
          }
          const terms = termsOf(key.plan, budget)
          const decision = meters[budget].admit(key.id, cost, monotonicMs(clock), terms)
          const atMs = clock.currentTimeMillisUnsafe()
          const { limit, remaining, resetAtMs, windowMs } = stateOf(budget, terms, decision, atMs)
          return decision._tag === "Admitted"
            ? Effect.succeed({
                budget,
                limit,
                windowMs,
                remaining,
                resetAtMs,
                key: key.id,
                cost,
                atMs,
                seq: decision.seq
              })
            : Effect.fail(
                new BudgetExceeded({
                  budget,
                  cost,
                  limit,
                  windowMs,
                  remaining,
                  fitsAtMs: Math.ceil(atMs + decision.fitsInMs)
                })
              )
        }),
      refund: ({ budget, key, limit, seq, windowMs }) =>
        Clock.clockWith((clock) => {
          const terms = { limit, windowMs }
          const budgetState = meters[budget].refund(key, seq, monotonicMs(clock), terms)
          return Effect.succeed(stateOf(budget, terms, budgetState, clock.currentTimeMillisUnsafe()))
        }),
      peek: (key, budget, clock) =>
        withClock(clock, (clock) => {
          const terms = termsOf(key.plan, budget)
          const budgetState = meters[budget].peek(key.id, monotonicMs(clock), terms)
          return Effect.succeed(stateOf(budget, terms, budgetState, clock.currentTimeMillisUnsafe()))
        })
    })
  })
}

/** The state of a budget. Times are whole milliseconds, rounded up: a caller who waits that long never comes too early. */
export const stateOf = (
  budget: BudgetName,
  { limit, windowMs }: BudgetTerms,
  { remaining, resetInMs }: KeyBudget,
  nowMs: number
): BudgetState => ({ budget, limit, windowMs, remaining, resetAtMs: Math.ceil(nowMs + resetInMs) })
