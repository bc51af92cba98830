import { slotDecoder } from "../../src/chain/decoding/slotDecoder.ts"
import { serveDecoder } from "../../src/chain/geyser/serveDecoder.ts"

serveDecoder({
  open: (slot) => {
    const { decode, pack } = slotDecoder.open(slot)
    return {
      decode: (index, info) => {
        if (slot % 5 === 0) {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
        }
        decode(index, info)
      },
      pack
    }
  }
})
