/** The module that the thread which reads a Geyser runs. The only one that loads gRPC. */
import { serveGeyser } from "../geyser/serveGeyser.ts"
import { slotDecoder } from "./slotDecoder.ts"

serveGeyser(slotDecoder, new URL("./decoderWorker.ts", import.meta.url))
