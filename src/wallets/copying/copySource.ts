/** Records the copies that an application executes. */
import { Effect, Layer, Stream } from "effect"
import type { CopyFill, NewFollow } from "../../api/schemas/Copying.ts"
import { keepRunning, keepTrying } from "../../operations/keepRunning.ts"
import { FollowStore } from "./FollowStore.ts"

/** Everything that one account copies, from an application that holds its follows and executes their copies. */
export interface CopySource {
  readonly accountId: string
  /** All follows of the account. Recorded follows that are not among them are removed, with their fills. */
  readonly follows: ReadonlyArray<NewFollow>
  /** All fills of these follows, from the first. A fill that comes again is recorded once. */
  readonly fills: Stream.Stream<CopyFill>
}

const untilStored = keepTrying("Storing a copy")

/**
 * Records the follows and fills of a source in the background, for as long as the layer's scope lives. While the store is
 * unavailable every write is retried once a second; nothing waits for it.
 *
 * Extension point of an embedding application: no endpoint writes follows or fills. An application that keeps several
 * accounts, or changes follows, calls `FollowStore.recordFollow` and `recordFill` itself.
 */
export const keepCopies = (source: CopySource): Layer.Layer<never, never, FollowStore> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const store = yield* FollowStore
      const begin = Effect.gen(function* () {
        const kept = source.follows.map(({ id }) => id)
        yield* store.forgetOthers(source.accountId, kept)
        yield* Effect.forEach(source.follows, store.recordFollow, { discard: true })
      })
      yield* begin.pipe(
        untilStored,
        Effect.andThen(Stream.runForEach(source.fills, (fill) => untilStored(store.recordFill(fill)))),
        keepRunning("Recording copies"),
        Effect.forkScoped
      )
    })
  )
