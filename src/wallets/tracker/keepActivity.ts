import { Duration, Effect, Layer, Schedule, Stream } from "effect"
import type { Address } from "../../domain/Address.ts"
import { keepGoing, keepRunning } from "../../operations/keepRunning.ts"
import { TrackerFeed } from "./TrackerFeed.ts"
import { TrackerStore } from "./TrackerStore.ts"

const WRITE_EVERY = Duration.seconds(1)

/**
 * Writes the activity of tracked wallets to the store once per second, and on shutdown. After a failed write the newest
 * time of each wallet is kept for the next one.
 */
export const layer: Layer.Layer<never, never, TrackerFeed | TrackerStore> = Layer.effectDiscard(
  Effect.gen(function* () {
    const feed = yield* TrackerFeed
    const store = yield* TrackerStore
    const waiting = new Map<Address, number>()

    const write = Effect.suspend(() => {
      const batch = Array.from(waiting, ([wallet, atMs]) => ({ wallet, atMs }))
      const forget = () => {
        for (const { atMs, wallet } of batch) {
          if (waiting.get(wallet) === atMs) {
            waiting.delete(wallet)
          }
        }
      }
      return Effect.map(store.recordActivity(batch), forget)
    }).pipe(keepGoing("Storing the activity of tracked wallets"), Effect.when(Effect.sync(() => waiting.size > 0)))

    yield* Effect.addFinalizer(() => write)
    yield* feed.activity.pipe(
      Stream.runForEach(({ atMs, wallet }) =>
        Effect.sync(() => {
          waiting.set(wallet, Math.max(atMs, waiting.get(wallet) ?? 0))
        })
      ),
      keepRunning("Noting the activity of tracked wallets"),
      Effect.forkScoped({ startImmediately: true })
    )
    yield* write.pipe(
      Effect.schedule(Schedule.spaced(WRITE_EVERY)),
      keepRunning("Storing the activity of tracked wallets"),
      Effect.forkScoped({ startImmediately: true })
    )
  })
)
