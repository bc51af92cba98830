/** Slots of one reading of a Geyser, on their way from updates to packed blocks. */
import type { PackedReply } from "../blocks/blockMessages.ts"
import type { GeyserEvent, GeyserTarget, StreamEnd } from "./geyserMessages.ts"
import type { StreamFlow, StreamRange } from "./geyserStream.ts"
import type { PlacedTransaction, StreamUpdate } from "./readUpdate.ts"
import { SlotAssembly, type WholeSlot } from "./SlotAssembly.ts"
import type { Decoders, OpenDecoding } from "./slotDecoding.ts"

/** The stream pauses while the main thread has this many slots still to take, and goes on at half as many. */
const MOST_UNTAKEN = 64
/** The stream pauses while decoder threads have this many bytes still to decode: a dozen slots of a busy chain. */
const MOST_UNREAD = 64 * 2 ** 20

/** A confirmed slot and its parent; null for other updates. */
const linkOf = (
  { head, slot }: StreamUpdate,
  commitment: number
): { slot: number; parentSlot: number | null; blockhash: string | null } | null => {
  if (head !== null) {
    return { slot: head.slot, parentSlot: head.parentSlot, blockhash: head.blockhash === "" ? null : head.blockhash }
  }
  return slot?.status === commitment ? { slot: slot.slot, parentSlot: slot.parent, blockhash: null } : null
}

/** One reading, from one `follow` to the next. */
export class GeyserRun<Message> {
  readonly #assembly = new SlotAssembly((forgotten) => this.#drop((slot) => slot === forgotten))
  readonly #post: (event: GeyserEvent<Message>, transfer?: Array<ArrayBuffer>) => void
  readonly #decoders: Decoders<Message>
  readonly #decodings = new Map<number, OpenDecoding>()
  /** Whole slots that are not packed yet. */
  readonly #packing = new Set<number>()
  readonly #run: number
  readonly #start: number | null
  readonly #commitment: number
  #flow: StreamFlow | null = null
  #isPaused = false
  /** How many updates the current stream has delivered. */
  heard = 0

  constructor(
    { commitment, from, run }: StreamRange & { readonly run: number },
    decoders: Decoders<Message>,
    post: (event: GeyserEvent<Message>, transfer?: Array<ArrayBuffer>) => void
  ) {
    this.#run = run
    this.#start = from
    this.#commitment = commitment
    this.#decoders = decoders
    this.#post = post
  }

  /** The slot at which the next stream begins; null for the newest slot. */
  get from(): number | null {
    return this.#assembly.resumeAt ?? this.#start
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  begin(flow: StreamFlow): void {
    this.#flow = flow
    this.#isPaused = false
    this.heard = 0
  }

  /** Takes an update of a stream that was requested from this slot on. */
  take(update: StreamUpdate, { host }: GeyserTarget, from: number | null): void {
    const { head, transaction } = update
    const link = linkOf(update, this.#commitment)
    const slot = link?.slot ?? transaction?.slot ?? null
    if (slot !== null) {
      this.heard += 1
      if (this.heard === 1) {
        this.#post({ _tag: "began", run: this.#run, from: from ?? slot, packing: Array.from(this.#packing), host })
      }
    }
    if (link !== null) {
      this.#post({ _tag: "slot", run: this.#run, ...link })
    }
    const whole =
      transaction === null
        ? head === null
          ? null
          : this.#assembly.add({ _tag: "head", head })
        : this.#add(transaction)
    if (whole !== null) {
      this.#packing.add(whole.head.slot)
      this.#decodingOf(whole.head.slot).pack(whole)
    }
    this.regulate()
  }

  taken(below: number): void {
    this.#assembly.forgetBefore(below)
    this.#drop((slot) => slot < below)
    this.regulate()
  }

  ended({ host }: GeyserTarget, { detail }: StreamEnd): void {
    this.#flow = null
    this.#post({ _tag: "ended", run: this.#run, host, detail })
  }

  /** A decoder thread has ended. */
  lost(detail: string): void {
    this.#post({ _tag: "lost", run: this.#run, detail })
  }

  /** Ends the run: slots that are not packed yet never will be. */
  close(): void {
    this.#drop(() => true)
  }

  /** Pauses the stream while too much waits for the main thread or for decoders, and resumes it at half as much. */
  regulate(): void {
    const { kept } = this.#assembly
    const { unread } = this.#decoders
    if (!this.#isPaused && (kept > MOST_UNTAKEN || unread > MOST_UNREAD)) {
      this.#isPaused = true
      this.#flow?.pause()
    } else if (this.#isPaused && kept <= MOST_UNTAKEN / 2 && unread <= MOST_UNREAD / 2) {
      this.#isPaused = false
      this.#flow?.resume()
    }
  }

  /** Passes the transaction on to its decoder, unless it is not wanted. */
  #add({ index, info, slot }: PlacedTransaction): WholeSlot | null {
    if (!this.#assembly.wants(slot, index)) {
      return null
    }
    if (info !== null) {
      this.#decodingOf(slot).decode(index, info)
    }
    return this.#assembly.add({ _tag: "transaction", slot, index, isVote: info === null })
  }

  #decodingOf(slot: number): OpenDecoding {
    const known = this.#decodings.get(slot)
    if (known !== undefined) {
      return known
    }
    const decoding = this.#decoders.open(slot, (packed) => this.#send(slot, packed))
    this.#decodings.set(slot, decoding)
    return decoding
  }

  #send(slot: number, packed: PackedReply<Message> | null): void {
    this.#forget(slot)
    if (packed === null) {
      this.#post({ _tag: "unreadable", run: this.#run, slot })
    } else {
      this.#post({ _tag: "block", run: this.#run, slot, message: packed.message }, packed.transfer)
    }
  }

  #drop(isDropped: (slot: number) => boolean): void {
    for (const [slot, decoding] of this.#decodings) {
      if (isDropped(slot)) {
        decoding.drop()
        this.#forget(slot)
      }
    }
  }

  #forget(slot: number): void {
    this.#decodings.delete(slot)
    this.#packing.delete(slot)
  }
}
