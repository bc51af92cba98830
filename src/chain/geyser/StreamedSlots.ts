/** State of a slot. `coming` may still arrive; `absent` is not in the stream. */
export type SlotState = "block" | "skipped" | "coming" | "absent"

/** The most skipped slots between a slot and its parent that are noted. */
const MOST_SKIPPED = 10_000

/** Whole slots that were not taken yet, and what is known about the other slots. Knows no clock and no thread. */
export class StreamedSlots<Message> {
  readonly #blocks = new Map<number, Message>()
  readonly #unreadable = new Set<number>()
  readonly #skipped = new Set<number>()
  readonly #hashes = new Map<number, string>()
  /** Slots of an earlier stream whose blocks are on their way. */
  #packing: ReadonlySet<number> = new Set()
  readonly #wants: (slot: number) => boolean
  #from = Number.POSITIVE_INFINITY
  #below = 0
  #head = -1

  /** Keeps only whole slots that `wants` wants. */
  constructor(wants: (slot: number) => boolean = () => true) {
    this.#wants = wants
  }

  /** The newest slot that the stream has confirmed; -1 before the first. */
  get head(): number {
    return this.#head
  }

  /**
   * The stream has every slot from this one on. What is known about earlier slots stays, and blocks of the slots in
   * `packing` still come.
   */
  begin(from: number, packing: ReadonlyArray<number> = []): void {
    this.#from = from
    this.#packing = new Set(packing)
  }

  /** The blockhashes of the slots that are still wanted. */
  get hashes(): ReadonlyMap<number, string> {
    return this.#hashes
  }

  /** The blockhash of a slot; null when it is not known. */
  hashOf(slot: number): string | null {
    return this.#hashes.get(slot) ?? null
  }

  /** A slot was confirmed. The slots between it and its parent have no block. */
  link(slot: number, parentSlot: number | null, blockhash: string | null = null): void {
    this.#head = Math.max(this.#head, slot)
    if (blockhash !== null && slot >= this.#below) {
      this.#hashes.set(slot, blockhash)
    }
    if (parentSlot === null || slot - parentSlot > MOST_SKIPPED) {
      return
    }
    for (let skipped = Math.max(parentSlot + 1, this.#below); skipped < slot; skipped++) {
      this.#skipped.add(skipped)
    }
  }

  /** Keeps a whole slot, unless it is no longer wanted. */
  put(slot: number, message: Message): void {
    if (slot >= this.#below && this.#wants(slot)) {
      this.#blocks.set(slot, message)
    }
  }

  /** The slot is whole but cannot be decoded. */
  fail(slot: number): void {
    if (slot >= this.#below) {
      this.#unreadable.add(slot)
    }
  }

  stateOf(slot: number): SlotState {
    if (this.#blocks.has(slot)) {
      return "block"
    }
    if (this.#skipped.has(slot)) {
      return "skipped"
    }
    const isStreamed = slot >= this.#from || this.#packing.has(slot)
    return isStreamed && !this.#unreadable.has(slot) ? "coming" : "absent"
  }

  /** Takes the whole slot out of the buffer. */
  take(slot: number): Message | undefined {
    const message = this.#blocks.get(slot)
    this.#blocks.delete(slot)
    return message
  }

  /** True when the stream has every slot from this one up to its head. */
  covers(slot: number): boolean {
    return slot <= this.#head && (slot >= this.#from || this.stateOf(slot) !== "absent")
  }

  /** Slots before this one are no longer wanted. */
  forgetBefore(slot: number): void {
    this.#below = Math.max(this.#below, slot)
    for (const slots of [this.#blocks, this.#unreadable, this.#skipped, this.#hashes]) {
      for (const known of slots.keys()) {
        if (known < slot) {
          slots.delete(known)
        }
      }
    }
  }

  /** Forgets everything, to begin at another slot or chain. */
  clear(): void {
    this.#blocks.clear()
    this.#unreadable.clear()
    this.#skipped.clear()
    this.#hashes.clear()
    this.#packing = new Set()
    this.#from = Number.POSITIVE_INFINITY
    this.#below = 0
    this.#head = -1
  }
}
