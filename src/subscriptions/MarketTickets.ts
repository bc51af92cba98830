import { Context, Layer } from "effect"
import type { Plan } from "../domain/keys/Plan.ts"
import type { LiveGrant } from "../live/LiveGrant.ts"
import { makeTickets, type TicketBook } from "../live/tickets.ts"

/** The key and account that a ticket admits, and the plan whose budget pays. */
export interface MarketGrant extends LiveGrant {
  readonly plan: Plan
}

/** Single-use tickets of the market socket. */
export class MarketTickets extends Context.Service<MarketTickets, TicketBook<MarketGrant>>()(
  "fathom/subscriptions/MarketTickets"
) {
  /** Tickets of this process only. */
  static readonly layerMemory: Layer.Layer<MarketTickets> = Layer.effect(MarketTickets, makeTickets<MarketGrant>())
}
