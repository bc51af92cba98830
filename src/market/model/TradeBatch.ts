import { Stream } from "effect"
import type { Launch } from "../../api/schemas/Launch.ts"
import type { LiquidityChange } from "../../api/schemas/LiquidityEvent.ts"
import type { WalletOpening } from "../../api/schemas/WalletOpening.ts"
import type { SupplyChange } from "../../api/schemas/SupplyChange.ts"
import type { BlockHoldings } from "../../chain/decoding/holdings.ts"
import type { BlockTransaction } from "../../chain/decoding/TradeBlock.ts"
import type { ProgramChecks } from "../../chain/decoding/swapChecks.ts"
import type { ForkReport } from "./Gaps.ts"
import type { TapeTrade } from "./TapeTrade.ts"

/** The decoded transactions and launches of one block. */
export interface TradeBatch {
  readonly slot: number
  /** Block time, in milliseconds since the Unix epoch. */
  readonly timeMs: number
  /** True when the time is an estimate from the clock sysvar. */
  readonly timeEstimated?: boolean | undefined
  /** In the order of the chain. They may be packed: read them with `visitInTurns`. */
  readonly transactions: Iterable<BlockTransaction>
  /** Null when the feed does not report launches. */
  readonly launches: ReadonlyArray<Launch> | null
  /** Mints whose supply the block changed; absent for none. */
  readonly supply?: ReadonlyArray<SupplyChange> | undefined
  /** Liquidity that was added to pools and taken from them, in the order of the block; absent for none. */
  readonly liquidity?: ReadonlyArray<LiquidityChange> | undefined
  /** The transfers that opened the accounts of wallets, in the order of the block; absent for none. */
  readonly openings?: ReadonlyArray<WalletOpening> | undefined
  /** Changes of token holdings; absent when the feed does not report them, or not for the whole block. */
  readonly holdings?: BlockHoldings | undefined
  /** How well the decoded swaps agree with the chain; absent when the feed does not check, or for a block read again. */
  readonly checks?: ReadonlyArray<ProgramChecks> | undefined
  /** True when blocks between this one and the previous one were not read. */
  readonly afterGap: boolean
  /**
   * The first slot of earlier blocks that are of another fork of the chain; absent when there are none. The blocks from
   * this slot up to the previous block count as missing. `afterGap` is true then.
   */
  readonly forkedFrom?: number | undefined
  /**
   * What earlier blocks had as `forkedFrom`, oldest first; absent when no recent one had any. It counts for readers that
   * have lost those blocks.
   */
  readonly earlierForks?: ReadonlyArray<ForkReport> | undefined
}

/** A block with its trades priced. */
export interface PricedBatch extends TradeBatch {
  /** In the order of the chain: by slot, then by index. */
  readonly trades: ReadonlyArray<TapeTrade>
  /** Units that came to wallets or left them in another way, in the order of the chain. Their role is `transfer`. */
  readonly transfers?: ReadonlyArray<TapeTrade> | undefined
}

/** A batch, and the number of batches that its subscriber missed before it. */
export interface CountedBatch {
  readonly batch: PricedBatch
  readonly missed: number
  /** True for the first batch of another chain: slots begin anew. */
  readonly isAnew: boolean
}

/** A batch on its way to subscribers. */
export interface NumberedBatch {
  readonly batch: PricedBatch
  readonly number: number
  /** Counts the chains that were followed. A rebuild of the same chain does not change it. */
  readonly chain: number
}

/** Counts the batches that a subscriber has missed. */
export const countMissed = (numbered: Stream.Stream<NumberedBatch>): Stream.Stream<CountedBatch> =>
  Stream.mapAccum(
    numbered,
    (): NumberedBatch | null => null,
    (last, next) => {
      const missed = last === null ? 0 : next.number - last.number - 1
      return [next, [{ batch: next.batch, missed, isAnew: last !== null && last.chain !== next.chain }]] as const
    }
  )
