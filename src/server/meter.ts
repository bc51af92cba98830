import { Effect } from "effect"
import type { RateLimiter } from "../access/RateLimiter.ts"
import type { Meter } from "../api/Metering.ts"
import { LimiterUnavailable, RateLimited } from "../api/problems.ts"
import { type BudgetExceeded, type BudgetName, budgets, type BudgetState, type Charge } from "../domain/Budget.ts"
import { decide } from "./decide.ts"
import type { Exchange } from "./Exchange.ts"

type Limiter = RateLimiter["Service"]

/** What one request may be charged, and to whom. */
export interface Terms {
  readonly exchange: Exchange
  readonly limiter: Limiter
  readonly key: string
  /** Null where nothing is charged. */
  readonly budget: BudgetName | null
  readonly cost: number
}

const unavailable = () => new LimiterUnavailable()

/** The 429 of one budget. */
export const rateLimited = (budget: BudgetName) =>
  new RateLimited({
    error: {
      message: `The ${budget} budget of ${budgets[budget].limit} units a minute has no room for this request.`,
      details: [{ in: "header", field: budget, issue: "out_of_range" }]
    }
  })

const admit = (limiter: Limiter, key: string, budget: BudgetName, cost: number) =>
  decide(limiter.admit({ key, budget, cost }), unavailable, (charge) => limiter.refund(charge)).pipe(
    Effect.catchTag("LimiterUnavailable", unavailable)
  )

const turnAway = (exchange: Exchange, refused: BudgetExceeded, state: Pick<BudgetState, "remaining">) => {
  exchange.reading = {
    budget: refused.budget,
    limit: refused.limit,
    remaining: state.remaining,
    resetAtMs: refused.fitsAtMs,
    cost: 0,
    refused: true
  }
  return rateLimited(refused.budget)
}

const record = (exchange: Exchange, charge: Charge): Charge => {
  exchange.charges.push(charge)
  exchange.reading = {
    budget: charge.budget,
    limit: charge.limit,
    remaining: charge.remaining,
    resetAtMs: charge.resetAtMs,
    cost: exchange.charges.reduce((sum, { cost }) => sum + cost, 0),
    refused: false
  }
  return charge
}

/** Charges what is due up front and gives the meter of the rest of the request. */
export const makeMeter = (terms: Terms): Effect.Effect<Meter["Service"], RateLimited | LimiterUnavailable> => {
  const { budget, cost, exchange, key, limiter } = terms
  if (budget === null) {
    return Effect.succeed({ charge: null, raiseTo: () => Effect.void })
  }

  const raiseTo = Effect.fnUntraced(function* (units: number) {
    const due = units - (exchange.reading?.cost ?? 0)
    if (due <= 0) {
      return
    }
    yield* admit(limiter, key, budget, due).pipe(
      Effect.map((charge) => record(exchange, charge)),
      Effect.catchTag("BudgetExceeded", (refused) =>
        // Whole or not at all: what was charged up front goes back before the refusal leaves.
        Effect.forEach(exchange.charges.splice(0), (charge) => decide(limiter.refund(charge), unavailable)).pipe(
          Effect.catchTag("LimiterUnavailable", unavailable),
          Effect.flatMap((states) => turnAway(exchange, refused, states.at(-1) ?? refused))
        )
      )
    )
  })

  return admit(limiter, key, budget, cost).pipe(
    Effect.map((charge) => ({ charge: record(exchange, charge), raiseTo })),
    Effect.catchTag("BudgetExceeded", (refused) => turnAway(exchange, refused, refused))
  )
}
