/** What the key store does in the background: it stores what requests have noted, and ends the streams of expired keys. */
import { Clock, Duration, Effect, PubSub, Schedule, type Scope } from "effect"
import { keepGoing, keepRunning } from "../operations/keepRunning.ts"

const FLUSH_EVERY = Duration.seconds(5)
const LOOK_FOR_EXPIRED_EVERY = Duration.seconds(5)

/** A log of what requests have recorded and the store does not have yet. */
interface NoteLog<Note> {
  batch(): ReadonlyArray<Note>
  /** Removes a batch that has been stored. */
  written(batch: ReadonlyArray<Note>): void
}

/** Stores one batch of a log, and returns its size. */
export const storeBatch = <Note, E>(
  log: NoteLog<Note>,
  store: (batch: ReadonlyArray<Note>) => Effect.Effect<unknown, E>
): Effect.Effect<number, E> =>
  Effect.suspend(() => {
    const batch = log.batch()
    return batch.length === 0
      ? Effect.succeed(0)
      : Effect.map(store(batch), () => {
          log.written(batch)
          return batch.length
        })
  })

/** Carries out these steps every few seconds, and once more when the scope closes. */
export const storeNotes = Effect.fnUntraced(function* (
  steps: ReadonlyArray<Effect.Effect<unknown>>
): Effect.fn.Return<void, never, Scope.Scope> {
  const store = Effect.all(steps, { discard: true })
  yield* Effect.addFinalizer(() => store)
  yield* store.pipe(
    Effect.schedule(Schedule.spaced(FLUSH_EVERY)),
    keepRunning("Storing when keys were last used"),
    Effect.forkScoped
  )
})

/** Publishes the ids of keys within seconds of their expiry. `expiredBetween` includes the second time. */
export const endExpiredKeys = Effect.fnUntraced(function* <E>(
  closed: PubSub.PubSub<string>,
  expiredBetween: (afterMs: number, untilMs: number) => Effect.Effect<ReadonlyArray<string>, E>
): Effect.fn.Return<void, never, Scope.Scope> {
  let doneUntilMs = yield* Clock.currentTimeMillis
  const endExpired = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    yield* PubSub.publishAll(closed, yield* expiredBetween(doneUntilMs, nowMs))
    doneUntilMs = nowMs
  })
  yield* endExpired.pipe(
    keepGoing("Ending streams of expired keys"),
    Effect.schedule(Schedule.spaced(LOOK_FOR_EXPIRED_EVERY)),
    keepRunning("Ending streams of expired keys"),
    Effect.forkScoped
  )
})
