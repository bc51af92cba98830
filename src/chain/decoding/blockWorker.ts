/** The module that the thread which reads blocks runs. */
import { serveBlocks } from "../blocks/serveBlocks.ts"
import { AnswerRows } from "./decodeBlock.ts"
import { packBlock } from "./PackedTransactions.ts"

serveBlocks((slot) => {
  const rows = new AnswerRows(slot)
  return {
    add: (transaction) => rows.add(transaction),
    end: (rest) => {
      const block = rows.end(rest)
      return block === null ? null : packBlock(block)
    }
  }
})
