import type { SharedFrame } from "./liveFrames.ts"

/** How long a frame can be sent again, in milliseconds. */
export const KEPT_MS = 120_000

interface Kept {
  readonly frame: SharedFrame
  readonly atMs: number
}

/** Every frame that can still be sent again, within a bound on their bytes: past it, the oldest of all are given up. */
export class ReplayBuffer {
  readonly #mostBytes: number
  #kept: Array<Kept> = []
  #first = 0
  #bytes = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** What is held, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  add(frame: SharedFrame, nowMs: number): void {
    this.#kept.push({ frame, atMs: nowMs })
    this.#bytes += frame.length
    this.expire(nowMs)
  }

  /** Gives up what is too old, or too much. */
  expire(nowMs: number): void {
    let oldest = this.#kept[this.#first]
    while (oldest !== undefined && (this.#bytes > this.#mostBytes || nowMs - oldest.atMs > KEPT_MS)) {
      oldest.frame.slab = null
      this.#bytes -= oldest.frame.length
      oldest = this.#kept[++this.#first]
    }
    if (this.#first > 1024 && this.#first * 2 > this.#kept.length) {
      this.#kept = this.#kept.slice(this.#first)
      this.#first = 0
    }
  }
}
