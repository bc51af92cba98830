import { imageCells, type ImageSteps, type StateImage } from "../columnar/StateImage.ts"

/**
 * Estimates the distinct wallets in any window that ends now, with a sliding HyperLogLog (Chabchoub and Hébrail, 2010).
 * Each register remembers when it last saw each rank, so one sketch answers for every window, to the second. With 2,048
 * registers the standard error is 2.3 %. Below a few thousand wallets it is smaller, because of linear counting.
 */

const INDEX_BITS = 11
const REGISTERS = 2 ** INDEX_BITS
/** Leading zeros of the other 21 bits, plus one. */
const RANKS = 32 - INDEX_BITS + 1
/** Powers of a half, by rank. */
const INVERSE = Float64Array.from({ length: RANKS + 1 }, (_, rank) => 2 ** -rank)
/** The bias correction of Flajolet et al. for this many registers. */
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS)
/** Characters that are hashed. The end of an address is random enough. */
const HASHED = 12

/** A well-mixed 32-bit hash of an address. */
export const hashAddress = (address: string): number => {
  let hash = 0x811c9dc5
  for (let at = address.length - HASHED; at < address.length; at++) {
    hash = Math.imul(hash ^ address.charCodeAt(at), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Another 32-bit hash of an address, independent of the first. */
export const checkAddress = (address: string): number => {
  let hash = 0
  for (let at = address.length - HASHED; at < address.length; at++) {
    hash = Math.imul(hash + address.charCodeAt(at), 0x2545f491)
  }
  return hash >>> 0
}

/** Distinct wallets of one market over any window that ends now. */
export class DistinctTraders {
  readonly #seenAt = new Uint32Array(REGISTERS * RANKS)
  readonly #highest = new Uint8Array(REGISTERS)
  /** The registers that have ever seen a wallet. A quiet market has few of them. */
  readonly #used = new Uint16Array(REGISTERS)
  #usedCount = 0
  #newest = 0

  /** Counts a wallet, given by its hash, as seen in a second. */
  add(hash: number, second: number): void {
    const register = hash >>> (32 - INDEX_BITS)
    const rank = Math.min(RANKS, Math.clz32((hash << INDEX_BITS) | 0) + 1)
    const at = register * RANKS + rank - 1
    this.#newest = Math.max(this.#newest, second)
    if (second > (this.#seenAt[at] ?? 0)) {
      this.#seenAt[at] = second
      const highest = this.#highest[register] ?? 0
      if (highest === 0) {
        this.#used[this.#usedCount++] = register
      }
      if (rank > highest) {
        this.#highest[register] = rank
      }
    }
  }

  /** The estimated number of distinct wallets seen in second `from` or later. */
  estimate(from: number): number {
    if (this.#newest < from) {
      return 0
    }
    // An unused register has rank 0. The sum is exact in any order.
    let sum = REGISTERS - this.#usedCount
    let empty = sum
    for (let at = 0; at < this.#usedCount; at++) {
      const rank = this.#rankSince(this.#used[at] ?? 0, from)
      sum += INVERSE[rank] ?? 1
      empty += rank === 0 ? 1 : 0
    }
    const raw = (ALPHA * REGISTERS * REGISTERS) / sum
    const counted = raw <= 2.5 * REGISTERS && empty > 0 ? REGISTERS * Math.log(REGISTERS / empty) : raw
    return Math.round(counted)
  }

  *image(image: StateImage): ImageSteps {
    this.#newest = image.number(this.#newest)
    yield* imageCells(image, this.#seenAt)
    yield* imageCells(image, this.#highest)
    this.#usedCount = 0
    this.#highest.forEach((highest, register) => {
      if (highest > 0) {
        this.#used[this.#usedCount++] = register
      }
    })
  }

  #rankSince(register: number, from: number): number {
    const base = register * RANKS - 1
    for (let rank = this.#highest[register] ?? 0; rank > 0; rank--) {
      if ((this.#seenAt[base + rank] ?? 0) >= from) {
        return rank
      }
    }
    return 0
  }
}
