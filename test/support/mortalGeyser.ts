/** A thread that reads a Geyser, whose decoder threads end again and again. */
import { slotDecoder } from "../../src/chain/decoding/slotDecoder.ts"
import { serveGeyser } from "../../src/chain/geyser/serveGeyser.ts"

serveGeyser(slotDecoder, new URL("./mortalDecoder.ts", import.meta.url))
