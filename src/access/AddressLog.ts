import { MOST_ADDRESSES } from "../api/schemas/KeyAudit.ts"

/** Number of keys whose addresses are remembered. */
const MOST_KEYS = 10_000

/** First use of a key from an address, as far as this process knows. */
export interface FirstUse {
  readonly keyId: string
  readonly address: string
  readonly atMs: number
}

/**
 * Remembers the addresses that each key was used from, so that the store is asked about each address only once. Holds
 * at most 10,000 keys and drops the oldest first. Of each key it remembers at most MOST_ADDRESSES addresses and ignores
 * the others. When a dropped address returns it is sent to the store again, which already has it.
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

  /** The uses that wait to be stored, oldest first. */
  batch(): ReadonlyArray<FirstUse> {
    return Array.from(this.#waiting)
  }

  /** Removes uses that have been stored. */
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
