/** Builds the swaps of a learned pool. */
import { writeU64 } from "../../programs/layout/bytes.ts"
import { pays, reads, writes } from "../../programs/transactions/Call.ts"
import type { LearnedPool, LearnedPools } from "../pools/LearnedPools.ts"
import type { Venue } from "./swapVenue.ts"

/** The venue of one learned pool. */
export const learnedVenue = (
  { aToB, bToA, mintA, mintB, pool: own, programId, vaultA, vaultB }: LearnedPool,
  program: LearnedPools["program"]
): Venue => ({
  program: { ...program, programId },
  swapNeeds: () => [],
  sides: ({ pool }) => (pool.address === own ? { mintA, mintB, vaultA, vaultB } : null),
  vaultOwner: ({ pool }) => pool.address,
  swap: (_, { aToB: isAToB, amount, exactOut, from, to, trader }) => {
    const direction = isAToB ? aToB : bToA
    if (direction === null || exactOut) {
      return null
    }
    const data = direction.data.slice()
    writeU64(data, direction.amountAt, amount)
    const roles = { from: writes(from), to: writes(to), trader: pays(trader) }
    return {
      accounts: direction.slots.map((slot) =>
        "role" in slot ? roles[slot.role] : slot.isWritable ? writes(slot.constant) : reads(slot.constant)
      ),
      data
    }
  }
})
