/** Progress of several connections to one node, by what each of them has delivered. */
import type { ReachedSlot } from "../accounts/subscriptions.ts"
import { LAG_SLOTS } from "./nodeLag.ts"

/** A connection further behind than this is dropped too, when it has been for so many delivered slots on end. */
const LASTING_LAG_SLOTS = 4
const LASTING_SLOTS = 32

const NOT_HELD_UP: ReachedSlot = { slot: Number.POSITIVE_INFINITY, atMs: null }

/** Progress of one connection. */
export interface Position {
  /** The newest slot that it has reported; that of the others at its beginning. */
  slot: number
  /** The newest slot of its writes; 0 before the first. */
  written: number
  /** The newest slot of which it has delivered the clock; 0 before the first. */
  clock: number
  /** True once the clock has come a second time: it is written in every slot, where the node notifies of it at all. */
  isTimed: boolean
  /** Delivered slots for which its writes have been behind without a break. */
  behind: number
}

/** The newest slots that any connection has delivered, with the time of their first delivery. */
class NewestSlots {
  readonly #slots: Array<{ readonly slot: number; readonly atMs: number }> = []
  readonly #wallMs: () => number

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs
  }

  get newest(): number {
    return this.#slots.at(-1)?.slot ?? 0
  }

  /** Notes a slot; true when it is newer than every one before. */
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

  /** The time at which this slot, or of those that are known the first one after it, was delivered; null for none. */
  timeOf(slot: number): number | null {
    return this.#slots.find((each) => each.slot >= slot)?.atMs ?? null
  }

  /** True for a slot that is older than the last ones of this count and the one before them. */
  isLate(slot: number, count = LAG_SLOTS): boolean {
    const oldest = this.#slots.at(-1 - count)
    return oldest !== undefined && slot < oldest.slot
  }
}

/**
 * The connections and their progress. Lag is counted in delivered slots, so that one skipped range, which the first connection
 * reports a moment before the others, makes none of them late.
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
    const position = { slot: this.#reported.newest, written: 0, clock: 0, isTimed: false, behind: 0 }
    this.#positions.add(position)
    return position
  }

  end(position: Position): void {
    this.#positions.delete(position)
    this.#measure()
  }

  /**
   * The newest slot of which every connection has delivered writes: the slots before it have ended on all of them. Infinity
   * for one connection, and where the node does not notify of the clock: a late write cannot be foreseen then.
   */
  get reached(): ReachedSlot {
    return this.#reached
  }

  /** The connection that holds up the others; undefined where none does. */
  get slowest(): Position | undefined {
    return Array.from(this.#positions).find(({ isTimed, written }) => isTimed && written === this.#reached.slot)
  }

  /** Notes that a connection has reported a slot; true when it is newer than every one before. */
  report(position: Position, slot: number): boolean {
    position.slot = Math.max(position.slot, slot)
    return this.#reported.add(slot)
  }

  /** Notes a write that a connection has delivered; true when its slot is newer than that of every one before. */
  write(position: Position, slot: number, isClock: boolean): boolean {
    if (isClock && slot > position.clock) {
      position.isTimed = position.clock > 0
      position.clock = slot
    }
    const isNewest = this.#written.add(slot)
    if (isClock || slot > position.written) {
      position.written = Math.max(position.written, slot)
      this.#measure()
    }
    if (isNewest) {
      for (const each of this.#positions) {
        each.behind = each.isTimed && this.#written.isLate(each.written, LASTING_LAG_SLOTS) ? each.behind + 1 : 0
      }
    }
    return isNewest
  }

  /**
   * True for a connection that is more than LAG_SLOTS slots behind another one, in the slots or in the writes of this node, or
   * whose writes have been more than LASTING_LAG_SLOTS behind for long: it makes the states of all accounts as old.
   */
  isLate(position: Position): boolean {
    return (
      this.#reported.isLate(position.slot) ||
      (position.isTimed && this.#written.isLate(position.written)) ||
      position.behind > LASTING_SLOTS
    )
  }

  #measure(): void {
    const timed = this.#positions.size > 1 ? Array.from(this.#positions).filter(({ isTimed }) => isTimed) : []
    const slot = Math.min(...timed.map(({ written }) => written))
    if (slot !== this.#reached.slot) {
      this.#reached = timed.length === 0 ? NOT_HELD_UP : { slot, atMs: this.#written.timeOf(slot) }
    }
  }
}
