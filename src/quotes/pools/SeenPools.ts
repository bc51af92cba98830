/** Remembers which pools have been seen, so that a pool is stored once and not at every write. */

/** Addresses per generation. There are two generations, at about 100 bytes an address. */
const MOST = 50_000

/** A set of the newest addresses: at least the last 50,000, at most 100,000. */
export class SeenPools {
  #newer = new Set<string>()
  #older = new Set<string>()

  /** Adds an address. Returns true when it was not in the set. */
  add(address: Uint8Array): boolean {
    const key = Buffer.from(address.buffer, address.byteOffset, address.length).toString("latin1")
    if (this.#newer.has(key)) {
      return false
    }
    if (this.#newer.size >= MOST) {
      this.#older = this.#newer
      this.#newer = new Set()
    }
    this.#newer.add(key)
    return !this.#older.delete(key)
  }
}
