/** The queue of events for one consumer. A slow consumer loses no state: one snapshot replaces a full queue. */
import { Effect, Queue, Stream } from "effect"
import type { ChainEvent, Snapshot } from "../ChainFeed.ts"

/** Both ends of the queue. */
export interface Outbox {
  readonly events: Stream.Stream<ChainEvent>
  /** Queues an event. True when the queue was full and a snapshot of everything replaced it. */
  readonly offer: (event: ChainEvent) => boolean
  /** Makes the consumer count as lagging until it has taken the queued events. */
  readonly markLagging: () => void
  /** True until the consumer has taken the queued events or the snapshot that replaced them. */
  readonly isLagging: () => boolean
}

/** `everything` returns the newest state of every emitted account, which makes all queued events superfluous. */
export const makeOutbox = Effect.fnUntraced(function* (
  backlog: number,
  everything: () => Snapshot
): Effect.fn.Return<Outbox> {
  const queue = yield* Queue.dropping<ChainEvent>(Math.max(1, backlog))
  let lagging = false
  return {
    events: Stream.fromQueue(queue),
    offer: (event) => {
      if (Queue.offerUnsafe(queue, event)) {
        return false
      }
      while (Queue.takeUnsafe(queue) !== undefined) {
        // Empties the queue.
      }
      Queue.offerUnsafe(queue, { _tag: "Snapshot", snapshot: everything(), isAfterGap: true })
      lagging = true
      return true
    },
    markLagging: () => {
      lagging = true
    },
    isLagging: () => {
      lagging = lagging && Queue.sizeUnsafe(queue) > 0
      return lagging
    }
  }
})
