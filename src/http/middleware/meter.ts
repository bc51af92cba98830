import { Effect, type Fiber } from "effect"
import type { RateLimiter } from "../../access/RateLimiter.ts"
import type { Meter } from "../../api/middleware/Metering.ts"
import { LimiterUnavailable, RateLimited } from "../../api/problems.ts"
import { type BudgetExceeded, type BudgetName, budgets, type BudgetState, type Charge } from "../../domain/Budget.ts"
import { decide, decideOn } from "./decisionDeadline.ts"
import type { RequestContext } from "./RequestContext.ts"

type Limiter = RateLimiter["Service"]

/** What one request may be charged, and to whom. */
export interface Terms {
  /** The fiber of the request. */
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly context: RequestContext
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

const admit = ({ fiber, key, limiter }: Terms, budget: BudgetName, cost: number) =>
  decideOn(fiber, limiter.admit({ key, budget, cost }), unavailable, (charge) => limiter.refund(charge))

const turnAway = (context: RequestContext, refused: BudgetExceeded, state: Pick<BudgetState, "remaining">) => {
  context.reading = {
    budget: refused.budget,
    limit: refused.limit,
    remaining: state.remaining,
    resetAtMs: refused.fitsAtMs,
    cost: 0,
    refused: true
  }
  return rateLimited(refused.budget)
}

/** Notes a charge, and what the headers of the answer then say. */
export const recordCharge = (context: RequestContext, charge: Charge): Charge => {
  context.charges.push(charge)
  context.reading = {
    budget: charge.budget,
    limit: charge.limit,
    remaining: charge.remaining,
    resetAtMs: charge.resetAtMs,
    cost: context.charges.reduce((sum, { cost }) => sum + cost, 0),
    refused: false
  }
  return charge
}

/** What the limiter itself says is logged; that it said nothing in time has been already. */
const down = (error: { readonly cause?: unknown }): Effect.Effect<never, LimiterUnavailable> =>
  error.cause === undefined
    ? Effect.fail(unavailable())
    : Effect.andThen(Effect.logError("The limiter is unavailable", error.cause), Effect.fail(unavailable()))

/** Whole or not at all: what was charged up front goes back before the refusal leaves. */
const turnBack = (terms: Terms, refused: BudgetExceeded) =>
  Effect.forEach(terms.context.charges.splice(0), (charge) => decide(terms.limiter.refund(charge), unavailable)).pipe(
    Effect.catchTag("LimiterUnavailable", unavailable),
    Effect.flatMap((states) => turnAway(terms.context, refused, states.at(-1) ?? refused))
  )

const raise = (terms: Terms, budget: BudgetName, units: number) => {
  const due = units - (terms.context.reading?.cost ?? 0)
  return due <= 0
    ? Effect.void
    : admit(terms, budget, due).pipe(
        Effect.map((charge) => void recordCharge(terms.context, charge)),
        Effect.catch((error) => (error._tag === "BudgetExceeded" ? turnBack(terms, error) : down(error)))
      )
}

const freeMeter: Meter["Service"] = { charge: null, raiseTo: () => Effect.void }

/** Charges what is due up front and gives the meter of the rest of the request. */
export const makeMeter = (terms: Terms): Effect.Effect<Meter["Service"], RateLimited | LimiterUnavailable> => {
  const { budget, cost, context } = terms
  if (budget === null) {
    return Effect.succeed(freeMeter)
  }
  const admitted = Effect.catchEager(
    admit(terms, budget, cost),
    (error): Effect.Effect<never, RateLimited | LimiterUnavailable> =>
      error._tag === "BudgetExceeded" ? Effect.fail(turnAway(context, error, error)) : down(error)
  )
  return Effect.mapEager(admitted, (charge) => ({
    charge: recordCharge(context, charge),
    raiseTo: (units: number) => Effect.suspend(() => raise(terms, budget, units))
  }))
}
