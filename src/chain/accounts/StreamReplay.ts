/** A stream repeats this many slots before the newest one. No write arrives more slots late than this. */
const REPLAYED_SLOTS = 32

/** Follows a stream that repeats the writes since before the previous stream was lost. */
export class StreamReplay {
  #to = 0
  #isChecked = true

  /** The slot to repeat from when `slot` is the newest; null when the chain has no slots that early. */
  fromOf(slot: number): number | null {
    return slot <= REPLAYED_SLOTS ? null : slot - REPLAYED_SLOTS
  }

  /** Begins a stream. `slot` is the newest slot before the loss, or null when the stream repeats nothing. */
  begin(slot: number | null): void {
    this.#to = slot ?? 0
    this.#isChecked = slot === null
  }

  /** True when the stream begins after the slots before the loss. Writes in between may then be missing. */
  beginsLate(slot: number): boolean {
    const isLate = !this.#isChecked && slot > this.#to
    this.#isChecked = true
    return isLate
  }

  /** True once a slot is later than the slots before the loss. */
  isPast(slot: number): boolean {
    return slot > this.#to
  }
}
