/** A thread that reads a Geyser, whose decoder threads stand still. */
import { slotDecoder } from "../../src/chain/decoding/slotDecoder.ts"
import { serveGeyser } from "../../src/chain/geyser/serveGeyser.ts"

serveGeyser(slotDecoder, new URL("./hangingDecoder.ts", import.meta.url))
