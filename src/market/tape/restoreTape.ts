/** Restores the market of an earlier process from the store. */
import { Clock, Effect, Stream } from "effect"
import { keepTrying } from "../../operations/keepRunning.ts"
import { floorTo } from "../model/resolutions.ts"
import type { BlockStore } from "../model/BlockStore.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"
import { LATE_SECONDS, windowSeconds } from "../model/windows.ts"

const HOUR = 3600

/** Earlier trades are not restored. This second lies two of the longest windows before the newest block. */
export const restoredFrom = ({ timeMs }: TradeProgress): number =>
  floorTo(Math.floor(timeMs / 1000) - 2 * Math.max(...windowSeconds) - LATE_SECONDS, HOUR)

/** The number of restored trades, and the second from which on all of them were restored. */
export interface Restored {
  readonly trades: number
  readonly from: number
}

const untilRead = keepTrying("Reading stored trades")

/**
 * Passes the stored blocks after a slot to `take` with the local time, oldest first, until `take` returns false. Yields
 * between two blocks. After a failure of any cause it goes on behind the last block, and leaves none out. Returns the
 * number of trades and the second of the first block.
 */
export const restoreSince = (
  store: Pick<BlockStore["Service"], "since">,
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
            // `most` counts the newest trades once. Counted again, with blocks that were stored meanwhile, it would
            // leave out blocks.
            state.most = Number.POSITIVE_INFINITY
            return Effect.as(Effect.yieldNow, goesOn)
          })
        )
      )
    ).pipe(untilRead, Effect.as(state))
  })

/**
 * Passes every stored block to `take` with the local time, oldest first; launches from before the trades come first.
 * Yields between two blocks. After a failure of any cause it goes on behind the last block.
 */
export const restoreTape = Effect.fnUntraced(function* (
  store: Pick<BlockStore["Service"], "launchesBefore" | "since">,
  progress: TradeProgress,
  most: { readonly trades: number; readonly launches: number },
  take: (batch: StoredBatch, nowMs: number) => void
) {
  const second = restoredFrom(progress)
  for (const { launch, slot, timeMs } of yield* untilRead(store.launchesBefore(second, most.launches))) {
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
