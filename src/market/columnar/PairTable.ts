import { imageCells, type ImageSteps, type StateImage } from "./StateImage.ts"

const SLOT = 4
const VALUE = 2
/** The table has this many parts. Each part is small and grows by itself, so growing never pauses the writer. */
const PART_BITS = 6
const PARTS = 2 ** PART_BITS
const FIRST_SLOTS = 16

/** Open addressing in one array, at most half full. */
class Part {
  #slots = new Uint32Array(FIRST_SLOTS * SLOT)
  #mask = FIRST_SLOTS - 1
  #used = 0

  get(a: number, b: number, hash: number): number {
    return this.#slots[this.#slotOf(a, b, hash) * SLOT + VALUE] ?? 0
  }

  /** The value in the slot where the search for a hash begins. */
  near(hash: number): number {
    return this.#slots[(hash & this.#mask) * SLOT + VALUE] ?? 0
  }

  set(a: number, b: number, hash: number, value: number): void {
    let at = this.#slotOf(a, b, hash) * SLOT
    if (this.#slots[at + VALUE] === 0) {
      this.#used++
      if (this.#used * 2 > this.#mask) {
        this.#grow()
        at = this.#slotOf(a, b, hash) * SLOT
      }
    }
    this.#slots[at] = a
    this.#slots[at + 1] = b
    this.#slots[at + VALUE] = value
    this.#slots[at + VALUE + 1] = hash
  }

  /** Forgets a pair and moves later slots up into the gap: a search stops at the first empty slot. */
  delete(a: number, b: number, hash: number): void {
    let gap = this.#slotOf(a, b, hash)
    if (this.#slots[gap * SLOT + VALUE] === 0) {
      return
    }
    for (let next = (gap + 1) & this.#mask; this.#slots[next * SLOT + VALUE] !== 0; next = (next + 1) & this.#mask) {
      const home = (this.#slots[next * SLOT + VALUE + 1] ?? 0) & this.#mask
      if (((next - home) & this.#mask) >= ((next - gap) & this.#mask)) {
        this.#slots.copyWithin(gap * SLOT, next * SLOT, next * SLOT + SLOT)
        gap = next
      }
    }
    this.#slots.fill(0, gap * SLOT, gap * SLOT + SLOT)
    this.#used--
  }

  get bytes(): number {
    return this.#slots.byteLength
  }

  *image(image: StateImage): ImageSteps {
    const length = image.number(this.#slots.length)
    this.#used = image.number(this.#used)
    if (image.isRead) {
      this.#slots = new Uint32Array(length)
      this.#mask = length / SLOT - 1
    }
    yield* imageCells(image, this.#slots)
  }

  #grow(): void {
    const old = this.#slots
    this.#slots = new Uint32Array(old.length * 2)
    this.#mask = this.#mask * 2 + 1
    for (let from = 0; from < old.length; from += SLOT) {
      if (old[from + VALUE] !== 0) {
        let slot = (old[from + VALUE + 1] ?? 0) & this.#mask
        while (this.#slots[slot * SLOT + VALUE] !== 0) {
          slot = (slot + 1) & this.#mask
        }
        for (let cell = 0; cell < SLOT; cell++) {
          this.#slots[slot * SLOT + cell] = old[from + cell] ?? 0
        }
      }
    }
  }

  #slotOf(a: number, b: number, hash: number): number {
    let slot = hash & this.#mask
    for (;;) {
      const at = slot * SLOT
      if (this.#slots[at + VALUE] === 0 || (this.#slots[at] === a && this.#slots[at + 1] === b)) {
        return slot
      }
      slot = (slot + 1) & this.#mask
    }
  }
}

const hashOf = (a: number, b: number): number => {
  const mixed = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)
  const again = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  return (again ^ (again >>> 13)) >>> 0
}

/** Maps a pair of numbers to a number. A look-up touches one cache line; memory grows with the number of pairs. */
export class PairTable {
  readonly #parts = Array.from({ length: PARTS }, () => new Part())

  /** Returns the value of a pair; 0 when it has none. */
  get(a: number, b: number): number {
    const hash = hashOf(a, b)
    return this.#parts[hash >>> (32 - PART_BITS)]?.get(a, b, hash) ?? 0
  }

  /** Fills in the values of many pairs, as `get` does for each. The memory of all of them is read at once. */
  getGroup(count: number, a: Uint32Array, b: Uint32Array, values: Uint32Array): void {
    for (let place = 0; place < count; place++) {
      const hash = hashOf(a[place] ?? 0, b[place] ?? 0)
      values[place] = this.#parts[hash >>> (32 - PART_BITS)]?.near(hash) ?? 0
    }
    for (let place = 0; place < count; place++) {
      values[place] = this.get(a[place] ?? 0, b[place] ?? 0)
    }
  }

  /** Sets the value of a pair. The value must not be 0. */
  set(a: number, b: number, value: number): void {
    const hash = hashOf(a, b)
    this.#parts[hash >>> (32 - PART_BITS)]?.set(a, b, hash, value)
  }

  delete(a: number, b: number): void {
    const hash = hashOf(a, b)
    this.#parts[hash >>> (32 - PART_BITS)]?.delete(a, b, hash)
  }

  /** Writes every pair, or reads them into an empty table. */
  *image(image: StateImage): ImageSteps {
    for (const part of this.#parts) {
      yield* part.image(image)
    }
  }

  get bytes(): number {
    return this.#parts.reduce((sum, part) => sum + part.bytes, 0)
  }
}
