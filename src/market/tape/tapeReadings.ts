import { Effect } from "effect"
import { Readings } from "../../operations/Readings.ts"

/** Counts of the process. They go on when another chain begins. */
export interface TapeCounts {
  blocks: number
  trades: number
}

/** Reports blocks, trades and the newest slot until the scope closes. */
export const reportTape = Effect.fnUntraced(function* (counts: TapeCounts, newestSlot: () => number) {
  const readings = yield* Readings
  yield* readings.report(
    {
      name: "fathom_blocks_applied_total",
      help: "Blocks that were decoded and applied to the market.",
      kind: "counter"
    },
    () => counts.blocks
  )
  yield* readings.report(
    { name: "fathom_trades_applied_total", help: "Legs of swaps that were applied to the market.", kind: "counter" },
    () => counts.trades
  )
  yield* readings.report(
    { name: "fathom_market_slot", help: "Newest slot of the market; absent before the first block.", kind: "gauge" },
    () => newestSlot() || null
  )
})
