/** Compares block times with the clock sysvar. */
import { Effect } from "effect"
import type { ChainClock } from "../../domain/OnChainAccount.ts"
import type { BlockHead } from "./BlockFeed.ts"

/** The usual time of a slot. */
export const SLOT_MS = 400
/** A block's time may differ from the estimate by this much, and by more the further away the sysvar's slot is. */
const SLACK_MS = 60_000
const SLACK_PER_SLOT_MS = 5000

export interface BlockTime {
  readonly timeMs: number | null
  readonly isEstimated: boolean
}

/**
 * The block's own time when it agrees with the clock sysvar; otherwise the time of the sysvar, extrapolated at 0.4 s a
 * slot. Without a sysvar the block's own time cannot be judged, so it is returned as it is.
 */
export const timeOfBlock = ({ blockTimeMs, slot }: BlockHead, clock: ChainClock | null): BlockTime => {
  if (clock === null || clock.unixTimestamp <= 0) {
    return { timeMs: blockTimeMs, isEstimated: false }
  }
  const distance = slot - clock.slot
  const estimateMs = clock.unixTimestamp * 1000 + distance * SLOT_MS
  const slackMs = SLACK_MS + Math.abs(distance) * SLACK_PER_SLOT_MS
  return blockTimeMs !== null && Math.abs(blockTimeMs - estimateMs) <= slackMs
    ? { timeMs: blockTimeMs, isEstimated: false }
    : { timeMs: estimateMs, isEstimated: true }
}

/** Corrects the times of blocks by the clock sysvar, and counts estimates. */
export class BlockTimes {
  /** How many blocks had an estimated time since the start of the process. */
  estimated = 0
  readonly #source: { readonly clock: ChainClock | null; readonly host: string }
  #isEstimating = false

  /** `source` is the node in use. */
  constructor(source: { readonly clock: ChainClock | null; readonly host: string }) {
    this.#source = source
  }

  /** The block with its corrected time. Logs a warning when estimates begin. */
  timed<Block extends BlockHead>(block: Block): Effect.Effect<Block> {
    const { clock, host } = this.#source
    const { isEstimated, timeMs } = timeOfBlock(block, clock)
    const begins = isEstimated && !this.#isEstimating
    this.#isEstimating = isEstimated
    if (!isEstimated) {
      return Effect.succeed(block)
    }
    this.estimated++
    const timed: Block = { ...block, blockTimeMs: timeMs, blockTimeEstimated: true }
    const { blockTimeMs, slot } = block
    const warning = "Block times of the node contradict the chain's clock and are estimated"
    return begins
      ? Effect.as(Effect.logWarning(warning, { node: host, slot, blockTimeMs, estimateMs: timeMs }), timed)
      : Effect.succeed(timed)
  }
}
