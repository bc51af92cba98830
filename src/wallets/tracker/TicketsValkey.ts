/** Tickets of the tracker that any process of a service redeems. */
import { Layer } from "effect"
import type { CallerLimits } from "../../access/CallerLimits.ts"
import { makeValkeyTickets } from "../../live/valkeyTickets.ts"
import type { Valkey } from "../../storage/valkey/Valkey.ts"
import { Grant, SESSIONS, Tickets } from "./Tickets.ts"

export const layer: Layer.Layer<Tickets, never, CallerLimits | Valkey> = Layer.effect(
  Tickets,
  makeValkeyTickets(SESSIONS, Grant)
)
