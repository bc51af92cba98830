/** A decoder thread that does what the first byte of a transaction says. A packed slot has the other bytes. */
import { serveDecoder } from "../../src/chain/geyser/serveDecoder.ts"

export const KEEP = 0
export const THROW = 1
export const EXIT = 2
export const FAIL = 3
export const HANG = 4

/** A slot that cannot be packed. */
export const UNPACKED = 13

export interface StrangeBlock {
  readonly slot: number
  /** How many transactions were decoded. */
  readonly decoded: number
  /** The last byte of each transaction. */
  readonly packed: Uint8Array<ArrayBuffer>
}

const obey = (command: number | undefined): void => {
  switch (command) {
    case THROW:
      throw new Error("a decoder threw")
    case EXIT:
      process.exit(3)
      return
    case FAIL:
      process.nextTick(() => {
        throw new Error("the thread failed")
      })
      return
    case HANG:
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
}

serveDecoder<StrangeBlock>({
  open: (slot) => {
    const kept = new Map<number, number>()
    return {
      decode: (index, info) => {
        obey(info[0])
        kept.set(index, info.at(-1) ?? 0)
      },
      pack: ({ head, indexes }) => {
        if (head.slot === UNPACKED) {
          throw new Error("a slot cannot be packed")
        }
        const packed = Uint8Array.from(indexes, (index) => kept.get(index) ?? 255)
        return { message: { slot, decoded: kept.size, packed }, transfer: [packed.buffer] }
      }
    }
  }
})
