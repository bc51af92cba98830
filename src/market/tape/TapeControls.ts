import type { Effect } from "effect"
import type { ImageSteps, StateImage } from "../columnar/StateImage.ts"
import type { StoredSnapshot } from "../snapshot/StoredSnapshot.ts"
import type { RevisedBar } from "../store/StoredBars.ts"
import type { StoredBatch, StoredLaunch } from "../store/StoredBatch.ts"
import type { TradeProgress } from "../store/TradeProgress.ts"
import type { TradeStore } from "../store/TradeStore.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import type { PricedBatch } from "./TradeBatch.ts"

/** The content of a tape that is being rebuilt. */
export interface RebuiltMemory {
  /** The newest slot that it may have: later blocks come yet. */
  readonly slot: number
  /** Adds a stored block; one that is later than that slot is left out. */
  readonly add: (batch: StoredBatch, nowMs: number) => void
  /** Adds a block that an image has to the newest trades, which an image does not have. */
  readonly addRecent: (batch: StoredBatch) => void
  /** The steps that fill it from an image, instead of the blocks up to a slot. */
  readonly read: (image: StateImage) => ImageSteps
  /** The second from which on the image that was read has every trade. */
  readonly heldFrom: () => number
  /** Removes everything. */
  readonly empty: () => void
}

/** Fills a tape that is being rebuilt. Returns the progress that it restored, and the second from which on all trades are there. */
export type FillMemory<E> = (
  memory: RebuiltMemory
) => Effect.Effect<{ readonly progress: TradeProgress; readonly from: number }, E>

/** The content of a tape that no block changes meanwhile. */
export interface CapturedTape {
  /** Its newest block. */
  readonly slot: number
  readonly timeMs: number
  /** The repairs of the store that it has. */
  readonly repairs: number
  /** Bytes of its largest parts. */
  readonly usedBytes: number
  /** The steps that write it. */
  readonly image: (image: StateImage) => ImageSteps
}

/** The snapshot that memory was restored from and the time of that, and the newest one that this process has stored; null for none. */
export interface SnapshotNotes {
  readonly loaded: { readonly snapshot: StoredSnapshot; readonly atMs: number } | null
  readonly kept: StoredSnapshot | null
}

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
  /**
   * Sets the time down to which earlier blocks are read, in milliseconds; null once memory has them and every repair of the store,
   * where none are wanted, and while another process reads them.
   */
  readonly backfilling: (fromMs: number | null) => void
  /**
   * True when the record may have trades of the wallet in the mint: for every one while stored blocks are restored, and while
   * missing or earlier ones are still to be read.
   */
  readonly isTrader: (trade: Pick<TapeTrade, "mint" | "wallet">) => boolean
  /** The newest slot on the tape; 0 before the first. */
  readonly newest: () => number
  /**
   * The first second from which on blocks are on the tape, infinite before the first, the gaps since then, and the repairs of the
   * store that the tape has.
   */
  readonly missing: () => Pick<TradeProgress, "gaps" | "readFrom" | "repairs">
  /**
   * Replaces the content by that of the store up to the newest block on the tape, which `stored` reads, and the blocks since.
   * Leaves it as it is where `stored` fails.
   */
  readonly rebuild: <E>(stored: FillMemory<E>) => Effect.Effect<void, E>
  /** Runs `write` while blocks wait to be applied; null when the tape is empty, being restored, or has a part of a block. */
  readonly capture: <A, E>(write: (tape: CapturedTape) => Effect.Effect<A, E>) => Effect.Effect<A | null, E>
  /** Notes a snapshot that was read or stored. */
  readonly noteSnapshot: (notes: Partial<SnapshotNotes>) => void
  /** The snapshots that were noted. */
  readonly snapshots: () => SnapshotNotes
  /** Empties the tape: its trades are of a chain that no node serves any more. */
  readonly startAnew: () => void
  /**
   * Continues after the stored blocks. Of these memory has only the launches until the next `rebuild`. `nowMs` is the local
   * time.
   */
  readonly resume: (progress: TradeProgress, launches: ReadonlyArray<StoredLaunch>, nowMs: number) => void
}
