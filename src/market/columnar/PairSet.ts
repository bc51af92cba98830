import { imageCells, type ImageSteps, type StateImage } from "./StateImage.ts"

/** Words of a slot: the owner, which is never zero, and the two hashes of its member. */
const SLOT = 3
const FIRST_SLOTS = 16

/**
 * A set of pairs of an owner and a member. A member is known only by a hash of 64 bits. Open addressing in one array,
 * at most half full.
 */
export class PairSet {
  #slots = new Uint32Array(FIRST_SLOTS * SLOT)
  #mask = FIRST_SLOTS - 1
  #used = 0

  /** Adds a member to an owner other than 0; returns false when it was there already. */
  add(owner: number, hash: number, check: number): boolean {
    const [mask, slots] = [this.#mask, this.#slots]
    let slot = (Math.imul(owner, 0x9e3779b1) ^ hash) & mask
    for (let at = slot * SLOT; slots[at] !== 0; at = slot * SLOT) {
      if (slots[at] === owner && slots[at + 1] === hash && slots[at + 2] === check) {
        return false
      }
      slot = (slot + 1) & mask
    }
    const at = slot * SLOT
    slots[at] = owner
    slots[at + 1] = hash
    slots[at + 2] = check
    this.#used++
    if (this.#used * 2 > mask) {
      this.#resize(slots.length * 2)
    }
    return true
  }

  /** Removes all pairs. Halves the array when far fewer pairs than fit were in it. */
  clear(): void {
    const most = this.#used * 4
    this.#used = 0
    if (this.#mask > Math.max(most, FIRST_SLOTS)) {
      this.#slots = new Uint32Array((this.#slots.length / SLOT / 2) * SLOT)
      this.#mask >>>= 1
    } else {
      this.#slots.fill(0)
    }
  }

  /** Writes every pair, or reads them into an empty set. */
  *image(image: StateImage): ImageSteps {
    const length = image.number(this.#slots.length)
    this.#used = image.number(this.#used)
    if (image.isRead) {
      this.#slots = new Uint32Array(length)
      this.#mask = length / SLOT - 1
    }
    yield* imageCells(image, this.#slots)
  }

  #resize(length: number): void {
    const old = this.#slots
    this.#slots = new Uint32Array(length)
    this.#mask = length / SLOT - 1
    this.#used = 0
    for (let at = 0; at < old.length; at += SLOT) {
      if (old[at] !== 0) {
        this.add(old[at] ?? 0, old[at + 1] ?? 0, old[at + 2] ?? 0)
      }
    }
  }
}
