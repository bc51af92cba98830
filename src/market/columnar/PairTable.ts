const SLOT = 4
const VALUE = 2

/**
 * A number for each pair of numbers: open addressing in one array, so that a look-up touches one cache line. Allocated for
 * the most pairs at once, so that it never pauses the writer to grow.
 */
export class PairTable {
  private readonly slots: Uint32Array
  private readonly mask: number

  /** Room for `most` pairs, at most half full. */
  constructor(most: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(2, most) * 2))
    this.slots = new Uint32Array(size * SLOT)
    this.mask = size - 1
  }

  /** The value of a pair; 0 when it has none. */
  get(a: number, b: number): number {
    return this.slots[this.slotOf(a, b) * SLOT + VALUE] ?? 0
  }

  /** Gives a pair a value other than 0. */
  set(a: number, b: number, value: number): void {
    const at = this.slotOf(a, b) * SLOT
    this.slots[at] = a
    this.slots[at + 1] = b
    this.slots[at + VALUE] = value
  }

  /** Forgets a pair; those behind it close the gap, so that no search stops short of them. */
  delete(a: number, b: number): void {
    let gap = this.slotOf(a, b)
    if (this.slots[gap * SLOT + VALUE] === 0) {
      return
    }
    for (let next = (gap + 1) & this.mask; this.slots[next * SLOT + VALUE] !== 0; next = (next + 1) & this.mask) {
      const home = this.home(this.slots[next * SLOT] ?? 0, this.slots[next * SLOT + 1] ?? 0)
      if (((next - home) & this.mask) >= ((next - gap) & this.mask)) {
        this.slots.copyWithin(gap * SLOT, next * SLOT, next * SLOT + SLOT)
        gap = next
      }
    }
    this.slots.fill(0, gap * SLOT, gap * SLOT + SLOT)
  }

  /** Bytes of the array. */
  get bytes(): number {
    return this.slots.byteLength
  }

  private home(a: number, b: number): number {
    const mixed = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)
    const again = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
    return (again ^ (again >>> 13)) & this.mask
  }

  private slotOf(a: number, b: number): number {
    let slot = this.home(a, b)
    for (;;) {
      const at = slot * SLOT
      if (this.slots[at + VALUE] === 0 || (this.slots[at] === a && this.slots[at + 1] === b)) {
        return slot
      }
      slot = (slot + 1) & this.mask
    }
  }
}
