/** Tickets of the market socket that any process of a service can redeem. */
import { Layer } from "effect"
import type { CallerLimits } from "../../access/CallerLimits.ts"
import { makeValkeyTickets } from "../valkeyTickets.ts"
import type { Valkey } from "../../storage/valkey/Valkey.ts"
import { MarketGrant, MarketTickets, SESSIONS } from "./MarketTickets.ts"

export const layer: Layer.Layer<MarketTickets, never, CallerLimits | Valkey> = Layer.effect(
  MarketTickets,
  makeValkeyTickets(SESSIONS, MarketGrant)
)
