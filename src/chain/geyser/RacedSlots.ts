/** What several Geyser endpoints stream at once: the first whole slot wins, as long as they agree on the chain. */
import type { SlotRange } from "../blocks/SlotStream.ts"
import { type SlotState, StreamedSlots } from "./StreamedSlots.ts"

/** A slot for which a node is asked, because endpoints have different blocks or all were wrong before. */
export interface Dispute {
  readonly slot: number
  readonly hashes: ReadonlyArray<string>
}

/** Where a taken slot came from: its hash, if that was known, and the endpoints that had this hash then. */
interface Taken {
  readonly hash: string | null
  readonly places: ReadonlyArray<number>
}

/** How far before a dispute its first different slot is looked for. */
const LOOKED_BACK = 64
/** The most taken slots that are remembered. They only add up while no node ends a dispute. */
const MOST_TAKEN = 10_000

/** An endpoint that was set aside comes back once it agrees with another one on this many slots, and on all they share. */
const AGREED_SLOTS = 8

/** The different hashes of a slot. */
const hashesIn = (buffers: ReadonlyArray<StreamedSlots<unknown>>, slot: number): ReadonlyArray<string> =>
  Array.from(new Set(buffers.map((buffer) => buffer.hashOf(slot)).filter((hash) => hash !== null)))

/**
 * The slots of several endpoints. A slot is taken from the endpoint that had it whole first, before the others have
 * confirmed it. A slot whose hashes differ before it is taken is read from a node. From then on a slot counts only when
 * two endpoints agree on it, until `settle` sets the wrong endpoints aside. Slots that only wrong endpoints had, but that
 * were already taken, are then returned by `takeForked`. Once all endpoints with a stream are set aside, the node is asked
 * about newer slots, and an endpoint that has the node's block comes back. Knows no clock and no thread.
 */
export class RacedSlots<Message> {
  /** What each endpoint streams. */
  readonly buffers: ReadonlyArray<StreamedSlots<Message>>
  readonly #won: Array<number>
  readonly #taken = new Map<number, Taken>()
  /** The endpoints that are set aside, and the slot that each had wrong last. */
  readonly #aside = new Map<number, number>()
  readonly #isHeard: (place: number) => boolean
  #dispute: Dispute | null = null
  /** The first slot on which the endpoints of the dispute differ. An endpoint that skipped it has no hash for it. */
  #differsFrom = 0
  /** The hash that each endpoint has in the disputed slot. The buffers forget it. */
  readonly #disputed = new Map<number, string>()
  /** Slots before this one are forgotten. */
  #below = 0
  #forked: SlotRange | null = null
  #winner = 0

  /**
   * `isHeard` tells whether an endpoint has a stream. Slots of the others are not waited for, and nobody waits for the
   * others to agree with an endpoint that was set aside.
   */
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

  /**
   * The slot that a node is asked about, until `settle`; null while the endpoints agree. An endpoint that is followed
   * again does not wait for a dispute about those that were set aside.
   */
  get dispute(): Dispute | null {
    const isOver = this.#isFollowed && Array.from(this.#disputed.keys()).every((place) => this.#aside.has(place))
    return isOver ? null : this.#dispute
  }

  isAside(place: number): boolean {
    return this.#aside.has(place)
  }

  /** Notes whether the endpoints agree on a slot. Call it after a hash has arrived. */
  compare(slot: number): void {
    if (this.dispute === null) {
      this.#endDispute()
    }
    const compared = this.#compared
    const hashes = hashesIn(compared, slot)
    const isFollowed = this.#isFollowed
    if (this.#dispute === null && hashes.length > (isFollowed ? 1 : 0)) {
      this.#dispute = { slot, hashes }
      this.#differsFrom = isFollowed ? this.#firstDifferent(slot) : slot
    }
    if (slot === this.#dispute?.slot) {
      this.buffers.forEach((buffer, place) => {
        const own = compared.includes(buffer) ? buffer.hashOf(slot) : null
        if (own !== null) {
          this.#disputed.set(place, own)
        }
      })
    }
    this.#readmit()
  }

  /**
   * Ends the dispute of this slot by the hash that a node has. Returns the endpoints that are set aside for it. Does
   * nothing when the dispute is of another slot: the node was asked before `clear`.
   */
  settle(slot: number, hash: string): ReadonlyArray<number> {
    if (slot !== this.dispute?.slot) {
      return []
    }
    const wrong = Array.from(this.#disputed).flatMap(([place, own]) => (own === hash ? [] : [place]))
    // Nothing was taken from endpoints that had been set aside.
    const isTaken = this.#aside.size < this.buffers.length
    this.#disputed.forEach((own, place) => (own === hash ? this.#aside.delete(place) : this.#aside.set(place, slot)))
    if (isTaken) {
      this.#noteForked(new Set(wrong))
    }
    this.#endDispute()
    return wrong
  }

  /** The slots that were taken, but that only wrong endpoints had; null when there are none. Each is returned once. */
  takeForked(): SlotRange | null {
    const forked = this.#forked
    this.#forked = null
    return forked
  }

  stateOf(slot: number): SlotState {
    const counted = this.#counted
    const hashes = this.#hashes(slot)
    if (hashes.length > 1) {
      return "absent"
    }
    const states = new Set(counted.map((buffer) => buffer.stateOf(slot)))
    const isSure = this.dispute === null || counted.filter((buffer) => buffer.hashOf(slot) !== null).length > 1
    if (states.has("block")) {
      return isSure ? "block" : "coming"
    }
    if (states.has("skipped")) {
      const skipping = counted.filter((buffer) => buffer.stateOf(slot) === "skipped").length
      return hashes.length === 0 && (this.dispute === null || skipping > 1) ? "skipped" : "absent"
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
        const hash = buffer.hashOf(slot)
        this.#taken.set(slot, { hash, places: hash === null ? [place] : this.#placesWith(slot, hash) })
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
    this.#below = Math.max(this.#below, slot)
    const kept = this.#dispute === null ? slot : Math.min(slot, this.#differsFrom)
    for (const taken of this.#taken.keys()) {
      if (taken < kept || this.#taken.size > MOST_TAKEN) {
        this.#taken.delete(taken)
      }
    }
    // The slots that an endpoint had wrong may now be forgotten.
    this.#readmit()
  }

  /** Forgets everything, to begin at another slot or chain. */
  clear(): void {
    this.buffers.forEach((buffer) => buffer.clear())
    this.#taken.clear()
    this.#aside.clear()
    this.#endDispute()
    this.#below = 0
    this.#forked = null
  }

  #endDispute(): void {
    this.#dispute = null
    this.#disputed.clear()
  }

  /** True once an endpoint that counts has the whole slot, or had it. */
  #has(slot: number): boolean {
    return this.#taken.has(slot) || this.#counted.some((buffer) => buffer.stateOf(slot) === "block")
  }

  get #counted(): ReadonlyArray<StreamedSlots<Message>> {
    return this.buffers.filter((_, place) => !this.#aside.has(place))
  }

  /** False once every endpoint with a stream is set aside. */
  get #isFollowed(): boolean {
    return this.#aside.size === 0 || this.buffers.some((_, place) => !this.#aside.has(place) && this.#isHeard(place))
  }

  /**
   * The endpoints whose hashes are compared: those that count or, when none of these has a stream, also those whose wrong
   * slot is forgotten.
   */
  get #compared(): ReadonlyArray<StreamedSlots<Message>> {
    return this.#isFollowed
      ? this.#counted
      : this.buffers.filter((_, place) => (this.#aside.get(place) ?? -1) < this.#below)
  }

  /** The endpoints that slots may still come from: those with a stream or, while none has one, all. */
  get #waited(): ReadonlyArray<StreamedSlots<Message>> {
    const heard = this.buffers.filter((_, place) => !this.#aside.has(place) && this.#isHeard(place))
    return heard.length === 0 ? this.#counted : heard
  }

  /** The different hashes of a slot at the endpoints that count. */
  #hashes(slot: number): ReadonlyArray<string> {
    return hashesIn(this.#counted, slot)
  }

  /** The endpoints that count and have this hash in a slot. */
  #placesWith(slot: number, hash: string): ReadonlyArray<number> {
    return this.buffers.flatMap((buffer, place) =>
      !this.#aside.has(place) && buffer.hashOf(slot) === hash ? [place] : []
    )
  }

  /** The first slot up to this one that has two hashes, or a hash although an endpoint skipped it. */
  #firstDifferent(slot: number): number {
    let first = slot
    for (let earlier = slot - 1; earlier > slot - LOOKED_BACK; earlier--) {
      const hashes = this.#hashes(earlier)
      const isSkipped = this.#counted.some((buffer) => buffer.stateOf(earlier) === "skipped")
      if (hashes.length > 1 || (hashes.length > 0 && isSkipped)) {
        first = earlier
      }
    }
    return first
  }

  /** Notes the taken slots that only these endpoints had. Call it while there still is a dispute. */
  #noteForked(wrong: ReadonlySet<number>): void {
    if (this.#dispute === null) {
      return
    }
    const isForked = (slot: number, { hash, places }: Taken): boolean =>
      places.every((place) => wrong.has(place)) && (hash === null || this.#placesWith(slot, hash).length === 0)
    const forked = Array.from(this.#taken).flatMap(([slot, taken]) =>
      slot >= this.#differsFrom && isForked(slot, taken) ? [slot] : []
    )
    if (forked.length === 0) {
      return
    }
    // A slot that a wrong endpoint skipped was not taken, and its block is missing.
    let from = this.#differsFrom
    while (this.#taken.has(from) && !forked.includes(from)) {
      from++
    }
    this.#forked = {
      from: Math.min(from, this.#forked?.from ?? from),
      to: Math.max(...forked, this.#forked?.to ?? 0)
    }
  }

  /** Endpoints that agree with the others again are no longer set aside. */
  #readmit(): void {
    for (const place of this.#aside.keys()) {
      if (this.#agrees(place)) {
        this.#aside.delete(place)
      }
    }
  }

  #agrees(place: number): boolean {
    const shared = Array.from(this.buffers[place]?.hashes ?? []).flatMap(([slot, hash]) => {
      const others = this.#hashes(slot)
      return others.length === 0 ? [] : [others.every((other) => other === hash)]
    })
    return shared.length >= AGREED_SLOTS && shared.every((isSame) => isSame)
  }
}
