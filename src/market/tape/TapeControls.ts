import type { Effect } from "effect"
import type { RevisedBar } from "../store/StoredBars.ts"
import type { StoredBatch, StoredLaunch } from "../store/StoredBatch.ts"
import type { TradeProgress } from "../store/TradeProgress.ts"
import type { TradeStore } from "../store/TradeStore.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import type { PricedBatch } from "./TradeBatch.ts"

/** The writes to a tape. */
export interface TapeControls {
  /** Applies a new block and publishes it. */
  readonly apply: (batch: PricedBatch) => Effect.Effect<unknown>
  /** Marks the bars that changed after they were closed. */
  readonly revise: (bars: ReadonlyArray<RevisedBar>) => void
  /** Makes the store available to readers. */
  readonly keep: (store: TradeStore["Service"]) => void
  /** Makes the blocks that are not stored yet available to readers. */
  readonly keepUnstored: (unstored: () => ReadonlyArray<StoredBatch>) => void
  /** The time down to which earlier blocks are being read, in milliseconds; null while none are. */
  readonly backfilling: (fromMs: number | null) => void
  /**
   * True when the record may have trades of the wallet in the mint: for every one while stored blocks are restored or missing
   * ones are still to be read.
   */
  readonly isTrader: (trade: Pick<TapeTrade, "mint" | "wallet">) => boolean
  /** The newest slot on the tape; 0 before the first. */
  readonly newest: () => number
  /** The first second from which on blocks are on the tape, infinite before the first, and the gaps since then. */
  readonly missing: () => Pick<TradeProgress, "gaps" | "readFrom">
  /**
   * Replaces the content by that of the store up to the newest block on the tape, and the blocks since. `stored` passes every
   * stored block to its argument and returns the progress that it restored, and the second from which on all are there. Later
   * blocks of the store are left out: they come yet.
   */
  readonly rebuild: (
    stored: (add: (batch: StoredBatch, nowMs: number) => unknown) => Effect.Effect<{
      readonly progress: TradeProgress
      readonly from: number
    }>
  ) => Effect.Effect<void>
  /** Empties the tape: its trades are of a chain that no node serves any more. */
  readonly startAnew: () => void
  /**
   * Continues after the stored blocks. Of these memory has only the launches until the next `rebuild`. `nowMs` is the local
   * time.
   */
  readonly resume: (progress: TradeProgress, launches: ReadonlyArray<StoredLaunch>, nowMs: number) => void
}
