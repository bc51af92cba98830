/** The module that the thread which reads blocks runs. */
import { serveBlocks } from "../solana/blocks/serveBlocks.ts"
import { decodeBlock } from "./decodeBlock.ts"

serveBlocks(decodeBlock)
