/** What the invented application that copies has to tell, across threads too. */
import { Effect, Queue, Stream } from "effect"
import type { MessagePort } from "node:worker_threads"
import type { CopyFill, NewFollow } from "../../domain/wallets/Copying.ts"

/** Follows and fills, in the order in which they came about. Plain data, so that it can be copied between threads. */
export interface CopyJournal {
  readonly follows: ReadonlyArray<NewFollow>
  readonly write: (fill: CopyFill) => void
  /** Tells one listener of every fill: at once of those so far, then of each as it comes. What is told is not kept. */
  readonly listen: (hear: (fill: CopyFill) => void) => void
}

/** A journal that keeps what is written until somebody listens. */
export const makeCopyJournal = (follows: ReadonlyArray<NewFollow>): CopyJournal => {
  let waiting: Array<CopyFill> = []
  let listener: ((fill: CopyFill) => void) | null = null
  return {
    follows,
    write: (fill) => {
      if (listener === null) {
        waiting.push(fill)
      } else {
        listener(fill)
      }
    },
    listen: (hear) => {
      waiting.forEach(hear)
      waiting = []
      listener = hear
    }
  }
}

/** What a port tells that a journal of another thread writes to, for one reader. */
export const fillsFrom = (port: MessagePort): Effect.Effect<Stream.Stream<CopyFill>> =>
  Effect.map(Queue.unbounded<CopyFill>(), (queue) => {
    port.on("message", (fill: CopyFill) => Queue.offerUnsafe(queue, fill))
    // Whoever waits for copies is no reason for the process to live on.
    port.unref()
    return Stream.fromQueue(queue)
  })
