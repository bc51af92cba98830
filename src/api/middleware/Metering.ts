/**
 * Cost of a request. Admission charges `Cost` units of `Budget` once the key is known and before the query or the body
 * is read, so an invalid request is charged too. Charges are refunded when the response is a 5xx.
 *
 * A handler whose price depends on the body leaves `Cost` at 1, which is what an invalid body costs, and raises the
 * price before it does any work:
 *
 *     const meter = yield* Meter
 *     yield* meter.raiseTo(ladder.length)
 *
 * A stream leaves `Cost` at 1 as well. That unit pays for its first tick (`meter.charge`). `RateLimiter` itself admits
 * each later tick, because the headers have been sent by then.
 */
import { Context, type Effect } from "effect"
import type { BudgetName, Charge } from "../schemas/Budget.ts"
import type { LimiterUnavailable, RateLimited } from "../errors/problems.ts"

/** Endpoint annotation. The budget that the endpoint is charged to; null makes it free. */
export const Budget = Context.Reference<BudgetName | null>("fathom/api/middleware/Metering/Budget", {
  defaultValue: () => "rest"
})

/** Endpoint annotation. The units that are charged up front. */
export const Cost = Context.Reference<number>("fathom/api/middleware/Metering/Cost", { defaultValue: () => 1 })

/**
 * Endpoint annotation. True for a read that is usually answered from memory, so that the fast path tries it before the
 * router. Its handler reads only `params` and `query` of its input, and adds no header to its answer.
 */
export const FromMemory = Context.Reference<boolean>("fathom/api/middleware/Metering/FromMemory", {
  defaultValue: () => false
})

/** The meter of the current request. */
export class Meter extends Context.Service<
  Meter,
  {
    /** The up-front charge; null on a free endpoint. */
    readonly charge: Charge | null
    /**
     * Raises the price of this request to `units` in total. The whole rise is admitted or nothing; a rejection also
     * refunds the up-front charge.
     */
    raiseTo(units: number): Effect.Effect<void, RateLimited | LimiterUnavailable>
    /**
     * Lowers the price of this request to `units` in total, because charged work was not done. Nothing changes when the
     * price is lower already. Rejected, with nothing charged, when another request takes the room while the charges are
     * exchanged.
     */
    lowerTo(units: number): Effect.Effect<void, RateLimited | LimiterUnavailable>
  }
>()("fathom/api/middleware/Metering/Meter") {}
