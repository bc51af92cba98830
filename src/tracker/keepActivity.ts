import { Duration, Effect, Layer, Schedule, Stream } from "effect"
import type { Address } from "../domain/Address.ts"
import { TrackerFeed } from "./TrackerFeed.ts"
import { TrackerStore } from "./TrackerStore.ts"

const WRITE_EVERY = Duration.seconds(1)

/**
 * Has the store remember when tracked wallets were last seen, a second's worth at a time: no block waits for a write. What
 * cannot be written is kept, one time a wallet, until it can.
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
    }).pipe(
      Effect.catch(({ cause }) => Effect.logWarning("Activity of tracked wallets is not written down yet", cause)),
      Effect.when(Effect.sync(() => waiting.size > 0))
    )

    yield* Effect.addFinalizer(() => write)
    yield* feed.activity.pipe(
      Stream.runForEach(({ atMs, wallet }) =>
        Effect.sync(() => {
          waiting.set(wallet, Math.max(atMs, waiting.get(wallet) ?? 0))
        })
      ),
      Effect.forkScoped({ startImmediately: true })
    )
    yield* write.pipe(Effect.schedule(Schedule.spaced(WRITE_EVERY)), Effect.forkScoped({ startImmediately: true }))
  })
)
