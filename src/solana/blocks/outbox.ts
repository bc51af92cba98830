/** Events on their way to the one consumer. A slow consumer loses no state: what it left lying becomes one snapshot. */
import { Effect, Queue, Stream } from "effect"
import type { ChainEvent, Snapshot } from "../accounts/ChainFeed.ts"

/** The consumer's end, and ours. */
export interface Outbox {
  readonly events: Stream.Stream<ChainEvent>
  /** Tells the consumer; true when it had fallen so far behind that it is told everything anew. */
  readonly tell: (event: ChainEvent) => boolean
  /** What lies there matters: the consumer counts as behind until it has taken it. */
  readonly press: () => void
  /** Whether the consumer has yet to take what matters, or what replaced the events it was too slow for. */
  readonly isLagging: () => boolean
}

/** `everything` gives the newest state of every account that has been told, which says all that the events said. */
export const makeOutbox = Effect.fnUntraced(function* (
  backlog: number,
  everything: () => Snapshot
): Effect.fn.Return<Outbox> {
  const queue = yield* Queue.dropping<ChainEvent>(Math.max(1, backlog))
  let lagging = false
  return {
    events: Stream.fromQueue(queue),
    tell: (event) => {
      if (Queue.offerUnsafe(queue, event)) {
        return false
      }
      while (Queue.takeUnsafe(queue) !== undefined) {
        // Only to empty it.
      }
      Queue.offerUnsafe(queue, { _tag: "Snapshot", snapshot: everything() })
      lagging = true
      return true
    },
    press: () => {
      lagging = true
    },
    isLagging: () => {
      lagging = lagging && Queue.sizeUnsafe(queue) > 0
      return lagging
    }
  }
})
