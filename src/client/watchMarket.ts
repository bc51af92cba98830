import { Effect, Stream } from "effect"
import { Socket } from "effect/socket"
import { type Client, iterableOf, type Plain } from "./createClient.ts"
import { asFathomError } from "./FathomError.ts"
import { marketEvents } from "./marketEvents.ts"
import type { MarketEvent, MarketSubscription } from "./MarketMemory.ts"
import type { WatchOptions } from "./watchTracker.ts"

/**
 * Live events of the market until the loop is left: for each subscription a snapshot, then its frames in order, across
 * reconnections; `id` names the subscription, by default the number of its place in the list. A `gap` marks events that could not be
 * recovered, `ended` a subscription that the service ended. Throws a `FathomError` when the service rejects permanently.
 */
export const watchMarket = (
  client: Pick<Client, "marketRealtime">,
  subscriptions: ReadonlyArray<Plain<MarketSubscription>>,
  { signal, webSocket }: Pick<WatchOptions, "signal" | "webSocket"> = {}
): AsyncIterable<MarketEvent> => {
  const session = Effect.tryPromise({
    try: (given) => client.marketRealtime.session({}, { signal: given }),
    catch: (failure) => failure
  }).pipe(Effect.catch((failure) => Effect.flatMap(asFathomError(failure, undefined), Effect.fail)))
  // The service validates addresses.
  const events = marketEvents({ session, subscriptions: subscriptions as ReadonlyArray<MarketSubscription> })
  const over =
    webSocket === undefined
      ? Stream.provide(events, Socket.layerWebSocketConstructorGlobal)
      : Stream.provideService(events, Socket.WebSocketConstructor, webSocket)
  return iterableOf(over, signal)
}
