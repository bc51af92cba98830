import { MOST_ADDRESSES } from "../api/schemas/KeyAudit.ts"

/** Keys whose addresses are in memory. */
const MOST_KEYS = 10_000

/** First use of a key from an address, as far as this process knows. */
export interface FirstUse {
  readonly keyId: string
  readonly address: string
  readonly atMs: number
}

/**
 * Addresses that keys were used from, so that the store is asked about each only once. Holds at most 10,000 keys and
 * drops the oldest first. Each key has at most MOST_ADDRESSES; further ones are not noted. If a dropped address is
 * noted again, the store knows it already.
 */
export class AddressLog {
  readonly #seen = new Map<string, Set<string>>()
  #waiting: Array<FirstUse> = []

  /** Notes a use. Two look-ups unless the address is new. */
  note(keyId: string, address: string, nowMs: number): void {
    const addresses = this.#seen.get(keyId) ?? this.#add(keyId)
    if (addresses.has(address) || addresses.size >= MOST_ADDRESSES) {
      return
    }
    addresses.add(address)
    if (this.#waiting.length < MOST_KEYS) {
      this.#waiting.push({ keyId, address, atMs: nowMs })
    }
  }

  /** Uses to be stored, in order. */
  batch(): ReadonlyArray<FirstUse> {
    return Array.from(this.#waiting)
  }

  /** Removes what has been stored. */
  written(batch: ReadonlyArray<FirstUse>): void {
    const done = new Set(batch)
    this.#waiting = this.#waiting.filter((use) => !done.has(use))
  }

  #add(keyId: string): Set<string> {
    const [oldest] = this.#seen.size >= MOST_KEYS ? this.#seen.keys() : []
    if (oldest !== undefined) {
      this.#seen.delete(oldest)
    }
    const addresses = new Set<string>()
    this.#seen.set(keyId, addresses)
    return addresses
  }
}
