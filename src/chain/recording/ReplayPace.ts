/** How far a replay may play now. It goes on freely, or waits after a slot until it is told to go on. */
import { Effect, Latch } from "effect"

export class ReplayPace {
  readonly #changed = Latch.makeUnsafe(false)
  /** Slots up to here may be played. */
  #until: number
  /** Slots up to here are played without pauses. */
  #hurried = 0
  #slot: number
  /** True once everything up to `#until` was played. */
  #isWaiting = false
  /** True once the recording was played to its end. */
  #isEnded = false
  /** Recorded milliseconds that pass in one; null for as fast as readers take them. */
  speed: number | null

  /** `isStepping` waits after the first slot. */
  constructor(first: number, { isStepping, speed }: { readonly isStepping: boolean; readonly speed: number | null }) {
    this.#slot = first
    this.#until = isStepping ? first : Number.POSITIVE_INFINITY
    this.speed = speed
  }

  /** The newest slot that has begun, or is about to begin. */
  get slot(): number {
    return this.#slot
  }

  /** True once the replay has played its last slot whole, and waits until it is told to go on. */
  get isPaused(): boolean {
    return this.#isEnded ? this.#until !== Number.POSITIVE_INFINITY : this.#isWaiting
  }

  /** Waits until this slot may be played. Slots that came before never wait. */
  reach(slot: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (slot <= this.#until) {
        this.#slot = Math.max(this.#slot, slot)
        return Effect.void
      }
      // Slots without a write have nothing to play.
      this.#slot = Math.max(this.#slot, this.#until)
      this.#isWaiting = true
      this.#changed.closeUnsafe()
      return Effect.andThen(this.#changed.await, this.reach(slot))
    })
  }

  /** Milliseconds to wait before something of this slot that came so much later than what was played last. */
  pauseMs(slot: number, recordedMs: number): number {
    return this.speed === null || slot <= this.#hurried ? 0 : recordedMs / this.speed
  }

  /** Says that there is nothing more to play. */
  end(): void {
    this.#isEnded = true
  }

  pause(): void {
    this.#until = this.#slot
  }

  resume(): void {
    this.#setUntil(Number.POSITIVE_INFINITY)
  }

  /** Plays this many more slots, then waits. */
  step(slots: number): void {
    this.#setUntil(this.#slot + slots)
  }

  /** Plays up to the end of a later slot without pauses, then waits. */
  seek(slot: number): void {
    this.#hurried = slot
    this.#setUntil(slot)
  }

  #setUntil(slot: number): void {
    this.#until = slot
    this.#isWaiting = false
    this.#changed.openUnsafe()
  }
}
