import { Effect, Stream } from "effect"
import { Socket } from "effect/socket"
import { type Client, iterableOf } from "./createClient.ts"
import { asFathomError } from "./FathomError.ts"
import { trackerEvents } from "./trackerEvents.ts"
import type { TrackerEvent } from "./TrackerMemory.ts"

/** What is listened to, and how. */
export interface WatchOptions {
  /** Only the wallets of this group; all of the account unless given. */
  readonly group?: string
  /** Whether control frames are told as well: heartbeats and notices. */
  readonly control?: boolean
  /** Ends the loop with the reason of the signal. */
  readonly signal?: AbortSignal
  /** In place of the `WebSocket` of the platform. */
  readonly webSocket?: (url: string) => Socket.WebSocketLike
}

/**
 * What the tracked wallets do, from now until the loop is left: a snapshot first, then each trade once, in order, across as
 * many connections as it takes. A `gap` says what could not be had again. Throws a `FathomError` when the service refuses for
 * good.
 */
export const watchTracker = (
  client: Pick<Client, "tracker">,
  { control = false, group, signal, webSocket }: WatchOptions = {}
): AsyncIterable<TrackerEvent> => {
  const query = group === undefined ? { control: true } : { control: true, group }
  const session = Effect.tryPromise({
    try: (given) => client.tracker.session({ query }, { signal: given }),
    catch: (failure) => failure
  }).pipe(Effect.catch((failure) => Effect.flatMap(asFathomError(failure, undefined), Effect.fail)))
  const events = trackerEvents({ session, control })
  const over =
    webSocket === undefined
      ? Stream.provide(events, Socket.layerWebSocketConstructorGlobal)
      : Stream.provideService(events, Socket.WebSocketConstructor, webSocket)
  return iterableOf(over, signal)
}
