import { type Clock, Latch } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import type { ReachedSlot, SpreadConnections } from "./subscriptions.ts"

/** A slot may end this many slots after it was heard of: at the commitment `finalized` about 32. */
const MOST_LATE = 64

const ONE_CONNECTION: SpreadConnections = {
  reached: () => ({ slot: Number.POSITIVE_INFINITY, atMs: null }),
  loseSlowest: () => false
}

/** The newest slot of a feed, when it was received, and the silences between slots. */
export class HeardSlots {
  /** Opened when slots arrive again after a silence. */
  readonly resumed: Latch.Latch = Latch.makeUnsafe(false)
  readonly #time: Clock.Clock
  #slot = 0
  #atMs: number | null = null
  #advancedAt = Number.NEGATIVE_INFINITY
  #isSilent = false
  #spread: SpreadConnections = ONE_CONNECTION
  /** The newest complete slots, oldest first. */
  #completed: Array<ReachedSlot> = []
  /** How far the wall clock was ahead of the monotonic clock at the last slot. */
  #aheadMs = 0

  constructor(time: Clock.Clock) {
    this.#time = time
  }

  /** The newest slot; 0 before the first. */
  get slot(): number {
    return this.#slot
  }

  /** When that slot was received, in milliseconds since the Unix epoch; null before the first. */
  get atMs(): number | null {
    return this.#atMs
  }

  /** When that slot was received, by the monotonic clock in milliseconds. */
  get advancedAt(): number {
    return this.#advancedAt
  }

  /**
   * The newest slot that every connection has reached, and when the first connection came to it. States of accounts are
   * not newer. Where no connection holds up the others, the newest slot of all.
   */
  get complete(): ReachedSlot {
    return this.#completed.at(-1) ?? { slot: 0, atMs: null }
  }

  /** The newest complete slot that has ended when this slot has; null where that is not known any more. */
  endedWith(slot: number): ReachedSlot | null {
    return this.#completed.findLast((each) => each.slot <= slot) ?? null
  }

  /** True from the start of a silence until a new slot arrives. A connection alone does not end a silence. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  /** The monotonic clock, in milliseconds. */
  nowMs(): number {
    return monotonicMs(this.#time)
  }

  /** The wall clock, in milliseconds. */
  wallMs(): number {
    return this.#time.currentTimeMillisUnsafe()
  }

  /**
   * A time of receipt on today's wall clock. When the wall clock was set back since, the time moves back with it: otherwise
   * a silent chain would look fresh until the clock catches up. `aheadMs`: how far the wall clock was ahead at that time; by
   * default at the last slot.
   */
  onWallClock(atMs: number | null, aheadMs = this.#aheadMs): number | null {
    return atMs === null ? null : atMs + Math.trunc(Math.min(0, this.wallMs() - this.nowMs() - aheadMs))
  }

  /** How far the wall clock was ahead of the monotonic clock at the last slot, in milliseconds. */
  get aheadMs(): number {
    return this.#aheadMs
  }

  /** The slot that every connection has reached; Infinity where none holds up the others. */
  get reached(): number {
    return this.#spread.reached().slot
  }

  /** Drops the connection that holds up the others; false where none does. */
  loseSlowest(): boolean {
    return this.#spread.loseSlowest()
  }

  /** Sets the connections that deliver slots from now on; undefined for a single connection or none. */
  connect(spread: SpreadConnections | undefined): void {
    this.#spread = spread ?? ONE_CONNECTION
  }

  take(slot: number): void {
    if (slot > this.#slot) {
      this.#slot = slot
      this.#atMs = this.wallMs()
      this.#advancedAt = this.nowMs()
      this.#aheadMs = this.wallMs() - this.nowMs()
      this.endSilence()
    }
    const reached = this.#spread.reached()
    if (Math.min(reached.slot, this.#slot) > this.complete.slot) {
      this.#completed.push(reached.slot < this.#slot ? reached : { slot: this.#slot, atMs: this.#atMs })
      this.#completed.splice(0, this.#completed.length - MOST_LATE)
    }
  }

  /**
   * Begins with the slot of a read, before any slot arrived: a halted chain sends none. `chainMs` is the chain's own time
   * then, so that the state is as old as the chain says, however late it was read.
   */
  begin(slot: number, chainMs: number): void {
    const atMs = Math.min(chainMs, this.wallMs())
    this.#slot = slot
    this.#atMs = atMs
    this.#completed = [{ slot, atMs }]
    this.#aheadMs = this.wallMs() - this.nowMs()
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

  /** Begins another chain. */
  startAnew(): void {
    this.#slot = 0
    this.#atMs = null
    this.#completed = []
    this.endSilence()
  }
}
