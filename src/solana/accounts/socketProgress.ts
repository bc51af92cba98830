/** Progress of several connections to one node, by the slots that each of them reports. */
import { LAG_SLOTS } from "../rpc/nodeLag.ts"

/** Progress of one connection. */
export interface Position {
  /** The newest slot that it has reported; that of the others at its beginning. */
  slot: number
}

/**
 * The newest slots that any connection has reported. Lag is counted in reported slots, so that one skipped range, which the first
 * connection reports a moment before the others, makes none of them late.
 */
export class SocketProgress {
  readonly #newest: Array<number> = []

  begin(): Position {
    return { slot: this.#newest.at(-1) ?? 0 }
  }

  /** Notes that a connection has reported a slot; true when it is newer than every one before. */
  report(position: Position, slot: number): boolean {
    position.slot = Math.max(position.slot, slot)
    if (slot <= (this.#newest.at(-1) ?? 0)) {
      return false
    }
    this.#newest.push(slot)
    if (this.#newest.length > LAG_SLOTS + 1) {
      this.#newest.shift()
    }
    return true
  }

  /** True for a connection that has reported none of the newest LAG_SLOTS slots, nor the one before them. */
  isLate({ slot }: Position): boolean {
    const [oldest = 0] = this.#newest
    return this.#newest.length > LAG_SLOTS && slot < oldest
  }
}
