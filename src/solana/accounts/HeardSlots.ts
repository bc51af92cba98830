import { type Clock, Latch } from "effect"

/** The newest slot of a feed, the time of its receipt, and the silences between slots. */
export class HeardSlots {
  /** Opened when slots arrive again after a silence. */
  readonly resumed: Latch.Latch = Latch.makeUnsafe(false)
  readonly #time: Clock.Clock
  #slot = 0
  #atMs: number | null = null
  #advancedAt = Number.NEGATIVE_INFINITY
  #isSilent = false

  constructor(time: Clock.Clock) {
    this.#time = time
  }

  /** 0 before the first. */
  get slot(): number {
    return this.#slot
  }

  /** In milliseconds since the Unix epoch; null before the first. */
  get atMs(): number | null {
    return this.#atMs
  }

  /** The time of its receipt by the monotonic clock, in milliseconds. */
  get advancedAt(): number {
    return this.#advancedAt
  }

  /** True from a silence of the chain until a new slot: connections and answers at the same slot end none. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  /** The monotonic clock, in milliseconds. */
  nowMs(): number {
    return Number(this.#time.monotonicTimeNanosUnsafe()) / 1e6
  }

  /** The wall clock, in milliseconds. */
  wallMs(): number {
    return this.#time.currentTimeMillisUnsafe()
  }

  take(slot: number): void {
    if (slot > this.#slot) {
      this.#slot = slot
      this.#atMs = this.wallMs()
      this.#advancedAt = this.nowMs()
      this.endSilence()
    }
  }

  fallSilent(): void {
    this.#isSilent = true
    this.resumed.closeUnsafe()
  }

  endSilence(): void {
    if (this.#isSilent) {
      this.#isSilent = false
      this.resumed.openUnsafe()
    }
  }

  /** The chain is another one. */
  startAnew(): void {
    this.#slot = 0
    this.#atMs = null
    this.endSilence()
  }
}
