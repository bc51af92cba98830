/** The client as a package of its own, without dependencies: promises, plain data, streams and sockets. */
export { fromAtomic, toAtomic } from "../../domain/decimal.ts"
export { createClient } from "../createClient.ts"
export { FathomError } from "../FathomError.ts"
import type { Client } from "../createClient.ts"
import { watchMarket as overMarket } from "../watchMarket.ts"
import { watchTracker as overTracker } from "../watchTracker.ts"
import { platformSocket } from "./nodeSocket.ts"

/** `watchTracker` over the sockets of the platform, or those of Node where it has no `WebSocket`. */
export const watchTracker: typeof overTracker = (client: Pick<Client, "tracker">, options = {}) =>
  overTracker(client, { webSocket: platformSocket, ...options })

/** `watchMarket` over the sockets of the platform, or those of Node where it has no `WebSocket`. */
export const watchMarket: typeof overMarket = (client, subscriptions, options = {}) =>
  overMarket(client, subscriptions, { webSocket: platformSocket, ...options })
