/** A decoder thread that ends at every fifth slot, and whose decoder throws at every seventh. */
import { slotDecoder } from "../../src/chain/decoding/slotDecoder.ts"
import { serveDecoder } from "../../src/chain/geyser/serveDecoder.ts"

serveDecoder({
  open: (slot) => {
    const { decode, pack } = slotDecoder.open(slot)
    return {
      decode: (index, info) => {
        if (slot % 5 === 0) {
          process.exit(3)
        }
        if (slot % 7 === 0) {
          throw new Error("a decoder threw")
        }
        decode(index, info)
      },
      pack
    }
  }
})
