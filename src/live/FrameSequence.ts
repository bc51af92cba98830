import type { SharedFrame } from "./frames.ts"

/** Frames of a sequence that can be replayed. */
export const MOST_KEPT = 2000

/** While fewer frames than this are held, none are removed. */
const LEAST_TRIMMED = 64

/** A numbered sequence of frames. */
export class FrameSequence {
  #frames: Array<SharedFrame> = []
  #next = 0
  #trimAt = LEAST_TRIMMED

  /** The number of the last frame; -1 before the first. */
  get last(): number {
    return this.#next - 1
  }

  /** Appends frames and returns the number of the first. */
  push(frames: ReadonlyArray<SharedFrame>): number {
    const first = this.#next
    for (const frame of frames) {
      this.#frames.push(frame)
    }
    this.#next += frames.length
    if (this.#frames.length >= this.#trimAt) {
      this.#trim()
    }
    return first
  }

  /** The frames after this number, dropped ones included, and the number of the first. */
  since(seq: number): { readonly first: number; readonly frames: ReadonlyArray<SharedFrame> } {
    const count = Math.min(Math.max(0, this.last - seq), this.#frames.length)
    return { first: this.#next - count, frames: count === 0 ? [] : this.#frames.slice(-count) }
  }

  /** The frames after this number; null when one of them is gone or the number is unknown. */
  after(seq: number): ReadonlyArray<SharedFrame> | null {
    const missed = this.last - seq
    if (missed < 0 || missed > MOST_KEPT || missed > this.#frames.length) {
      return null
    }
    const frames = missed === 0 ? [] : this.#frames.slice(-missed)
    return frames.every(({ memory }) => memory !== null) ? frames : null
  }

  /** True for a frame that may be removed once it is dropped. */
  protected isForgettable(_frame: SharedFrame): boolean {
    return true
  }

  /** Removes dropped frames from the beginning, and the oldest frames beyond `MOST_KEPT`. */
  #trim(): void {
    const held = this.#frames.findIndex((frame) => frame.memory !== null || !this.isForgettable(frame))
    const from = held === -1 ? this.#frames.length : held
    this.#frames = this.#frames.slice(Math.max(from, this.#frames.length - MOST_KEPT))
    this.#trimAt = Math.max(LEAST_TRIMMED, 2 * this.#frames.length)
  }
}
