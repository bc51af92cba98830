import { slotDecoder } from "../../src/chain/decoding/slotDecoder.ts"
import { serveGeyser } from "../../src/chain/geyser/serveGeyser.ts"

serveGeyser(slotDecoder, new URL("./hangingDecoder.ts", import.meta.url))
