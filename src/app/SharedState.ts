/** State in Valkey. Loaded where `VALKEY_URL` is set. */
import { Layer } from "effect"
import * as CallerLimitsValkey from "../access/CallerLimitsValkey.ts"
import * as RateLimiterValkey from "../access/RateLimiterValkey.ts"
import * as ValkeyRedis from "../storage/valkey/ValkeyRedis.ts"
import * as MarketTicketsValkey from "../subscriptions/MarketTicketsValkey.ts"
import * as TicketsValkey from "../tracker/tickets/TicketsValkey.ts"

/** The state that processes share through the server at this address. */
export const layer = (url: string) =>
  Layer.merge(TicketsValkey.layer, MarketTicketsValkey.layer).pipe(
    Layer.provideMerge([RateLimiterValkey.layer, CallerLimitsValkey.layer]),
    Layer.provide(ValkeyRedis.layer(url))
  )
