/** Passes the simulated copier's fills between threads. */
import { Effect, Queue, Stream } from "effect"
import type { MessagePort } from "node:worker_threads"
import type { CopyFill, NewFollow } from "../../api/schemas/Copying.ts"

/** Follows, and fills in order. They are plain data, which can be copied between threads. */
export interface CopyJournal {
  readonly follows: ReadonlyArray<NewFollow>
  readonly write: (fill: CopyFill) => void
  /** Passes every fill to one listener: first all earlier fills, then each new one as it is written. */
  readonly listen: (onFill: (fill: CopyFill) => void) => void
}

/** Makes a journal that keeps fills until there is a listener. */
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
    listen: (onFill) => {
      waiting.forEach(onFill)
      waiting = []
      listener = onFill
    }
  }
}

/** The fills that a journal in another thread posts to this port. Only one reader may use it. */
export const fillsFrom = (port: MessagePort): Effect.Effect<Stream.Stream<CopyFill>> =>
  Effect.map(Queue.unbounded<CopyFill>(), (queue) => {
    port.on("message", (fill: CopyFill) => Queue.offerUnsafe(queue, fill))
    // An open port must not keep the process alive.
    port.unref()
    return Stream.fromQueue(queue)
  })
