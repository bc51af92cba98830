/** What the invented application that copies has to tell, across threads too. */
import { Effect, Queue, type Scope, Stream } from "effect"
import type { CopyFill, NewFollow } from "../domain/Copying.ts"

/** Follows and fills, in the order in which they came about. Plain data, so that it can be copied between threads. */
export interface CopyJournal {
  readonly follows: ReadonlyArray<NewFollow>
  readonly write: (fill: CopyFill) => void
  /** Tells one listener of every fill: at once of those so far, then of each as it comes. What is told is not kept. */
  readonly listen: (hear: (fill: CopyFill) => void) => void
}

/** What the side that listens gets. */
export interface Copies {
  readonly follows: ReadonlyArray<NewFollow>
  readonly fills: Stream.Stream<CopyFill>
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

/** The fills that `listen` tells of, for one reader. */
export const fillsOf = (listen: CopyJournal["listen"]): Effect.Effect<Copies["fills"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const queue = yield* Effect.acquireRelease(Queue.unbounded<CopyFill>(), Queue.shutdown)
    listen((fill) => Queue.offerUnsafe(queue, fill))
    return Stream.fromQueue(queue)
  })
