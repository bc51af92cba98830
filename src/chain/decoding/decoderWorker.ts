/** The module that a thread runs which decodes slots for the thread that reads a Geyser. Does not load gRPC. */
import { serveDecoder } from "../geyser/serveDecoder.ts"
import { slotDecoder } from "./slotDecoder.ts"

serveDecoder(slotDecoder)
