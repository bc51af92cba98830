/** Faults in answers about blocks: failing calls, answers cut in half, and blocks that were cleaned up. */
import { makeRandom } from "../traders/Random.ts"
import type { Bank } from "../chain/Bank.ts"
import type { Ailment } from "./Faults.ts"
import type { RpcCall } from "./jsonRpc.ts"

/** What is wrong with an answer: it is an error, or half its text is missing. */
export type BlockFault = "failing" | "truncated"

/** The fault of each call, drawn from a seed: the same calls in the same order get the same faults. */
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

/** The chain of a node that has cleaned up the blocks before a slot. */
export const prunedBelow = (bank: Bank, slot: number): Bank => ({
  ...bank,
  block: (at) => (at < slot ? undefined : bank.block(at)),
  blocks: () => Iterator.from(bank.blocks()).filter((block) => block.slot >= slot)
})
