/** Progress of several connections to one node, by what each of them has delivered. */
import { LAG_SLOTS } from "./nodeLag.ts"

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
}

/** The newest slots that any connection has delivered. */
class NewestSlots {
  readonly #slots: Array<number> = []

  get newest(): number {
    return this.#slots.at(-1) ?? 0
  }

  /** Notes a slot; true when it is newer than every one before. */
  add(slot: number): boolean {
    if (slot <= this.newest) {
      return false
    }
    this.#slots.push(slot)
    if (this.#slots.length > LAG_SLOTS + 1) {
      this.#slots.shift()
    }
    return true
  }

  /** True for a slot that is older than the last LAG_SLOTS ones and the one before them. */
  isLate(slot: number): boolean {
    const [oldest = 0] = this.#slots
    return this.#slots.length > LAG_SLOTS && slot < oldest
  }
}

/**
 * The connections and their progress. Lag is counted in delivered slots, so that one skipped range, which the first connection
 * reports a moment before the others, makes none of them late.
 */
export class SocketProgress {
  readonly #positions = new Set<Position>()
  readonly #reported = new NewestSlots()
  readonly #written = new NewestSlots()
  #reached = Number.POSITIVE_INFINITY

  begin(): Position {
    const position = { slot: this.#reported.newest, written: 0, clock: 0, isTimed: false }
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
  get reached(): number {
    return this.#reached
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
    if (isClock || slot > position.written) {
      position.written = Math.max(position.written, slot)
      this.#measure()
    }
    return this.#written.add(slot)
  }

  /** True for a connection that is more than LAG_SLOTS slots behind another one, in the slots or in the writes of this node. */
  isLate(position: Position): boolean {
    return this.#reported.isLate(position.slot) || (position.isTimed && this.#written.isLate(position.written))
  }

  #measure(): void {
    const timed = this.#positions.size > 1 ? Array.from(this.#positions).filter(({ isTimed }) => isTimed) : []
    this.#reached = Math.min(...timed.map(({ written }) => written))
  }
}
