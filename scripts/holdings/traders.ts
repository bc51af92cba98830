/** Wallets that traded in the newest blocks of a node. */
import { blocksOf, slotsBetween } from "../recompute/chain.ts"
import { eventsOf } from "../recompute/walletEvents.ts"
import { legsOf, readTransaction } from "../recompute/legs.ts"
import { newestSlot } from "./chainFigures.ts"

/** Blocks looked through in one step, and in all. */
const STEP = 100
const MOST_SLOTS = 3000

/** The wallets that traded last, at most so many. */
export const tradersOf = async (rpc: string, most: number): Promise<ReadonlyArray<string>> => {
  const found = new Set<string>()
  const newest = await newestSlot(rpc)
  for (let to = newest; to > Math.max(0, newest - MOST_SLOTS) && found.size < most; to -= STEP) {
    const slots = await slotsBetween(rpc, Math.max(1, to - STEP + 1), to)
    for await (const { transactions } of blocksOf(rpc, slots)) {
      for (const raw of transactions.filter(({ meta }) => meta.err === null)) {
        const read = readTransaction(raw)
        eventsOf(read, legsOf(read), { rate: null, transaction: 0 })
          .filter(({ trades }) => trades.length > 0)
          .forEach(({ wallet }) => found.add(wallet))
      }
    }
  }
  return Array.from(found).slice(0, most)
}
