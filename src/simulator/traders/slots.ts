/** The slots of a live chain, one after the other: which of them get a block, and the blocks. */
import type { Block } from "../chain/Bank.ts"
import { makeRandom } from "../chain/Random.ts"
import type { Chain } from "./startChain.ts"

/** A leader misses its four slots about every 160 seconds, and a block is dropped about every four minutes. */
const MISSED_EVERY = 400
const MISSED_SLOTS = 4
const FORK_EVERY = 600

/**
 * Returns a function that lets one slot pass and returns its block; null for a slot without a block that stays. `drop`
 * gets each block that no later block builds on.
 */
export const makeSlots = (
  { hardships, seed }: { readonly hardships: boolean; readonly seed: string },
  chain: () => Chain,
  drop: (block: Block) => void
): (() => Block | null) => {
  const random = makeRandom(`${seed} slots`)
  let missing = 0
  const misses = (): boolean => {
    const { bank, market } = chain()
    if (missing === 0 && random.chance(1 / FORK_EVERY)) {
      const dropped = market.fork()
      if (dropped !== null) {
        drop(dropped)
      }
      return true
    }
    missing = missing === 0 && random.chance(1 / MISSED_EVERY) ? MISSED_SLOTS : missing
    if (missing === 0) {
      return false
    }
    missing -= 1
    bank.skip(1)
    return true
  }
  return () => (hardships && misses() ? null : chain().market.advance())
}
