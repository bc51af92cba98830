/** A stream is repeated from so many slots before the newest one: writes come no later than that after the end of their slot. */
const REPLAYED_SLOTS = 32

/** A stream that repeats the writes since before the loss of the one before. */
export class StreamReplay {
  #to = 0
  #isChecked = true

  /** The slot to begin at where this one is the newest; null where the chain has no slots before it. */
  fromOf(slot: number): number | null {
    return slot <= REPLAYED_SLOTS ? null : slot - REPLAYED_SLOTS
  }

  /** A stream that repeats the slots before this one, or null for one that does not. */
  begin(slot: number | null): void {
    this.#to = slot ?? 0
    this.#isChecked = slot === null
  }

  /** True when this first slot of the stream is later than those before the loss, so that writes in between may be missing. */
  beginsLate(slot: number): boolean {
    const isLate = !this.#isChecked && slot > this.#to
    this.#isChecked = true
    return isLate
  }

  /** True once a slot is later than those before the loss. */
  isPast(slot: number): boolean {
    return slot > this.#to
  }
}
