import type { Address } from "../../domain/Address.ts"
import { imageCells, imageList, type ImageSteps, type StateImage } from "./StateImage.ts"

/** Words of one address: 44 letters, four to a word. Shorter addresses end in zeros. */
const WORDS = 11
const LETTERS = WORDS * Uint32Array.BYTES_PER_ELEMENT
const PAGE_BITS = 12
const PAGE = 2 ** PAGE_BITS
const NO_WORDS = new Uint32Array(0)
/** A slot holds the hash of an address and its number. */
const SLOT = 2
/** The table has this many parts. Each part is small and grows by itself, so growing never pauses the writer. */
const PART_BITS = 6
const PARTS = 2 ** PART_BITS
const FIRST_SLOTS = 16
/** The most addresses that are looked up together. */
export const GROUP = 32
/** Addresses that one step of an image puts into the table. */
const ENTERED = 2048

const hashOf = (words: Uint32Array, at: number): number => {
  let hash = 0
  for (let word = at; word < at + WORDS; word++) {
    hash = Math.imul(hash ^ (words[word] ?? 0), 0x9e3779b1)
    hash ^= hash >>> 15
  }
  return hash >>> 0
}

const maskOf = (slots: Uint32Array): number => (slots.length >>> 1) - 1

/** Copies a part into one with twice the slots. */
const grown = (old: Uint32Array): Uint32Array<ArrayBuffer> => {
  const slots = new Uint32Array(old.length * 2)
  const mask = maskOf(slots)
  for (let from = 0; from < old.length; from += SLOT) {
    if (old[from + 1] !== 0) {
      let slot = (old[from] ?? 0) & mask
      while (slots[slot * SLOT + 1] !== 0) {
        slot = (slot + 1) & mask
      }
      slots[slot * SLOT] = old[from] ?? 0
      slots[slot * SLOT + 1] = old[from + 1] ?? 0
    }
  }
  return slots
}

/**
 * Assigns a number to each address. The number stays the same while the address is held and is reused after the address
 * is dropped; 0 means none. The letters are packed into pages: a `Map` would have to hash every new string from the
 * decoder, which costs more than the rest of a trade. Memory grows with the number of addresses.
 */
export class Addresses {
  /** Open addressing in every part, at most half full. */
  readonly #parts = Array.from({ length: PARTS }, () => new Uint32Array(FIRST_SLOTS * SLOT))
  readonly #used = new Uint32Array(PARTS)
  readonly #pages: Array<Uint32Array> = []
  readonly #free: Array<number> = []
  #next = 1
  /** The address that is being looked up. */
  readonly #words = new Uint32Array(WORDS)
  readonly #letters = new Uint8Array(this.#words.buffer)
  /** The addresses of a group and their hashes. */
  readonly #groupWords = new Uint32Array(GROUP * WORDS)
  readonly #groupLetters = Array.from(
    { length: GROUP },
    (_, place) => new Uint8Array(this.#groupWords.buffer, place * LETTERS, LETTERS)
  )
  readonly #hashes = new Uint32Array(GROUP)
  readonly #encoder = new TextEncoder()
  readonly #decoder = new TextDecoder()

  /** Returns the number of an address; 0 when it has none. */
  find(address: Address): number {
    const hash = this.#pack(address)
    const slots = this.#partOf(hash)
    return slots[this.#slotOf(slots, hash) * SLOT + 1] ?? 0
  }

  /** Puts an address into the group for `findGroup`. `place` is below `GROUP`. */
  note(place: number, address: Address): void {
    const letters = this.#groupLetters[place] ?? this.#letters
    const { written } = this.#encoder.encodeInto(address, letters)
    if (written < LETTERS) {
      letters.fill(0, written)
    }
    this.#hashes[place] = hashOf(this.#groupWords, place * WORDS)
  }

  /**
   * Fills in the numbers of the first `count` addresses of the group; 0 where an address has none. The memory of all of
   * them is read at once.
   */
  findGroup(count: number, ids: Uint32Array): void {
    for (let place = 0; place < count; place++) {
      const hash = this.#hashes[place] ?? 0
      const slots = this.#partOf(hash)
      ids[place] = slots[(hash & maskOf(slots)) * SLOT + 1] ?? 0
    }
    for (let place = 0; place < count; place++) {
      const id = ids[place] ?? 0
      const page = this.#pages[id >>> PAGE_BITS] ?? NO_WORDS
      const from = (id & (PAGE - 1)) * WORDS
      ids[place] = (page[from] ?? 0) ^ (page[from + WORDS - 1] ?? 0)
    }
    for (let place = 0; place < count; place++) {
      const hash = this.#hashes[place] ?? 0
      const slots = this.#partOf(hash)
      ids[place] = slots[this.#slotOf(slots, hash, this.#groupWords, place * WORDS) * SLOT + 1] ?? 0
    }
  }

  /** Returns the number of an address, and gives it one when it has none. */
  hold(address: Address): number {
    const hash = this.#pack(address)
    const slots = this.#partOf(hash)
    const known = slots[this.#slotOf(slots, hash) * SLOT + 1] ?? 0
    if (known !== 0) {
      return known
    }
    const id = this.#free.pop() ?? this.#next++
    const page = (this.#pages[id >>> PAGE_BITS] ??= new Uint32Array(PAGE * WORDS))
    page.set(this.#words, (id & (PAGE - 1)) * WORDS)
    this.#enter(hash, id)
    return id
  }

  /** Forgets an address and moves later slots up into the gap: a search stops at the first empty slot. */
  drop(address: Address): void {
    const hash = this.#pack(address)
    const slots = this.#partOf(hash)
    const mask = maskOf(slots)
    let gap = this.#slotOf(slots, hash)
    const id = slots[gap * SLOT + 1] ?? 0
    if (id === 0) {
      return
    }
    for (let next = (gap + 1) & mask; slots[next * SLOT + 1] !== 0; next = (next + 1) & mask) {
      const home = (slots[next * SLOT] ?? 0) & mask
      if (((next - home) & mask) >= ((next - gap) & mask)) {
        slots.copyWithin(gap * SLOT, next * SLOT, next * SLOT + SLOT)
        gap = next
      }
    }
    slots.fill(0, gap * SLOT, gap * SLOT + SLOT)
    this.#count(hash, -1)
    this.#free.push(id)
  }

  /** Returns the address with this number. The number must be in use. */
  text(id: number): Address {
    const page = this.#pages[id >>> PAGE_BITS] ?? NO_WORDS
    const from = (id & (PAGE - 1)) * WORDS * Uint32Array.BYTES_PER_ELEMENT
    const letters = new Uint8Array(page.buffer, from, LETTERS)
    const end = letters.indexOf(0)
    return this.#decoder.decode(end < 0 ? letters : letters.subarray(0, end)) as Address
  }

  /** The numbers in use. */
  *ids(): Generator<number, void, void> {
    const free = new Set(this.#free)
    for (let id = 1; id < this.#next; id++) {
      if (!free.has(id)) {
        yield id
      }
    }
  }

  /** Writes every address, or reads them into an empty table. */
  *image(image: StateImage): ImageSteps {
    this.#next = image.number(this.#next)
    yield* imageList(image, this.#free)
    for (let id = 0; id < this.#next; id += PAGE) {
      const page = (this.#pages[id >>> PAGE_BITS] ??= new Uint32Array(PAGE * WORDS))
      yield* imageCells(image, page.subarray(0, Math.min(PAGE, this.#next - id) * WORDS))
    }
    if (image.isRead) {
      yield* this.#enterAll()
    }
  }

  /** The number of addresses held. */
  get size(): number {
    return this.#next - 1 - this.#free.length
  }

  get usedBytes(): number {
    const slots = this.#parts.reduce((sum, part) => sum + part.byteLength, 0)
    return slots + this.size * WORDS * Uint32Array.BYTES_PER_ELEMENT
  }

  #pack(address: Address): number {
    const { written } = this.#encoder.encodeInto(address, this.#letters)
    if (written < LETTERS) {
      this.#letters.fill(0, written)
    }
    return hashOf(this.#words, 0)
  }

  /** Puts the number of the address that is being looked up into the table. */
  #enter(hash: number, id: number): void {
    let slots: Uint32Array = this.#partOf(hash)
    if (this.#count(hash, 1) * 2 > maskOf(slots)) {
      const more = grown(slots)
      this.#parts[hash >>> (32 - PART_BITS)] = more
      slots = more
    }
    const at = this.#slotOf(slots, hash) * SLOT
    slots[at] = hash
    slots[at + 1] = id
  }

  /** Puts every number in use into the table. */
  *#enterAll(): ImageSteps {
    let entered = 0
    for (const id of this.ids()) {
      const from = (id & (PAGE - 1)) * WORDS
      this.#words.set((this.#pages[id >>> PAGE_BITS] ?? NO_WORDS).subarray(from, from + WORDS))
      this.#enter(hashOf(this.#words, 0), id)
      entered++
      if (entered % ENTERED === 0) {
        yield
      }
    }
  }

  #partOf(hash: number): Uint32Array {
    return this.#parts[hash >>> (32 - PART_BITS)] ?? NO_WORDS
  }

  /** Changes the number of addresses in the part of a hash and returns the new number. */
  #count(hash: number, change: 1 | -1): number {
    const part = hash >>> (32 - PART_BITS)
    const used = (this.#used[part] ?? 0) + change
    this.#used[part] = used
    return used
  }

  #slotOf(slots: Uint32Array, hash: number, words = this.#words, at = 0): number {
    const mask = maskOf(slots)
    let slot = hash & mask
    for (;;) {
      const id = slots[slot * SLOT + 1] ?? 0
      if (id === 0 || (slots[slot * SLOT] === hash && this.#spells(id, words, at))) {
        return slot
      }
      slot = (slot + 1) & mask
    }
  }

  #spells(id: number, words: Uint32Array, at: number): boolean {
    const page = this.#pages[id >>> PAGE_BITS] ?? NO_WORDS
    const from = (id & (PAGE - 1)) * WORDS
    for (let word = 0; word < WORDS; word++) {
      if (page[from + word] !== words[at + word]) {
        return false
      }
    }
    return true
  }
}
