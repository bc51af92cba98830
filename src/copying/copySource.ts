/** Where copies come from: the application that makes them tells of them, and they are kept. */
import { Context, Effect, Layer, Schedule, Stream } from "effect"
import type { CopyFill, NewFollow } from "../domain/wallets/Copying.ts"
import { FollowStore } from "./FollowStore.ts"

/** What one account copies on a chain that begins anew with the process. */
export interface CopySource {
  readonly accountId: string
  readonly follows: ReadonlyArray<NewFollow>
  /** From the beginning; a fill that is told again is kept once. */
  readonly fills: Stream.Stream<CopyFill>
}

/** Copies of a market without people: none, unless the market is invented. */
export const CopySource = Context.Reference<CopySource | null>("fathom/copying/CopySource", {
  defaultValue: () => null
})

const again = Schedule.spaced("1 second")

/**
 * Keeps what the source tells, for as long as the scope lives. What the account had copied on a chain that is gone is
 * forgotten with it. A store that is away is asked again, and nobody waits for it.
 */
export const keepCopies: Layer.Layer<never, never, FollowStore> = Layer.effectDiscard(
  Effect.gen(function* () {
    const source = yield* CopySource
    const store = yield* FollowStore
    if (source === null) {
      return
    }
    const begin = Effect.gen(function* () {
      const kept = source.follows.map(({ id }) => id)
      yield* store.forgetOthers(source.accountId, kept)
      yield* Effect.forEach(source.follows, store.recordFollow, { discard: true })
    })
    const keep = Stream.runForEach(source.fills, (fill) => Effect.retry(store.recordFill(fill), again))
    yield* begin.pipe(
      Effect.retry(again),
      Effect.andThen(keep),
      Effect.tapDefect((defect) => Effect.logError("Copies are no longer kept", defect)),
      Effect.forkScoped
    )
  })
)
