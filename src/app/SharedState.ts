/** State in Valkey. Loaded where `VALKEY_URL` is set. */
import { Layer } from "effect"
import * as RateLimiterValkey from "../access/RateLimiterValkey.ts"
import * as ValkeyRedis from "../storage/valkey/ValkeyRedis.ts"

/** The state that processes share through the server at this address. */
export const layer = (url: string) =>
  Layer.mergeAll(RateLimiterValkey.layer).pipe(Layer.provide(ValkeyRedis.layer(url)))
