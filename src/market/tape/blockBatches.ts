import { Stream } from "effect"
import type { BlockEvent } from "../../solana/blocks/BlockFeed.ts"
import type { TradeBlock } from "../../trades/blocks/TradeBlock.ts"
import type { TradeBatch } from "./TradeBatch.ts"

/**
 * Batches from the events of a block feed, one after the other. A block without a time has that of the one before it. After
 * a gap, and after blocks without any time, the next batch has `afterGap` set.
 */
export const makeBatches = (): ((event: BlockEvent<TradeBlock>) => Stream.Stream<TradeBatch>) => {
  const state: { lastMs: number | null; missing: boolean } = { lastMs: null, missing: false }
  return (event) => {
    if (event._tag === "Gap") {
      state.missing = true
      return Stream.empty
    }
    const { blockTimeEstimated, blockTimeMs, holdings, launches, slot, supply, transactions } = event.block
    const timeMs = blockTimeMs ?? state.lastMs
    if (timeMs === null) {
      state.missing = true
      return Stream.empty
    }
    const afterGap = state.missing
    state.lastMs = timeMs
    state.missing = false
    return Stream.succeed({
      slot,
      timeMs,
      transactions,
      launches,
      supply,
      holdings,
      afterGap,
      timeEstimated: blockTimeEstimated
    })
  }
}
