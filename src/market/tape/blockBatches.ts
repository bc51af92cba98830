import { Stream } from "effect"
import type { BlockEvent } from "../../chain/blocks/BlockFeed.ts"
import type { TradeBlock } from "../../chain/decoding/TradeBlock.ts"
import type { TradeBatch } from "../model/TradeBatch.ts"

/**
 * Makes batches from the events of a block feed, one after the other. A block without a time gets the time of the
 * previous block; the first blocks are left out until one has a time. The batch after a gap, or after blocks that were
 * left out, has `afterGap` set. It has `forkedFrom` when earlier batches are of another fork.
 */
export const makeBatches = (): ((event: BlockEvent<TradeBlock>) => Stream.Stream<TradeBatch>) => {
  const state: { lastMs: number | null; slot: number; missing: boolean; forkedFrom: number | null } = {
    lastMs: null,
    slot: -1,
    missing: false,
    forkedFrom: null
  }
  return (event) => {
    if (event._tag === "Gap") {
      state.missing = true
      if (event.reason === "forked" && event.from <= state.slot) {
        state.forkedFrom = Math.min(event.from, state.forkedFrom ?? event.from)
      }
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
    const { forkedFrom, missing: afterGap } = state
    state.lastMs = timeMs
    state.slot = slot
    state.missing = false
    state.forkedFrom = null
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
      ...(forkedFrom !== null && { forkedFrom }),
      timeEstimated: blockTimeEstimated
    })
  }
}
