import type { Effect, Stream } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { Coverage } from "../../domain/Scalar.ts"
import type { DecodingWatch } from "../memory/DecodingWatch.ts"
import type { MarketState } from "../memory/MarketState.ts"
import type { Gaps } from "../model/Gaps.ts"
import type { Launches } from "../model/Launches.ts"
import type { StoredHistory } from "../model/MarketStores.ts"
import type { RecentTrades } from "../model/RecentTrades.ts"
import type { Resolution } from "../model/resolutions.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { CountedBatch, PricedBatch } from "../model/TradeBatch.ts"

/** The parts of the market state that readers use. All are synchronous: nothing is written meanwhile. */
export type MarketStateReads = Pick<
  MarketState,
  | "bars"
  | "boughtSince"
  | "has"
  | "heldFrom"
  | "lastPrice"
  | "markets"
  | "mintOfToken"
  | "now"
  | "pools"
  | "scan"
  | "scanInSteps"
  | "seen"
  | "tokens"
  | "topTraders"
  | "traderOf"
  | "walletSums"
  | "window"
>

/** What readers see of the market in memory: its state, how much of the time it covers, and each block as it is applied. */
export interface MarketReads {
  readonly state: MarketStateReads
  readonly launches: Pick<Launches, "all" | "droppedToMs" | "of">
  /** The trades of the newest blocks. */
  readonly recent: Pick<RecentTrades, "find" | "fromSlot" | "hasDropped" | "newest">
  /**
   * Waits until no block is half applied; returns at once when none is. Any read in the middle of a block applies the rest
   * of it at once. Requests read without waiting; work in the background waits first.
   */
  readonly whole: Effect.Effect<void>
  /** How well the swaps of the applied blocks agree with the chain. */
  readonly decoding: () => Pick<DecodingWatch, "newestMs" | "read">
  /** False when the newest block came without launches: the feed does not report them. */
  readonly reportsLaunches: () => boolean
  /** Decimals of a token, from its last trade that had them; null when none did. */
  readonly decimalsOf: (mint: Mint) => number | null
  /** The local time at which the last block arrived; null before the first. */
  readonly heardAtMs: () => number | null
  /**
   * The local time at which the last block arrived or, when that is later, at which the tape continued after stored blocks; null
   * before either.
   */
  readonly aliveAtMs: () => number | null
  /** True while stored blocks are read into memory: the store has them, and windows have only the blocks since. */
  readonly isRestoring: () => boolean
  /** Waits until the stored blocks are in memory, for at most `RESTORE_PATIENCE` after the restore began. */
  readonly restored: Effect.Effect<void>
  /** The first second from which on every block is in memory; infinite before the first block. */
  readonly since: () => number
  /** Coverage from a second to `to` (else to the newest block) of data that is kept longer than the windows. */
  readonly readFrom: (second: number, to?: number) => Coverage
  /** The first second from which on every block was read, by this process or an earlier one; infinite at first. */
  readonly recordedSince: () => number
  /** Coverage from a second to `to` (else to the newest block) of what this process and earlier ones have read. */
  readonly recordedFrom: (second: number, to?: number) => Coverage
  /** Coverage since a second of what the windows still hold. */
  readonly coverageFrom: (second: number, nowMs: number) => Coverage
  /** The second from which on the bars of a token are in memory; minus infinity when all of them are. */
  readonly heldSince: (mint: Mint, resolution: Resolution) => number
  /** The newest slot that was read; 0 before the first. */
  readonly newestSlot: () => number
  /** The blocks since `firstRead` that were not read. */
  readonly gaps: () => Gaps
  /** The second from which on blocks were read at all, by this process or an earlier one; infinite at first. */
  readonly firstRead: () => number
  /** Stored trades and candles, which reach further back than memory; null without a store. */
  readonly stored: () => StoredHistory | null
  /** The blocks that are not stored yet, oldest first; none without a store, and while the store lags far behind. */
  readonly unstored: () => ReadonlyArray<StoredBatch>
  /**
   * Every block from the subscription on, once it is applied. A subscriber more than 1,024 behind loses the oldest. A block
   * comes in the turn that has applied it, so whatever takes longer needs a turn of its own.
   */
  readonly applied: Stream.Stream<PricedBatch>
  /** The same blocks, each with the number of blocks that this subscriber has lost directly before it. */
  readonly appliedCounted: Stream.Stream<CountedBatch>
}
