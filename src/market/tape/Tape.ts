import { Context, type Effect } from "effect"
import type { Applied } from "../memory/MarketState.ts"
import type { CapturedTape, RebuiltMemory } from "../memory/tapeContent.ts"
import type { StoredHistory } from "../model/MarketStores.ts"
import type { Gaps } from "../model/Gaps.ts"
import type { RevisedBar } from "../model/StoredBars.ts"
import type { StoredBatch, StoredLaunch } from "../model/StoredBatch.ts"
import type { StoredSnapshot } from "../model/StoredSnapshot.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import type { PricedBatch } from "../model/TradeBatch.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"

/**
 * Fills a tape that is being rebuilt. Returns the restored progress, and the second from which on all trades are there.
 */
export type FillMemory<E> = (
  memory: RebuiltMemory
) => Effect.Effect<{ readonly progress: TradeProgress; readonly from: number }, E>

export interface SnapshotNotes {
  /** The snapshot that memory was restored from, and when; null for none. */
  readonly loaded: { readonly snapshot: StoredSnapshot; readonly atMs: number } | null
  /** The newest snapshot that this process has stored; null for none. */
  readonly kept: StoredSnapshot | null
}

/**
 * What the tape lacks: `readFrom` is the first second from which on it has blocks, infinite before the first; `gaps` are the
 * blocks since that readers are told to be missing, `unread` those that the tape has not seen; `repairs` counts the repairs of
 * the store that it has.
 */
export interface MissingOnTape extends Pick<TradeProgress, "gaps" | "readFrom" | "repairs"> {
  readonly unread: Gaps
}

/** The writes to the market in memory. For one writer. */
export class Tape extends Context.Service<
  Tape,
  {
    /** Applies the next block and publishes it. Calls wait for each other. */
    readonly apply: (batch: PricedBatch) => Effect.Effect<Applied>
    /** Waits until no block is half applied, as `whole` of the reads. */
    readonly whole: Effect.Effect<void>
    /** Marks the bars that changed after they were closed. */
    readonly revise: (bars: ReadonlyArray<RevisedBar>) => void
    /** Makes stored trades and candles available to readers. */
    readonly keep: (stored: StoredHistory) => void
    /** Makes the blocks that are not stored yet available to readers. */
    readonly keepUnstored: (unstored: () => ReadonlyArray<StoredBatch>) => void
    /**
     * Sets the time down to which earlier blocks are being read, in milliseconds. Null once memory has them and every
     * repair of the store, when none are wanted, and while another process reads them.
     */
    readonly backfilling: (fromMs: number | null) => void
    /**
     * True when memory or the store may have trades of the wallet in the mint. Always true while stored blocks are
     * restored, and while missing or earlier blocks are still to be read.
     */
    readonly isTrader: (trade: Pick<TapeTrade, "mint" | "wallet">) => boolean
    /** The newest slot on the tape; 0 before the first. */
    readonly newest: () => number
    readonly missing: () => MissingOnTape
    /**
     * Notes gaps of the store. Until the next `rebuild` readers are told that these blocks are missing, although the tape may
     * have them: a page of stored trades lacks them.
     */
    readonly noteGaps: (stored: Gaps) => void
    /**
     * Replaces the content. `stored` fills the new one from the store, up to the newest block on the tape; blocks that are
     * applied meanwhile follow. When `stored` fails, the content stays as it is.
     */
    readonly rebuild: <E>(stored: FillMemory<E>) => Effect.Effect<void, E>
    /**
     * Runs `write` while blocks wait to be applied. Returns null when the tape is empty, is being restored, or contains
     * only part of a block.
     */
    readonly capture: <A, E>(write: (tape: CapturedTape) => Effect.Effect<A, E>) => Effect.Effect<A | null, E>
    /** Notes a snapshot that was read or stored. */
    readonly noteSnapshot: (notes: Partial<SnapshotNotes>) => void
    readonly snapshots: () => SnapshotNotes
    /** Empties the tape, because no node serves its chain any more. */
    readonly startAnew: () => void
    /**
     * Continues after the stored blocks. Until the next `rebuild`, memory has nothing of them but their launches. `nowMs` is the
     * local time.
     */
    readonly resume: (progress: TradeProgress, launches: ReadonlyArray<StoredLaunch>, nowMs: number) => void
  }
>()("fathom/market/tape/Tape") {}
