/** The module that runs in the thread which reads blocks for a recording. */
import { serveBlocks } from "../blocks/serveBlocks.ts"
import { rawBlockDecoder } from "./rawBlock.ts"

serveBlocks(rawBlockDecoder)
