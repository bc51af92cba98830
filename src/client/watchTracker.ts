import type { Client } from "./createClient.ts"
import { eventsOver, sessionOf, type SocketOptions } from "./sockets.ts"
import { trackerEvents } from "./trackerEvents.ts"
import type { TrackerEvent } from "./TrackerMemory.ts"

export interface WatchOptions extends SocketOptions {
  /** Only the wallets of this group. By default all wallets of the account. */
  readonly group?: string
  /** Adds control frames: heartbeats and notices. */
  readonly control?: boolean
}

/**
 * Live events of the tracked wallets until the loop is left, across reconnections: a snapshot, then each trade once, in
 * order. A `gap` stands for events that could not be recovered. Throws a `FathomError` when the service rejects the
 * session permanently.
 */
export const watchTracker = (
  client: Pick<Client, "tracker">,
  { control = false, group, ...options }: WatchOptions = {}
): AsyncIterable<TrackerEvent> => {
  const query = group === undefined ? { control: true } : { control: true, group }
  const session = sessionOf((call) => client.tracker.session({ query }, call))
  return eventsOver(trackerEvents({ session, control }), options)
}
