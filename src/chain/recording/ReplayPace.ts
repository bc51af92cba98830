/** How far a replay may play now. It goes on freely, or waits after a slot until it is told to go on. */
import { Effect, Latch } from "effect"

export class ReplayPace {
  readonly #changed = Latch.makeUnsafe(false)
  /** Slots up to here may be played. */
  #until: number
  /** Slots up to here are played without pauses. */
  #hurried = 0
  #slot: number
  /** Recorded milliseconds that pass in one; null for as fast as readers take them. */
  speed: number | null

  /** `isStepping` waits after the first slot. */
  constructor(first: number, { isStepping, speed }: { readonly isStepping: boolean; readonly speed: number | null }) {
    this.#slot = first
    this.#until = isStepping ? first : Number.POSITIVE_INFINITY
    this.speed = speed
  }

  /** The newest slot that was played. */
  get slot(): number {
    return this.#slot
  }

  /** True when nothing more is played until it is told to go on. */
  get isPaused(): boolean {
    return this.#slot >= this.#until
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
      this.#changed.closeUnsafe()
      return Effect.andThen(this.#changed.await, this.reach(slot))
    })
  }

  /** Milliseconds to wait before something of this slot that came so much later than what was played last. */
  pauseMs(slot: number, recordedMs: number): number {
    return this.speed === null || slot <= this.#hurried ? 0 : recordedMs / this.speed
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
    this.#changed.openUnsafe()
  }
}
