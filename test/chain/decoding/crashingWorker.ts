/** A thread that ends at the blocks of some slots, like a thread that has run out of memory. For others its decoder fails. */
import { serveBlocks } from "../../../src/chain/blocks/serveBlocks.ts"
import { packBlock } from "../../../src/chain/decoding/PackedTransactions.ts"

serveBlocks((slot) => {
  if (slot % 10 === 3) {
    process.exit(1)
  }
  const block = {
    slot,
    parentSlot: slot - 1,
    blockTimeMs: null,
    transactions: [],
    launches: [],
    supply: [],
    malformed: 0
  }
  const end = () => {
    if (slot % 10 === 5) {
      throw new Error("a fault of the decoder")
    }
    return packBlock(block)
  }
  return { add: () => undefined, end }
})
