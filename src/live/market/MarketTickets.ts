import { Context, Layer, Schema } from "effect"
import { CallerLimits } from "../../access/CallerLimits.ts"
import { Plan } from "../../api/schemas/Plan.ts"
import { makeTickets, type TicketBook } from "../tickets.ts"

/** Name under which session calls of the market socket are counted. */
export const SESSIONS = "market_sessions"

/** The key and account that a ticket admits, and the plan that pays. */
export class MarketGrant extends Schema.Opaque<MarketGrant>()(
  Schema.Struct({
    keyId: Schema.String,
    session: Schema.NullOr(Schema.String).annotate({ description: "The reference of the session; null for a key." }),
    accountId: Schema.String,
    control: Schema.Boolean.annotate({ description: "True if the client receives control frames." }),
    streamId: Schema.String,
    sockets: Schema.optionalKey(Schema.NullOr(Schema.Int)).annotate({
      description:
        "Connections of the key; the limit of the specification unless given, null for a connection that was counted elsewhere."
    }),
    paidUntilMs: Schema.optionalKey(Schema.Int).annotate({
      description: "Time up to which the first subscriptions are paid by the request that opened the stream."
    }),
    plan: Plan
  })
) {}

/** Single-use tickets of the market socket. */
export class MarketTickets extends Context.Service<MarketTickets, TicketBook<MarketGrant>>()(
  "fathom/live/market/MarketTickets"
) {
  /** Tickets of this process only. */
  static readonly layerMemory: Layer.Layer<MarketTickets> = Layer.effect(
    MarketTickets,
    makeTickets<MarketGrant>(SESSIONS)
  ).pipe(Layer.provide(CallerLimits.layerMemory))
}
