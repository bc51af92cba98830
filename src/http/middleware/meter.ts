import { Clock, Effect, type Fiber } from "effect"
import type { RateLimiter } from "../../access/RateLimiter.ts"
import type { Meter } from "../../api/middleware/Metering.ts"
import { LimiterUnavailable, type RateLimited } from "../../api/errors/problems.ts"
import {
  type BudgetExceeded,
  type BudgetName,
  type BudgetState,
  type BudgetTerms,
  type Caller,
  type Charge
} from "../../api/schemas/Budget.ts"
import { withDecisionDeadline, withDecisionDeadlineOn } from "./decisionDeadline.ts"
import { limited } from "../problems.ts"
import type { RequestContext } from "./RequestContext.ts"

type Limiter = RateLimiter["Service"]

/** What the charges of one request depend on. */
export interface Terms {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly context: RequestContext
  readonly limiter: Limiter
  readonly key: Caller
  /** Null on a free endpoint. */
  readonly budget: BudgetName | null
  readonly cost: number
}

const unavailable = () => new LimiterUnavailable()

/** A 429 for a spent budget. */
export const rateLimited = (budget: BudgetName, { limit, windowMs }: BudgetTerms) => {
  const window = windowMs === 60_000 ? "a minute" : `in ${windowMs / 1000} seconds`
  return limited(budget, `The ${budget} budget of ${limit} units ${window} has no room for this request.`)
}

const admit = ({ fiber, key, limiter }: Terms, budget: BudgetName, cost: number) =>
  withDecisionDeadlineOn(
    fiber,
    limiter.admit({ key, budget, cost }, fiber.getRef(Clock.Clock)),
    unavailable,
    (charge) => limiter.refund(charge)
  )

/** Records a rejection in the context. `resetAtMs` is when the cost fits. */
export const recordRejection = (context: RequestContext, state: BudgetState): void => {
  const { budget, limit, remaining, resetAtMs, windowMs } = state
  context.reading = { budget, limit, windowMs, remaining, resetAtMs, cost: 0, refused: true }
}

const reject = (context: RequestContext, refused: BudgetExceeded, { remaining }: Pick<BudgetState, "remaining">) => {
  const { budget, fitsAtMs, limit, windowMs } = refused
  recordRejection(context, { budget, limit, windowMs, remaining, resetAtMs: fitsAtMs })
  return rateLimited(budget, refused)
}

/** Records a charge in the context, with the reading for the headers. */
export const recordCharge = (context: RequestContext, charge: Charge): Charge => {
  context.charges.push(charge)
  context.reading = {
    budget: charge.budget,
    limit: charge.limit,
    windowMs: charge.windowMs,
    remaining: charge.remaining,
    resetAtMs: charge.resetAtMs,
    cost: context.charges.reduce((sum, { cost }) => sum + cost, 0),
    refused: false
  }
  return charge
}

/** Fails with the 503. A limiter error is logged; a missed deadline has been logged already. */
const failUnavailable = (error: { readonly cause?: unknown }): Effect.Effect<never, LimiterUnavailable> =>
  error.cause === undefined
    ? Effect.fail(unavailable())
    : Effect.andThen(Effect.logError("The limiter is unavailable", error.cause), Effect.fail(unavailable()))

/** Refunds the charges of the request. */
const refundAll = (terms: Terms) =>
  Effect.forEach(terms.context.charges.splice(0), (charge) =>
    withDecisionDeadline(terms.limiter.refund(charge), unavailable)
  ).pipe(Effect.catchTag("LimiterUnavailable", unavailable))

/** Refunds the charges of the request before it is rejected. */
const rollback = (terms: Terms, refused: BudgetExceeded) =>
  refundAll(terms).pipe(Effect.flatMap((states) => reject(terms.context, refused, states.at(-1) ?? refused)))

const raise = (terms: Terms, budget: BudgetName, units: number) => {
  const due = units - (terms.context.reading?.cost ?? 0)
  return due <= 0
    ? Effect.void
    : admit(terms, budget, due).pipe(
        Effect.map((charge) => void recordCharge(terms.context, charge)),
        Effect.catch((error) => (error._tag === "BudgetExceeded" ? rollback(terms, error) : failUnavailable(error)))
      )
}

/** Refunds the charges and charges `units` instead. Rejected when another request took the room in between. */
const lower = (terms: Terms, budget: BudgetName, units: number) =>
  units >= (terms.context.reading?.cost ?? 0)
    ? Effect.void
    : Effect.flatMap(refundAll(terms), () => admit(terms, budget, units)).pipe(
        Effect.map((charge) => void recordCharge(terms.context, charge)),
        Effect.catch((error): Effect.Effect<never, RateLimited | LimiterUnavailable> =>
          error._tag === "BudgetExceeded" ? Effect.fail(reject(terms.context, error, error)) : failUnavailable(error)
        )
      )

const freeMeter: Meter["Service"] = { charge: null, raiseTo: () => Effect.void, lowerTo: () => Effect.void }

/** Charges the up-front cost and returns the meter of the request. */
export const makeMeter = (terms: Terms): Effect.Effect<Meter["Service"], RateLimited | LimiterUnavailable> => {
  const { budget, cost, context } = terms
  if (budget === null) {
    return Effect.succeed(freeMeter)
  }
  const admitted = Effect.catchEager(
    admit(terms, budget, cost),
    (error): Effect.Effect<never, RateLimited | LimiterUnavailable> =>
      error._tag === "BudgetExceeded" ? Effect.fail(reject(context, error, error)) : failUnavailable(error)
  )
  return Effect.mapEager(admitted, (charge) => ({
    charge: recordCharge(context, charge),
    raiseTo: (units: number) => Effect.suspend(() => raise(terms, budget, units)),
    lowerTo: (units: number) => Effect.suspend(() => lower(terms, budget, units))
  }))
}
