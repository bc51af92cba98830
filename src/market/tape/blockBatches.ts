import { Stream } from "effect"
import type { BlockEvent } from "../../chain/blocks/BlockFeed.ts"
import type { TradeBlock } from "../../chain/decoding/TradeBlock.ts"
import type { TradeBatch } from "../model/TradeBatch.ts"

/**
 * Makes batches from the events of a block feed, one after the other. A block without a time gets the time of the
 * previous block; the first blocks are left out until one has a time. The batch after a gap, or after blocks that were
 * left out, has `afterGap` set.
 */
export const makeBatches = (): ((event: BlockEvent<TradeBlock>) => Stream.Stream<TradeBatch>) => {
  const state: { lastMs: number | null; missing: boolean } = { lastMs: null, missing: false }
  return (event) => {
    if (event._tag === "Gap") {
      state.missing = true
      return Stream.empty
    }
    const {
      blockTimeEstimated,
      blockTimeMs,
      checks,
      holdings,
      launches,
      liquidity,
      openings,
      slot,
      supply,
      transactions
    } = event.block
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
      liquidity,
      openings,
      holdings,
      checks,
      afterGap,
      timeEstimated: blockTimeEstimated
    })
  }
}
