import type { Address } from "../../domain/Address.ts"

/** Words of one address: 44 letters, four to a word; shorter ones end in zeros. */
const WORDS = 11
const LETTERS = WORDS * Uint32Array.BYTES_PER_ELEMENT
const PAGE_BITS = 12
const PAGE = 2 ** PAGE_BITS
const NO_WORDS = new Uint32Array(0)
/** Of a slot: the hash of the address, and its number. */
const SLOT = 2

/**
 * Numbers for addresses: stable while an address is held, reused after it was dropped; 0 is none. The letters lie packed in
 * pages, because a map has to hash the new strings of a decoder, which costs more than the rest of a trade. Allocated for the
 * most addresses at once, so that it never pauses to grow.
 */
export class Addresses {
  private readonly slots: Uint32Array
  private readonly mask: number
  private readonly pages: Array<Uint32Array> = []
  private readonly free: Array<number> = []
  private next = 1
  /** The address that is being looked up. */
  private readonly words = new Uint32Array(WORDS)
  private readonly letters = new Uint8Array(this.words.buffer)
  private readonly encoder = new TextEncoder()
  private readonly decoder = new TextDecoder()

  /** Room for `most` addresses, at most half full. */
  constructor(most: number) {
    const size = 2 ** Math.ceil(Math.log2((most + 1) * 2))
    this.slots = new Uint32Array(size * SLOT)
    this.mask = size - 1
  }

  /** The number of an address; 0 when it has none. */
  find(address: Address): number {
    return this.slots[this.slotOf(this.pack(address)) * SLOT + 1] ?? 0
  }

  /** The number of an address, given now when it has none. */
  hold(address: Address): number {
    const hash = this.pack(address)
    const at = this.slotOf(hash) * SLOT
    const known = this.slots[at + 1] ?? 0
    if (known !== 0) {
      return known
    }
    const id = this.free.pop() ?? this.next++
    const page = (this.pages[id >>> PAGE_BITS] ??= new Uint32Array(PAGE * WORDS))
    page.set(this.words, (id & (PAGE - 1)) * WORDS)
    this.slots[at] = hash
    this.slots[at + 1] = id
    return id
  }

  /** Forgets an address; those behind it in the table close the gap, so that no search stops short of them. */
  drop(address: Address): void {
    let gap = this.slotOf(this.pack(address))
    const id = this.slots[gap * SLOT + 1] ?? 0
    if (id === 0) {
      return
    }
    for (let next = (gap + 1) & this.mask; this.slots[next * SLOT + 1] !== 0; next = (next + 1) & this.mask) {
      const home = (this.slots[next * SLOT] ?? 0) & this.mask
      if (((next - home) & this.mask) >= ((next - gap) & this.mask)) {
        this.slots.copyWithin(gap * SLOT, next * SLOT, next * SLOT + SLOT)
        gap = next
      }
    }
    this.slots.fill(0, gap * SLOT, gap * SLOT + SLOT)
    this.free.push(id)
  }

  /** The address of a number that was given out. */
  text(id: number): Address {
    const page = this.pages[id >>> PAGE_BITS] ?? NO_WORDS
    const from = (id & (PAGE - 1)) * WORDS * Uint32Array.BYTES_PER_ELEMENT
    const letters = new Uint8Array(page.buffer, from, LETTERS)
    const end = letters.indexOf(0)
    return this.decoder.decode(end < 0 ? letters : letters.subarray(0, end)) as Address
  }

  /** Addresses held. */
  get size(): number {
    return this.next - 1 - this.free.length
  }

  /** Bytes in use. */
  get usedBytes(): number {
    return this.slots.byteLength + this.size * WORDS * Uint32Array.BYTES_PER_ELEMENT
  }

  private pack(address: Address): number {
    const { written } = this.encoder.encodeInto(address, this.letters)
    if (written < LETTERS) {
      this.letters.fill(0, written)
    }
    let hash = 0
    for (let word = 0; word < WORDS; word++) {
      hash = Math.imul(hash ^ (this.words[word] ?? 0), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    return hash >>> 0
  }

  private slotOf(hash: number): number {
    let slot = hash & this.mask
    for (;;) {
      const id = this.slots[slot * SLOT + 1] ?? 0
      if (id === 0 || (this.slots[slot * SLOT] === hash && this.spells(id))) {
        return slot
      }
      slot = (slot + 1) & this.mask
    }
  }

  private spells(id: number): boolean {
    const page = this.pages[id >>> PAGE_BITS] ?? NO_WORDS
    const from = (id & (PAGE - 1)) * WORDS
    for (let word = 0; word < WORDS; word++) {
      if (page[from + word] !== this.words[word]) {
        return false
      }
    }
    return true
  }
}
