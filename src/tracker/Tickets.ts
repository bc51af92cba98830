import { Context, Layer } from "effect"
import type { Address } from "../domain/Address.ts"
import type { GroupId } from "../domain/wallets/Tracker.ts"
import type { LiveGrant } from "../live/LiveGrant.ts"
import { makeTickets, type TicketBook } from "../live/tickets.ts"

/** The key, account and wallets that a ticket admits to. Other parameters of the URL are ignored. */
export interface Grant extends LiveGrant {
  /** Wallets tracked when the ticket was issued, in list order; never empty. */
  readonly wallets: ReadonlyArray<Address>
  /** Null for every group. */
  readonly group: GroupId | null
}

/** Single-use tickets of the tracker. */
export class Tickets extends Context.Service<Tickets, TicketBook<Grant>>()("fathom/tracker/Tickets") {
  /** Tickets of this process only. */
  static readonly layerMemory: Layer.Layer<Tickets> = Layer.effect(Tickets, makeTickets<Grant>())
}
