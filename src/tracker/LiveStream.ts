import type { Address } from "../domain/Address.ts"
import type { LiveGap } from "../domain/wallets/LiveFrame.ts"
import type { TrackedWallet } from "../domain/wallets/Tracker.ts"
import type { LiveConnection } from "./LiveConnection.ts"
import type { SharedFrame } from "./liveFrames.ts"
import type { Grant } from "./tickets/Tickets.ts"

/** Frames of a stream that can be replayed. */
export const MOST_KEPT = 2000

/** A numbered sequence of frames. It outlives its connection, so that a client can resume it. */
export class LiveStream {
  readonly grant: Grant
  readonly openedAtMs: number
  /** Tracked wallets with the account's labels. */
  items: ReadonlyArray<TrackedWallet> = []
  /** Start of tracking by wallet, in milliseconds: earlier events are not sent. */
  wallets: ReadonlyMap<Address, number> = new Map()
  /** The current reader; null while disconnected. */
  connection: LiveConnection | null = null
  /** Time of the disconnect and the last frame number at that time; null while connected. */
  left: { readonly atMs: number; readonly seq: number } | null = null
  /** The gap that the next resync snapshot covers; null when none is pending. */
  pendingGap: LiveGap | null = null
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

  /** Appends frames and returns the number of the first. */
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

  /** The frames after this number; null when one of them was dropped or the number is unknown. */
  after(seq: number): ReadonlyArray<SharedFrame> | null {
    const missed = this.last - seq
    if (missed < 0 || missed > MOST_KEPT || missed > this.#frames.length) {
      return null
    }
    const frames = missed === 0 ? [] : this.#frames.slice(-missed)
    return frames.every(({ slab }) => slab !== null) ? frames : null
  }
}
