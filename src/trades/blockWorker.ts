/** The module that the thread which reads blocks runs. */
import { serveBlocks } from "../solana/blocks/serveBlocks.ts"
import { decodeBlock } from "./decodeBlock.ts"
import { packBlock } from "./blocks/PackedTransactions.ts"

serveBlocks((slot, result) => {
  const block = decodeBlock(slot, result)
  return block === null ? null : packBlock(block)
})
