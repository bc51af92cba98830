import type { Address } from "../../domain/Address.ts"
import { Addresses } from "../columnar/Addresses.ts"

const PAGE_BITS = 12
const PAGE = 2 ** PAGE_BITS
const PAGE_MASK = PAGE - 1
const NO_WORDS = new Uint32Array(0)

/** The amounts of a page as 64-bit integers, and the same memory as words, low word first. */
interface Page {
  readonly amounts: BigUint64Array
  readonly words: Uint32Array
}

const newPage = (): Page => {
  const amounts = new BigUint64Array(PAGE)
  return { amounts, words: new Uint32Array(amounts.buffer) }
}

/** The amount and the number after which a page begins. */
interface Bound {
  readonly high: number
  readonly low: number
  readonly id: number
}

const NONE: Bound = { high: Number.POSITIVE_INFINITY, low: 0, id: 0 }

/** An owner with its amount in atomic units. */
export interface Holding {
  readonly owner: Address
  readonly amount: bigint
}

/**
 * The owners of one mint and what each holds, in columns: about 70 bytes an owner. An owner whose amount falls to zero
 * is removed. It needs a little-endian processor.
 */
export class HolderTable {
  readonly #owners = new Addresses()
  readonly #pages: Array<Page> = []
  #highest = 0
  #total = 0n

  /** The number of owners that hold more than nothing. */
  get size(): number {
    return this.#owners.size
  }

  /** The sum of all holdings. */
  get total(): bigint {
    return this.#total
  }

  /** The amount of an owner; 0 for an unknown owner. */
  amountOf(owner: Address): bigint {
    const id = this.#owners.find(owner)
    return id === 0 ? 0n : this.#read(id)
  }

  /** Adds to the amount of an owner. Returns false and changes nothing when the amount would fall below zero. */
  add(owner: Address, delta: bigint): boolean {
    const before = this.amountOf(owner)
    const after = before + delta
    if (after < 0n) {
      return false
    }
    this.#total += delta
    if (after === 0n) {
      if (before > 0n) {
        this.#write(this.#owners.find(owner), 0n)
        this.#owners.drop(owner)
      }
      return true
    }
    const id = this.#owners.hold(owner)
    this.#highest = Math.max(this.#highest, id)
    this.#write(id, after)
    return true
  }

  /**
   * The `most` largest holdings, largest first, leaving out the owners in `without`, and with `after` only those that
   * come after this holding. An owner that is gone since comes before all with the same amount. Takes one pass.
   */
  largest(most: number, without: Iterable<Address> = [], after: Holding | null = null): ReadonlyArray<Holding> {
    const skipped = new Set<number>()
    for (const owner of without) {
      skipped.add(this.#owners.find(owner))
    }
    const found = this.#largestIds(most, skipped, after === null ? NONE : this.#boundOf(after))
    return found.map((id) => ({ owner: this.#owners.text(id), amount: this.#read(id) }))
  }

  /** Numbers of the owners with the largest amounts. Of equal amounts, the owner that came first wins. */
  #largestIds(most: number, skipped: ReadonlySet<number>, bound: Bound): ReadonlyArray<number> {
    let kept: Array<{ readonly id: number; readonly high: number; readonly low: number }> = []
    let [leastHigh, leastLow] = [0, 0]
    const shrink = (): void => {
      kept = kept.toSorted((a, b) => b.high - a.high || b.low - a.low || a.id - b.id).slice(0, most)
      const last = kept[most - 1]
      leastHigh = last?.high ?? 0
      leastLow = last?.low ?? 0
    }
    for (let id = 1; id <= this.#highest; id++) {
      const words = this.#pages[id >>> PAGE_BITS]?.words ?? NO_WORDS
      const at = (id & PAGE_MASK) * 2
      const high = words[at + 1] ?? 0
      const low = words[at] ?? 0
      if (
        (high > leastHigh || (high === leastHigh && low > leastLow)) &&
        (high < bound.high || (high === bound.high && (low < bound.low || (low === bound.low && id > bound.id)))) &&
        !skipped.has(id)
      ) {
        kept.push({ id, high, low })
        if (kept.length >= 4 * most) {
          shrink()
        }
      }
    }
    shrink()
    return kept.map(({ id }) => id)
  }

  #boundOf({ amount, owner }: Holding): Bound {
    return { high: Number(amount >> 32n), low: Number(amount & 0xffff_ffffn), id: this.#owners.find(owner) }
  }

  #read(id: number): bigint {
    return this.#pages[id >>> PAGE_BITS]?.amounts[id & PAGE_MASK] ?? 0n
  }

  #write(id: number, amount: bigint): void {
    const page = (this.#pages[id >>> PAGE_BITS] ??= newPage())
    page.amounts[id & PAGE_MASK] = amount
  }
}
