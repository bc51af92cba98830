import { slotDecoder } from "../../src/chain/decoding/slotDecoder.ts"
import { serveDecoder } from "../../src/chain/geyser/serveDecoder.ts"

/** Decodes as a thread of the service does, after `misbehave` was called with the slot of each transaction. */
export const serveDecoderThat = (misbehave: (slot: number) => void): void =>
  serveDecoder({
    open: (slot) => {
      const { decode, pack } = slotDecoder.open(slot)
      return {
        decode: (index, info) => {
          misbehave(slot)
          decode(index, info)
        },
        pack
      }
    }
  })
