import type { SlotHead } from "./readUpdate.ts"

/** A part of a slot. A vote is counted but not among the indexes of the whole slot. */
export type SlotPart =
  | { readonly _tag: "transaction"; readonly slot: number; readonly index: number; readonly isVote: boolean }
  | { readonly _tag: "head"; readonly head: SlotHead }

/** A slot and the indexes of all its transactions except votes, in order. */
export interface WholeSlot {
  readonly head: SlotHead
  readonly indexes: ReadonlyArray<number>
}

interface OpenSlot {
  head: SlotHead | null
  /** The transactions that have arrived, by index. True is a vote. */
  readonly parts: Map<number, boolean>
}

/** How many open slots are kept. The lowest slots are forgotten first. */
const MOST_OPEN = 256

const isWhole = ({ executed }: SlotHead, parts: ReadonlyMap<number, unknown>): boolean => {
  if (parts.size !== executed) {
    return false
  }
  // The places are complete when there are as many as were executed, each below that number.
  for (const index of parts.keys()) {
    if (index >= executed) {
      return false
    }
  }
  return true
}

/**
 * Assembles slots from parts that arrive in any order, some of them twice. A slot is returned once, when it is whole:
 * its head has arrived, and transactions at as many different places as the head counts. Knows no clock and no stream.
 */
export class SlotAssembly {
  readonly #open = new Map<number, OpenSlot>()
  readonly #whole = new Set<number>()
  #below = 0
  #next: number | null = null
  readonly #onForgotten: (slot: number) => void

  /** Calls `onForgotten` with each open slot that is forgotten because there are too many. */
  constructor(onForgotten: (slot: number) => void = () => undefined) {
    this.#onForgotten = onForgotten
  }

  /** Adds a part. Returns the slot when this part made it whole, else null. */
  add(part: SlotPart): WholeSlot | null {
    const slot = part._tag === "head" ? part.head.slot : part.slot
    if (slot < this.#below || this.#whole.has(slot)) {
      return null
    }
    const open = this.#openAt(slot)
    if (part._tag === "head") {
      open.head = part.head
    } else if (!open.parts.has(part.index)) {
      open.parts.set(part.index, part.isVote)
    }
    return open.head !== null && isWhole(open.head, open.parts) ? this.#close(open.head, open.parts) : null
  }

  /** True for a place of a slot that is still open, and has not arrived yet. */
  wants(slot: number, index: number): boolean {
    return slot >= this.#below && !this.#whole.has(slot) && this.#open.get(slot)?.parts.has(index) !== true
  }

  /** Slots before this one are no longer wanted. */
  forgetBefore(slot: number): void {
    this.#below = Math.max(this.#below, slot)
    for (const slots of [this.#open, this.#whole]) {
      for (const known of slots.keys()) {
        if (known < slot) {
          slots.delete(known)
        }
      }
    }
  }

  /** The slot at which a new stream must begin so that none is missed; null before the first part. */
  get resumeAt(): number | null {
    const lowest = this.#open.size === 0 ? null : Math.min(...this.#open.keys())
    const next = this.#next === null ? lowest : Math.min(this.#next, lowest ?? this.#next)
    return next === null ? null : Math.max(next, this.#below)
  }

  /** How many whole slots are still wanted. */
  get kept(): number {
    return this.#whole.size
  }

  #openAt(slot: number): OpenSlot {
    const known = this.#open.get(slot)
    if (known !== undefined) {
      return known
    }
    const open: OpenSlot = { head: null, parts: new Map() }
    this.#open.set(slot, open)
    if (this.#open.size > MOST_OPEN) {
      const lowest = Math.min(...this.#open.keys())
      this.#open.delete(lowest)
      this.#onForgotten(lowest)
    }
    return open
  }

  #close(head: SlotHead, parts: ReadonlyMap<number, boolean>): WholeSlot {
    this.#open.delete(head.slot)
    this.#whole.add(head.slot)
    this.#next = Math.max(this.#next ?? 0, head.slot + 1)
    const indexes: Array<number> = []
    for (const [index, isVote] of parts) {
      if (!isVote) {
        indexes.push(index)
      }
    }
    return { head, indexes: indexes.toSorted((a, b) => a - b) }
  }
}
