import type { SharedFrame } from "./frames.ts"

/** Age up to which a frame can be replayed, in milliseconds. */
export const KEPT_MS = 120_000

interface ReplayEntry {
  readonly frame: SharedFrame
  readonly atMs: number
}

/** Frames that can be replayed, bounded by age and by bytes over all streams. The oldest are dropped first. */
export class ReplayBuffer {
  readonly #mostBytes: number
  #kept: Array<ReplayEntry> = []
  #first = 0
  #bytes = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Bytes held. */
  get bytes(): number {
    return this.#bytes
  }

  add(frame: SharedFrame, nowMs: number): void {
    this.#kept.push({ frame, atMs: nowMs })
    this.#bytes += frame.length
    this.expire(nowMs)
  }

  /** Drops frames older than `KEPT_MS`, and the oldest beyond the byte limit. */
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
