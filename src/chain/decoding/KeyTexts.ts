/**
 * Base58 texts of account keys, found by the key's 32 bytes, or by the bytes of its text. The same keys come again and
 * again, and spelling one takes microseconds. A key has one text object however it is found, whose hash is known to
 * every map that has seen it.
 */
import type { Address } from "../../domain/Address.ts"
import { MOST_LETTERS, spellBase58 } from "../../domain/base58.ts"

const KEY_BYTES = 32
/** Places of a table: a power of two. */
const PLACES = 2 ** 17
/** The tables start anew with so many keys: more than a minute of a busy chain has. */
const MOST_KEYS = PLACES / 2
/** A key that finds no place near its hash is spelled each time, so that chosen keys cannot make a search long. */
const MOST_STEPS = 16
const LONGEST_TEXT = 44

/** Multipliers of the hashes: odd, and different in each process. */
const seeds = crypto.getRandomValues(new Uint32Array(3)).map((seed) => seed | 1)
const [FIRST = 1, SECOND = 1, THIRD = 1] = seeds

const wordAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)

/** The place where the search begins. Three words differ for nearly all keys. */
const placeOf = (bytes: Uint8Array, from: number, to: number): number => {
  const hash =
    Math.imul(wordAt(bytes, from), FIRST) ^
    Math.imul(wordAt(bytes, from + 12), SECOND) ^
    Math.imul(wordAt(bytes, to - 4), THIRD)
  return (hash ^ (hash >>> 15)) & (PLACES - 1)
}

/**
 * Texts by bytes: open addressing with bounded steps. Bytes are kept and compared as words; the last word overlaps the
 * one before it where the length is not a multiple of four. Where lengths differ, a row begins with its length, so that
 * a search reads as few places of memory as it can.
 */
class Table {
  readonly #first: number
  readonly #width: number
  readonly #rows: Int32Array
  #texts: Array<Address | undefined> = Array.from({ length: PLACES })
  #count = 0

  constructor(longest: number, isFixed: boolean) {
    this.#first = isFixed ? 0 : 1
    this.#width = this.#first + Math.ceil(longest / 4)
    this.#rows = new Int32Array(PLACES * this.#width)
  }

  find(bytes: Uint8Array, from: number, to: number): Address | undefined {
    const first = placeOf(bytes, from, to)
    for (let step = 0; step < MOST_STEPS; step++) {
      const place = (first + step) & (PLACES - 1)
      const text = this.#texts[place]
      if (text === undefined || this.#isAt(place, bytes, from, to)) {
        return text
      }
    }
    return undefined
  }

  put(bytes: Uint8Array, from: number, to: number, text: Address): void {
    if (this.#count >= MOST_KEYS) {
      this.#texts = Array.from({ length: PLACES })
      this.#count = 0
    }
    const first = placeOf(bytes, from, to)
    for (let step = 0; step < MOST_STEPS; step++) {
      const place = (first + step) & (PLACES - 1)
      if (this.#texts[place] === undefined) {
        this.#texts[place] = text
        const begin = place * this.#width
        if (this.#first > 0) {
          this.#rows[begin] = to - from
        }
        for (let at = from, row = begin + this.#first; at < to; at += 4, row++) {
          this.#rows[row] = wordAt(bytes, Math.min(at, to - 4))
        }
        this.#count += 1
        return
      }
    }
  }

  #isAt(place: number, bytes: Uint8Array, from: number, to: number): boolean {
    const begin = place * this.#width
    if (this.#first > 0 && this.#rows[begin] !== to - from) {
      return false
    }
    for (let at = from, row = begin + this.#first; at < to; at += 4, row++) {
      if (this.#rows[row] !== wordAt(bytes, at > to - 4 ? to - 4 : at)) {
        return false
      }
    }
    return true
  }
}

/** Texts of the keys of the last minutes. */
export class KeyTexts {
  readonly #byKey = new Table(KEY_BYTES, true)
  readonly #byText = new Table(LONGEST_TEXT, false)
  readonly #letters = new Uint8Array(MOST_LETTERS)

  /** The text of the key of 32 bytes that begins here. */
  ofKey(bytes: Uint8Array, from: number): Address {
    const known = this.#byKey.find(bytes, from, from + KEY_BYTES)
    if (known !== undefined) {
      return known
    }
    const first = spellBase58(bytes, from, from + KEY_BYTES, this.#letters)
    const text = this.ofText(this.#letters, first, MOST_LETTERS)
    this.#byKey.put(bytes, from, from + KEY_BYTES, text)
    return text
  }

  /** The text that stands here: 32 to 44 letters, which the caller trusts to be base58. */
  ofText(bytes: Uint8Array, from: number, to: number): Address {
    const known = this.#byText.find(bytes, from, to)
    if (known !== undefined) {
      return known
    }
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1") as Address
    this.#byText.put(bytes, from, to, text)
    return text
  }
}

/** The texts of this thread. */
export const keyTexts = new KeyTexts()
