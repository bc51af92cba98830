/** How far each of several connections to one node has come, judged by what it has delivered. */
import type { ReachedSlot } from "./subscriptions.ts"
import { LAG_SLOTS } from "../rpc/nodeLag.ts"

/** A connection that lags by more than `LASTING_LAG_SLOTS` for this many delivered slots in a row is dropped too. */
const LASTING_LAG_SLOTS = 4
const LASTING_SLOTS = 32

const NOT_HELD_UP: ReachedSlot = { slot: Number.POSITIVE_INFINITY, atMs: null }

/** Progress of one connection. */
export interface Position {
  /** The newest slot that it has reported. Starts at the newest slot of the other connections. */
  slot: number
  /** The newest slot of its writes; 0 before the first. */
  written: number
  /** The newest slot whose clock write it has delivered; 0 before the first. */
  clock: number
  /** True once the clock has arrived twice. A node that sends writes of the clock sends one in every slot. */
  isTimed: boolean
  /** True when the node refused the clock on this connection. Only its slots and late writes are known then. */
  isClockRefused: boolean
  /** True when the last write of a connection without the clock was older than the latest writes of others. */
  hasLateWrite: boolean
  /** How many delivered slots in a row its writes have been behind, or its slots if it has no clock. */
  behind: number
}

/** The newest slots that any connection has delivered, and when each was first delivered. */
class NewestSlots {
  readonly #slots: Array<{ readonly slot: number; readonly atMs: number }> = []
  readonly #wallMs: () => number

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs
  }

  get newest(): number {
    return this.#slots.at(-1)?.slot ?? 0
  }

  /** Notes a slot. True when it is newer than every slot before. */
  add(slot: number): boolean {
    if (slot <= this.newest) {
      return false
    }
    this.#slots.push({ slot, atMs: this.#wallMs() })
    if (this.#slots.length > LAG_SLOTS + 1) {
      this.#slots.shift()
    }
    return true
  }

  /** When this slot was delivered, or else the first known slot after it; null when there is none. */
  timeOf(slot: number): number | null {
    return this.#slots.find((each) => each.slot >= slot)?.atMs ?? null
  }

  /** True for a slot that is older than the last `count` + 1 slots. */
  isLate(slot: number, count = LAG_SLOTS): boolean {
    const oldest = this.#slots.at(-1 - count)
    return oldest !== undefined && slot < oldest.slot
  }
}

/** The newest slot for which the connection may have delivered writes; Infinity when that is not known. */
const boundOf = ({ isClockRefused, isTimed, slot, written }: Position): number =>
  isTimed ? written : isClockRefused ? slot : Number.POSITIVE_INFINITY

/**
 * The connections and their progress. Lag is counted in delivered slots. So a range of skipped slots, which the first
 * connection reports a moment before the others, makes none of them late.
 */
export class SocketProgress {
  readonly #positions = new Set<Position>()
  readonly #reported: NewestSlots
  readonly #written: NewestSlots
  #reached = NOT_HELD_UP

  /** `wallMs` is the local clock, in milliseconds since the Unix epoch. */
  constructor(wallMs: () => number) {
    this.#reported = new NewestSlots(wallMs)
    this.#written = new NewestSlots(wallMs)
  }

  begin(): Position {
    const position: Position = {
      slot: this.#reported.newest,
      written: 0,
      clock: 0,
      isTimed: false,
      isClockRefused: false,
      hasLateWrite: false,
      behind: 0
    }
    this.#positions.add(position)
    return position
  }

  /** The node has refused the clock on this connection. */
  refuseClock(position: Position): void {
    position.isClockRefused = true
    this.#measure()
  }

  end(position: Position): void {
    this.#positions.delete(position)
    this.#measure()
  }

  /**
   * The newest slot for which every connection has delivered writes. All slots before it have ended on every
   * connection. A connection without the clock counts with the newest slot that it has reported, since it has no writes
   * of later slots. Infinity for a single connection, and where the node does not send writes of the clock: a late
   * write cannot be foreseen then.
   */
  get reached(): ReachedSlot {
    return this.#reached
  }

  /** The connection that holds up the others; undefined when there is none. */
  get slowest(): Position | undefined {
    const { slot } = this.#reached
    return Array.from(this.#positions).find((position) => slot < Number.POSITIVE_INFINITY && boundOf(position) === slot)
  }

  /** Notes that a connection has reported a slot. True when it is newer than every slot before. */
  report(position: Position, slot: number): boolean {
    position.slot = Math.max(position.slot, slot)
    const isNewest = this.#reported.add(slot)
    if (position.isClockRefused) {
      this.#measure()
    }
    if (isNewest) {
      this.#count(this.#reported, ({ isClockRefused }) => isClockRefused, "slot")
    }
    return isNewest
  }

  /** Notes a write that a connection has delivered. True when its slot is newer than the slot of every write before. */
  write(position: Position, slot: number, isClock: boolean): boolean {
    if (isClock && slot > position.clock) {
      position.isTimed = position.clock > 0
      position.isClockRefused = false
      position.clock = slot
    }
    const isNewest = this.#written.add(slot)
    position.hasLateWrite = position.isClockRefused && this.#written.isLate(slot)
    if (isClock || slot > position.written) {
      position.written = Math.max(position.written, slot)
      this.#measure()
    }
    if (isNewest) {
      this.#count(this.#written, ({ isTimed }) => isTimed, "written")
    }
    return isNewest
  }

  /**
   * True for a connection that is more than LAG_SLOTS slots behind another one, in reported slots or in writes, or that
   * has been more than LASTING_LAG_SLOTS behind for long. Such a connection holds back the states of all accounts.
   */
  isLate(position: Position): boolean {
    return (
      this.#reported.isLate(position.slot) ||
      (position.isTimed && this.#written.isLate(position.written)) ||
      position.hasLateWrite ||
      position.behind > LASTING_SLOTS
    )
  }

  /** Counts another delivered slot for the connections that it measures. */
  #count(newest: NewestSlots, isMeasured: (position: Position) => boolean, by: "slot" | "written"): void {
    for (const position of this.#positions) {
      if (isMeasured(position)) {
        position.behind = newest.isLate(position[by], LASTING_LAG_SLOTS) ? position.behind + 1 : 0
      }
    }
  }

  #measure(): void {
    const all = Array.from(this.#positions)
    const isHeldUp = all.length > 1 && all.some(({ isTimed }) => isTimed)
    const slot = isHeldUp ? Math.min(...all.map(boundOf)) : Number.POSITIVE_INFINITY
    if (slot !== this.#reached.slot) {
      this.#reached = isHeldUp ? { slot, atMs: this.#written.timeOf(slot) } : NOT_HELD_UP
    }
  }
}
