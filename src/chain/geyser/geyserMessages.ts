/** Messages between the main thread and the threads that read a Geyser. Plain data: they are copied, or their memory is transferred. */
import type { Address } from "../../domain/Address.ts"
import type { PackedReply } from "../blocks/blockMessages.ts"
import type { GeyserRequest } from "./geyserUpdates.ts"
import type { WholeSlot } from "./SlotAssembly.ts"

/** An endpoint as plain data. */
export interface GeyserTarget {
  readonly host: string
  readonly url: string
  readonly token: string | null
}

/** The end of a stream. `range`: cannot replay from the requested slot. `refused`: such streams are not offered. */
export interface StreamEnd {
  readonly reason: "range" | "refused" | "failure"
  readonly detail: string
}

/** Settings of the thread. */
export interface GeyserWorkerSettings {
  readonly targets: ReadonlyArray<GeyserTarget>
  /** A stream without an update for this long counts as dead. */
  readonly silenceMs: number
  /** The number of the commitment of slots and blocks. */
  readonly commitment: number
  /** Threads that decode. With one, the thread that reads decodes too. */
  readonly decoders: number
}

/**
 * `follow` begins at this slot, or with the newest slot when it is null. `taken`: slots below this one are no longer
 * wanted. `leave` goes on with the next endpoint.
 */
export type GeyserCommand =
  | { readonly _tag: "follow"; readonly run: number; readonly from: number | null }
  | { readonly _tag: "taken"; readonly below: number }
  | { readonly _tag: "leave" }

/**
 * `began`: the stream has every slot from this one on; blocks of the slots in `packing` are on their way too. `slot`: a
 * slot was confirmed on top of its parent; its blockhash comes with its head. `block`: a whole slot, packed.
 * `unreadable`: a whole slot that cannot be decoded. `ended`: a stream ended, and another one is tried. `lost`: a decoder
 * thread ended, and the slots that it had are unreadable.
 */
export type GeyserEvent<Message> = { readonly run: number } & (
  | {
      readonly _tag: "began"
      readonly from: number
      readonly packing: ReadonlyArray<number>
      readonly host: string
    }
  | {
      readonly _tag: "slot"
      readonly slot: number
      readonly parentSlot: number | null
      readonly blockhash: string | null
    }
  | { readonly _tag: "block"; readonly slot: number; readonly message: Message }
  | { readonly _tag: "unreadable"; readonly slot: number }
  | { readonly _tag: "ended"; readonly host: string; readonly detail: string }
  | { readonly _tag: "lost"; readonly detail: string }
)

/**
 * To a decoder thread, about one slot that is being decoded. `decode`: transactions as `MessageBatch` joins them, and
 * their indexes. `pack` asks for the whole slot. `drop`: the slot is no longer wanted.
 */
export type DecoderCommand = { readonly decoding: number } & (
  | {
      readonly _tag: "decode"
      readonly slot: number
      readonly indexes: ReadonlyArray<number>
      readonly bytes: Uint8Array<ArrayBuffer>
    }
  | { readonly _tag: "pack"; readonly whole: WholeSlot }
  | { readonly _tag: "drop" }
)

/**
 * From a decoder thread. `read`: so many bytes of transactions are decoded. `packed`: the whole slot that was asked for;
 * null when it cannot be decoded.
 */
export type DecoderReply<Message> =
  | { readonly _tag: "read"; readonly bytes: number }
  | { readonly _tag: "packed"; readonly decoding: number; readonly packed: PackedReply<Message> | null }

/**
 * To the thread of account streams. `open` connects; nothing arrives before a request. `request` is sent as it is. `follow` changes
 * the accounts of the stream and requests all of them, as the filter `name`. `taken`: so many bytes of updates were read.
 */
export type AccountCommand = { readonly stream: number } & (
  | { readonly _tag: "open"; readonly target: GeyserTarget; readonly from: number | null }
  | { readonly _tag: "request"; readonly request: GeyserRequest }
  | {
      readonly _tag: "follow"
      readonly name: string
      readonly added: ReadonlyArray<Address>
      readonly removed: ReadonlyArray<Address>
      /** The number of the commitment. */
      readonly commitment: number
      readonly from: number | null
    }
  | { readonly _tag: "taken"; readonly bytes: number }
  | { readonly _tag: "close" }
)

/** From the thread of account streams. `updates` are messages as `UpdateBatches` joins them. */
export type AccountEvent = { readonly stream: number } & (
  | { readonly _tag: "updates"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly _tag: "ended"; readonly end: StreamEnd }
)
