/** The module that the thread which reads blocks runs. */
import { serveBlocks } from "../blocks/serveBlocks.ts"
import { decodeToRows } from "./decodeBlock.ts"
import { packBlock } from "./PackedTransactions.ts"

serveBlocks((slot, result) => {
  const block = decodeToRows(slot, result)
  return block === null ? null : packBlock(block)
})
