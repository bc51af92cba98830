/** Restores the market state of the process before from the store. */
import { Clock, Effect, Schedule, Stream } from "effect"
import { floorTo } from "../candles/resolutions.ts"
import type { TradeStore } from "./TradeStore.ts"
import type { StoredBatch } from "./StoredBatch.ts"
import type { TradeProgress } from "./TradeProgress.ts"
import { LATE_SECONDS, windowSeconds } from "../windows/windows.ts"

const HOUR = 3600

/** The second from which on trades matter: those of the longest window and of the one before it. */
export const restoredFrom = ({ timeMs }: TradeProgress): number =>
  floorTo(Math.floor(timeMs / 1000) - 2 * Math.max(...windowSeconds) - LATE_SECONDS, HOUR)

/** The number of restored trades, and the second from which on all of them were restored. */
export interface Restored {
  readonly trades: number
  readonly from: number
}

const again = { schedule: Schedule.spaced("1 second") }

const logged = Effect.tapError((cause: unknown) => Effect.logWarning("Stored trades cannot be read", cause))

/**
 * Passes the stored blocks after a slot to `take` with the local time, oldest first, until it returns false. Yields between two
 * blocks, retries while the store is unavailable, whatever the cause, and continues after the last block: from the first one on none
 * is left out. Returns the number of trades, and the second of the first block.
 */
export const restoreSince = (
  store: Pick<TradeStore["Service"], "since">,
  begin: { readonly second: number; readonly after: number },
  most: number,
  take: (batch: StoredBatch, nowMs: number) => boolean
) =>
  Effect.suspend(() => {
    const state = { ...begin, most, first: Number.POSITIVE_INFINITY, trades: 0 }
    return Effect.suspend(() =>
      store.since(state).pipe(
        Stream.runForEachWhile((batch) =>
          Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
            const goesOn = take(batch, nowMs)
            const at = Math.floor(batch.timeMs / 1000)
            state.first = Math.min(state.first, at)
            state.second = at
            state.after = batch.slot
            state.trades += batch.trades.length
            // The newest trades are counted once: with those of blocks stored meanwhile, a later count would leave out blocks.
            state.most = Number.POSITIVE_INFINITY
            return Effect.as(Effect.yieldNow, goesOn)
          })
        )
      )
    ).pipe(Effect.sandbox, logged, Effect.retry(again), Effect.as(state))
  })

/**
 * Passes every stored block to `take` with the local time, oldest first: launches from before the trades come ahead of them. Yields between two
 * blocks. Retries while the store is unavailable, whatever the cause, and continues after the last block.
 */
export const restoreTape = Effect.fnUntraced(function* (
  store: Pick<TradeStore["Service"], "launchesBefore" | "since">,
  progress: TradeProgress,
  most: { readonly trades: number; readonly launches: number },
  take: (batch: StoredBatch, nowMs: number) => void
) {
  const second = restoredFrom(progress)
  for (const { launch, slot, timeMs } of yield* store
    .launchesBefore(second, most.launches)
    .pipe(Effect.sandbox, logged, Effect.retry(again))) {
    take({ slot, timeMs, trades: [], launches: [launch], afterGap: false }, yield* Clock.currentTimeMillis)
  }
  const { first, trades } = yield* restoreSince(store, { second, after: 0 }, most.trades, (batch, nowMs) => {
    take(batch, nowMs)
    return true
  })
  // With fewer trades than the limit, none was left out.
  const restored: Restored = { trades, from: trades < most.trades ? second : Math.max(second, first + 1) }
  return restored
})
