/** A thread that ends at blocks of some slots, as one that has run out of memory does. */
import { serveBlocks } from "../../../src/solana/blocks/serveBlocks.ts"
import { packBlock } from "../../../src/trades/blocks/PackedTransactions.ts"

serveBlocks((slot) => {
  if (slot % 10 === 3) {
    process.exit(1)
  }
  return packBlock({
    slot,
    parentSlot: slot - 1,
    blockTimeMs: null,
    transactions: [],
    launches: [],
    supply: [],
    malformed: 0
  })
})
