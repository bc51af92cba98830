/** The module that the thread which reads blocks runs. */
import { serveBlocks } from "../solana/serveBlocks.ts"
import { decodeBlock } from "./decodeBlock.ts"

serveBlocks(decodeBlock)
