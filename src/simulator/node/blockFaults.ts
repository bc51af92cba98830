/** Faults in responses about blocks: failed calls, responses cut in half, and blocks that are gone. */
import { makeRandom } from "../chain/Random.ts"
import type { Bank } from "../chain/Bank.ts"
import type { Ailment } from "./Faults.ts"
import type { RpcCall } from "./jsonRpc.ts"

/** `failing`: an error is returned. `truncated`: half the text is missing. */
export type BlockFault = "failing" | "truncated"

/** Draws the fault of each call from a seed: the same calls in the same order get the same faults. */
export const makeBlockFaults = (seed: string, current: () => Ailment): ((call: RpcCall) => BlockFault | null) => {
  const random = makeRandom(`${seed} block failures`)
  return ({ method, params: [slot] }) => {
    const { blockFailures, truncatedBlocks } = current()
    if (method !== "getBlock" || typeof slot !== "number") {
      return null
    }
    if (blockFailures > 0 && random.between(0, 1) < blockFailures) {
      return "failing"
    }
    const isTruncated = truncatedBlocks !== null && slot >= truncatedBlocks.from && slot <= truncatedBlocks.to
    return isTruncated ? "truncated" : null
  }
}

/** The chain as a node sees it that has deleted the blocks before a slot. */
export const prunedBelow = (bank: Bank, slot: number): Bank => ({
  ...bank,
  block: (at) => (at < slot ? undefined : bank.block(at)),
  blocks: () => Iterator.from(bank.blocks()).filter((block) => block.slot >= slot)
})
