/** The module that the thread which reads blocks runs. */
import { serveBlocks } from "../blocks/serveBlocks.ts"
import { decodeBlock } from "./decodeBlock.ts"
import { packBlock } from "./PackedTransactions.ts"

serveBlocks((slot, result) => {
  const block = decodeBlock(slot, result)
  return block === null ? null : packBlock(block)
})
