import { Effect, Stream } from "effect"
import { Socket } from "effect/socket"
import { type Client, iterableOf } from "./createClient.ts"
import { asFathomError } from "./FathomError.ts"
import { trackerEvents } from "./trackerEvents.ts"
import type { TrackerEvent } from "./TrackerMemory.ts"

/** Options of a tracker subscription. */
export interface WatchOptions {
  /** Only the wallets of this group; all wallets of the account unless given. */
  readonly group?: string
  /** Adds control frames: heartbeats and notices. */
  readonly control?: boolean
  /** Ends the loop with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Replaces the `WebSocket` of the platform. */
  readonly webSocket?: (url: string) => Socket.WebSocketLike
}

/**
 * Live events of the tracked wallets until the loop is left: a snapshot, then each trade once, in order, across reconnections.
 * A `gap` marks events that could not be recovered. Throws a `FathomError` when the service rejects the session permanently.
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
