/** A thread that ends at blocks of some slots, as one that has run out of memory does. */
import { serveBlocks } from "../../../src/solana/blocks/serveBlocks.ts"

serveBlocks((slot) => {
  if (slot % 10 === 3) {
    process.exit(1)
  }
  return { slot, parentSlot: slot - 1, blockTimeMs: null, transactions: [], launches: [], malformed: 0 }
})
