/**
 * Cost of a request. Admission charges `Cost` units of `Budget` once the key is known and before the query or the body is
 * read, so an invalid request is charged. Charges are refunded when the response is a 5xx.
 *
 * A handler whose price depends on the body leaves `Cost` at 1, which is what an invalid body costs, and raises the price
 * before it does any work:
 *
 *     const meter = yield* Meter
 *     yield* meter.raiseTo(ladder.length)
 *
 * A stream leaves `Cost` at 1 as well: the up-front unit pays its first tick (`meter.charge`), and each later tick is admitted
 * through `RateLimiter` itself, because the headers have been sent by then.
 */
import { Context, type Effect } from "effect"
import type { BudgetName, Charge } from "../../domain/Budget.ts"
import type { LimiterUnavailable, RateLimited } from "../problems.ts"

/** The budget an endpoint is charged to; null makes it free. Annotate an endpoint to change it. */
export const Budget = Context.Reference<BudgetName | null>("fathom/api/middleware/Metering/Budget", {
  defaultValue: () => "rest"
})

/** Units charged up front. Annotate an endpoint to change it. */
export const Cost = Context.Reference<number>("fathom/api/middleware/Metering/Cost", { defaultValue: () => 1 })

/** The meter of the current request. */
export class Meter extends Context.Service<
  Meter,
  {
    /** The up-front charge; null on a free endpoint. */
    readonly charge: Charge | null
    /**
     * Raises the price of this request to `units` in total. Admits the whole rise or nothing; a rejection refunds the
     * up-front charge too.
     */
    raiseTo(units: number): Effect.Effect<void, RateLimited | LimiterUnavailable>
    /**
     * Lowers the price of this request to `units` in total, for work that was charged and not done. A lower price is
     * unchanged. Rejected, with nothing charged, when another request takes the room while the price is exchanged.
     */
    lowerTo(units: number): Effect.Effect<void, RateLimited | LimiterUnavailable>
  }
>()("fathom/api/middleware/Metering/Meter") {}
