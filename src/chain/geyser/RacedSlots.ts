/** What several Geyser endpoints stream at once: the first whole slot wins, as long as they agree on the chain. */
import { type SlotState, StreamedSlots } from "./StreamedSlots.ts"

/** A slot for which endpoints have different blocks. */
export interface Dispute {
  readonly slot: number
  readonly hashes: ReadonlyArray<string>
}

/** An endpoint that was set aside comes back once it agrees with another one on this many slots, and on all they share. */
const AGREED_SLOTS = 8

/**
 * The slots of several endpoints. A slot is taken from the endpoint that had it whole first. A slot whose hashes differ
 * is in none of them, so it is read from a node. From then on a slot counts only when two endpoints agree on it, until
 * `settle` sets the wrong endpoints aside. Knows no clock and no thread.
 */
export class RacedSlots<Message> {
  /** What each endpoint streams. */
  readonly buffers: ReadonlyArray<StreamedSlots<Message>>
  readonly #won: Array<number>
  readonly #taken = new Set<number>()
  readonly #aside = new Set<number>()
  readonly #isHeard: (place: number) => boolean
  #dispute: Dispute | null = null
  #winner = 0

  /** `isHeard` tells whether an endpoint has a stream. Slots of the others are not waited for. */
  constructor(count: number, isHeard: (place: number) => boolean) {
    this.buffers = Array.from({ length: count }, () => new StreamedSlots<Message>((slot) => !this.#has(slot)))
    this.#won = this.buffers.map(() => 0)
    this.#isHeard = isHeard
  }

  /** The newest slot that an endpoint has confirmed; -1 before the first. */
  get head(): number {
    return Math.max(-1, ...this.#counted.map(({ head }) => head))
  }

  /** How many slots were taken from each endpoint. */
  get won(): ReadonlyArray<number> {
    return this.#won
  }

  /** The endpoint whose slot was taken last. */
  get winner(): number {
    return this.#winner
  }

  /** The first slot on which endpoints differ since the last `settle`; null while they agree. */
  get dispute(): Dispute | null {
    return this.#dispute
  }

  isAside(place: number): boolean {
    return this.#aside.has(place)
  }

  /** Notes whether the endpoints agree on a slot. Call it after a hash has arrived. */
  compare(slot: number): void {
    const hashes = this.#hashes(slot)
    if (hashes.length > 1) {
      this.#dispute ??= { slot, hashes }
    }
    for (const place of this.#aside) {
      if (this.#agrees(place)) {
        this.#aside.delete(place)
      }
    }
  }

  /** Ends a dispute by the hash that a node has. Returns the endpoints that are set aside for it. */
  settle(hash: string): ReadonlyArray<number> {
    const slot = this.#dispute?.slot
    this.#dispute = null
    const wrong = this.buffers.flatMap((buffer, place) => {
      const own = slot === undefined ? null : buffer.hashOf(slot)
      return own === null || own === hash || this.#aside.has(place) ? [] : [place]
    })
    wrong.forEach((place) => this.#aside.add(place))
    return wrong
  }

  stateOf(slot: number): SlotState {
    const counted = this.#counted
    const hashes = this.#hashes(slot)
    if (hashes.length > 1) {
      return "absent"
    }
    const states = new Set(counted.map((buffer) => buffer.stateOf(slot)))
    const isSure = this.#dispute === null || counted.filter((buffer) => buffer.hashOf(slot) !== null).length > 1
    if (states.has("block")) {
      return isSure ? "block" : "coming"
    }
    if (states.has("skipped")) {
      return "skipped"
    }
    return this.#waited.some((buffer) => buffer.stateOf(slot) === "coming") ? "coming" : "absent"
  }

  /** Takes the whole slot out of the buffer of its winner. */
  take(slot: number): Message | undefined {
    if (this.stateOf(slot) !== "block") {
      return undefined
    }
    for (const [place, buffer] of this.buffers.entries()) {
      const message = this.#aside.has(place) ? undefined : buffer.take(slot)
      if (message !== undefined) {
        this.#winner = place
        this.#won[place] = (this.#won[place] ?? 0) + 1
        this.#taken.add(slot)
        return message
      }
    }
    return undefined
  }

  /** True when an endpoint has every slot from this one up to the head. */
  covers(slot: number): boolean {
    return this.#counted.some((buffer) => buffer.covers(slot))
  }

  /** Slots before this one are no longer wanted. */
  forgetBefore(slot: number): void {
    this.buffers.forEach((buffer) => buffer.forgetBefore(slot))
    for (const taken of this.#taken) {
      if (taken < slot) {
        this.#taken.delete(taken)
      }
    }
  }

  /** Forgets everything, to begin at another slot or chain. */
  clear(): void {
    this.buffers.forEach((buffer) => buffer.clear())
    this.#taken.clear()
    this.#aside.clear()
    this.#dispute = null
  }

  /** True once an endpoint that counts has the whole slot, or had it. */
  #has(slot: number): boolean {
    return this.#taken.has(slot) || this.#counted.some((buffer) => buffer.stateOf(slot) === "block")
  }

  get #counted(): ReadonlyArray<StreamedSlots<Message>> {
    return this.buffers.filter((_, place) => !this.#aside.has(place))
  }

  /** The endpoints that slots may still come from: those with a stream or, while none has one, all. */
  get #waited(): ReadonlyArray<StreamedSlots<Message>> {
    const heard = this.buffers.filter((_, place) => !this.#aside.has(place) && this.#isHeard(place))
    return heard.length === 0 ? this.#counted : heard
  }

  /** The different hashes of a slot. */
  #hashes(slot: number): ReadonlyArray<string> {
    const hashes = this.#counted.map((buffer) => buffer.hashOf(slot)).filter((hash) => hash !== null)
    return Array.from(new Set(hashes))
  }

  #agrees(place: number): boolean {
    const shared = Array.from(this.buffers[place]?.hashes ?? []).flatMap(([slot, hash]) => {
      const others = this.#hashes(slot)
      return others.length === 0 ? [] : [others.every((other) => other === hash)]
    })
    return shared.length >= AGREED_SLOTS && shared.every((isSame) => isSame)
  }
}
