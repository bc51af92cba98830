import { Context, Layer, Schema } from "effect"
import { CallerLimits } from "../../access/CallerLimits.ts"
import { Address } from "../../domain/Address.ts"
import { GroupId } from "../../api/schemas/Tracker.ts"
import { makeTickets, type TicketBook } from "../../live/tickets.ts"

/** Name under which session calls of the tracker are counted. */
export const SESSIONS = "sessions"

/** The key, account and wallets that a ticket admits to. Other parameters of the URL are ignored. */
export class Grant extends Schema.Opaque<Grant>()(
  Schema.Struct({
    keyId: Schema.String,
    session: Schema.NullOr(Schema.String).annotate({ description: "The reference of the session; null for a key." }),
    accountId: Schema.String,
    wallets: Schema.Array(Address).annotate({
      description: "Wallets tracked when the ticket was issued, in list order; never empty."
    }),
    group: Schema.NullOr(GroupId).annotate({ description: "Null for every group." }),
    control: Schema.Boolean.annotate({ description: "True if the client requested control frames." }),
    streamId: Schema.String,
    sockets: Schema.optionalKey(Schema.Int).annotate({
      description: "Connections of the key; the limit of the specification unless given."
    })
  })
) {}

/** Single-use tickets of the tracker. */
export class Tickets extends Context.Service<Tickets, TicketBook<Grant>>()("fathom/wallets/tracker/Tickets") {
  /** Tickets of this process only. */
  static readonly layerMemory: Layer.Layer<Tickets> = Layer.effect(Tickets, makeTickets<Grant>(SESSIONS)).pipe(
    Layer.provide(CallerLimits.layerMemory)
  )
}
