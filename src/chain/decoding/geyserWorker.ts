/** The module that the thread which reads a Geyser runs. The only one that loads gRPC. */
import { serveGeyser } from "../geyser/serveGeyser.ts"
import { decodeBlock } from "./decodeBlock.ts"
import { packBlock } from "./PackedTransactions.ts"

serveGeyser((slot, answer) => {
  const block = decodeBlock(slot, answer)
  return block === null ? null : packBlock(block)
})
