import type { Client, Plain } from "./createClient.ts"
import { marketEvents } from "./marketEvents.ts"
import type { MarketEvent, MarketSubscription } from "./MarketMemory.ts"
import { eventsOver, sessionOf, type SocketOptions } from "./sockets.ts"

/**
 * Live events of the market until the loop is left, across reconnections: for each subscription a snapshot, then its
 * frames in order. `id` names the subscription; by default it is its place in the list. A `gap` stands for events that
 * could not be recovered, `ended` for a subscription that the service ended. Throws a `FathomError` when the service
 * rejects permanently.
 */
export const watchMarket = (
  client: Pick<Client, "marketRealtime">,
  subscriptions: ReadonlyArray<Plain<MarketSubscription>>,
  options: SocketOptions = {}
): AsyncIterable<MarketEvent> => {
  const session = sessionOf((call) => client.marketRealtime.session({}, call))
  // The service validates addresses.
  const events = marketEvents({ session, subscriptions: subscriptions as ReadonlyArray<MarketSubscription> })
  return eventsOver(events, options)
}
