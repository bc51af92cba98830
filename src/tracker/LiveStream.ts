import type { Address } from "../domain/Address.ts"
import type { LiveGap } from "../domain/wallets/LiveFrame.ts"
import type { TrackedWallet } from "../domain/wallets/Tracker.ts"
import type { LiveConnection } from "./LiveConnection.ts"
import type { SharedFrame } from "./liveFrames.ts"
import type { Grant } from "./Tickets.ts"

/** How many of its newest frames a stream can send again. */
export const MOST_KEPT = 2000

/** One numbered sequence of frames, which may outlive the connection it is told over. */
export class LiveStream {
  readonly grant: Grant
  readonly openedAtMs: number
  /** What it is about, as its account sees it. */
  items: ReadonlyArray<TrackedWallet> = []
  /** Its wallets, and since when it tells of each: what was done before a wallet was tracked is not told. */
  wallets: ReadonlyMap<Address, number> = new Map()
  /** Who it is told to; null while nobody is connected. */
  connection: LiveConnection | null = null
  /** When its reader left, and how far it was then. */
  left: { readonly atMs: number; readonly seq: number } | null = null
  /** What a snapshot has to make good, when one is owed. */
  owed: LiveGap | null = null
  #frames: Array<SharedFrame> = []
  #next = 0

  constructor(grant: Grant, nowMs: number) {
    this.grant = grant
    this.openedAtMs = nowMs
  }

  /** The number of the last frame; -1 before the first. */
  get last(): number {
    return this.#next - 1
  }

  /** Gives the frames their places; the number of the first of them. */
  push(frames: ReadonlyArray<SharedFrame>): number {
    const first = this.#next
    for (const frame of frames) {
      this.#frames.push(frame)
    }
    this.#next += frames.length
    if (this.#frames.length > 2 * MOST_KEPT) {
      this.#frames = this.#frames.slice(-MOST_KEPT)
    }
    return first
  }

  /** The frames after this number; null when one of them is no longer held, or was never told. */
  after(seq: number): ReadonlyArray<SharedFrame> | null {
    const missed = this.last - seq
    if (missed < 0 || missed > MOST_KEPT || missed > this.#frames.length) {
      return null
    }
    const frames = missed === 0 ? [] : this.#frames.slice(-missed)
    return frames.every(({ slab }) => slab !== null) ? frames : null
  }
}
