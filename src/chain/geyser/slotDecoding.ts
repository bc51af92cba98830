/** How the slots of a Geyser are decoded: each transaction when it arrives, and the slot packed once it is whole. */
import type { PackedReply } from "../blocks/blockMessages.ts"
import type { WholeSlot } from "./SlotAssembly.ts"

/** Decodes the transactions of one slot. */
export interface SlotDecoding<Message> {
  /** `info` is the message `TransactionInfo`. What is kept must not refer to its bytes. */
  readonly decode: (index: number, info: Uint8Array) => void
  /** Packs these transactions, and nothing besides: a transaction of an older stream may be left out. */
  readonly pack: (whole: WholeSlot) => PackedReply<Message>
}

/** Begins a slot. */
export interface SlotDecoder<Message> {
  readonly open: (slot: number) => SlotDecoding<Message>
}

/** A slot that is decoded in this thread or in another one. Never throws. */
export interface OpenDecoding {
  readonly decode: SlotDecoding<never>["decode"]
  /** Asks for the packed slot. The reply comes once, now or later. */
  readonly pack: (whole: WholeSlot) => void
  /** The slot is no longer wanted. No reply comes after this. */
  readonly drop: () => void
}

/** Takes a packed slot; null when it could not be decoded. */
export type TakePacked<Message> = (packed: PackedReply<Message> | null) => void

/** Where slots are decoded. */
export interface Decoders<Message> {
  readonly open: (slot: number, take: TakePacked<Message>) => OpenDecoding
  /** Bytes that were passed to other threads and are not decoded yet. */
  readonly unread: number
}

/** Decodes in this thread. A decoder that throws costs one slot, which is then read from a node. */
export const decodersHere = <Message>({ open }: SlotDecoder<Message>): Decoders<Message> => ({
  unread: 0,
  open: (slot, take) => {
    const decoding = open(slot)
    const failed = new Set<number>()
    const packed = (whole: WholeSlot): PackedReply<Message> | null => {
      try {
        return whole.indexes.some((index) => failed.has(index)) ? null : decoding.pack(whole)
      } catch {
        return null
      }
    }
    return {
      decode: (index, info) => {
        try {
          decoding.decode(index, info)
        } catch {
          failed.add(index)
        }
      },
      pack: (whole) => take(packed(whole)),
      drop: () => undefined
    }
  }
})
