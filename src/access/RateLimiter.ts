import { Context, type Effect } from "effect"
import type { BudgetExceeded, BudgetName, BudgetState, Charge, LimiterUnavailable } from "../domain/Budget.ts"

/** Admits costs against the budgets of a key: at most `limit` units in any 60 seconds, exactly. */
export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /** Charges the whole cost or nothing. */
    admit(request: {
      readonly key: string
      readonly budget: BudgetName
      readonly cost: number
    }): Effect.Effect<Charge, BudgetExceeded | LimiterUnavailable>
    /** Gives a charge back. Giving it back twice, or after it left the window, changes nothing. */
    refund(charge: Charge): Effect.Effect<BudgetState, LimiterUnavailable>
    /** Where a budget stands; costs nothing. */
    peek(key: string, budget: BudgetName): Effect.Effect<BudgetState, LimiterUnavailable>
  }
>()("fathom/access/RateLimiter") {}
