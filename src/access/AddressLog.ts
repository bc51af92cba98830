import { MOST_ADDRESSES } from "../domain/keys/KeyAudit.ts"

/** Keys whose addresses are in memory. */
const MOST_KEYS = 10_000

/** A key used from an address that this process has not seen it use. */
export interface FirstUse {
  readonly keyId: string
  readonly address: string
  readonly atMs: number
}

/**
 * Addresses that keys were used from, so that the store is asked about each once. At most 10,000 keys, the oldest dropped first,
 * with MOST_ADDRESSES each; addresses beyond those are not noted. An address that is noted again is known to the store.
 */
export class AddressLog {
  private readonly seen = new Map<string, Set<string>>()
  private waiting: Array<FirstUse> = []

  /** Notes a use. Two look-ups unless the address is new. */
  note(keyId: string, address: string, nowMs: number): void {
    const addresses = this.seen.get(keyId) ?? this.add(keyId)
    if (addresses.has(address) || addresses.size >= MOST_ADDRESSES) {
      return
    }
    addresses.add(address)
    if (this.waiting.length < MOST_KEYS) {
      this.waiting.push({ keyId, address, atMs: nowMs })
    }
  }

  /** Uses to be stored, in order. */
  batch(): ReadonlyArray<FirstUse> {
    return Array.from(this.waiting)
  }

  /** Removes what has been stored. */
  stored(batch: ReadonlyArray<FirstUse>): void {
    const done = new Set(batch)
    this.waiting = this.waiting.filter((use) => !done.has(use))
  }

  private add(keyId: string): Set<string> {
    const [oldest] = this.seen.size >= MOST_KEYS ? this.seen.keys() : []
    if (oldest !== undefined) {
      this.seen.delete(oldest)
    }
    const addresses = new Set<string>()
    this.seen.set(keyId, addresses)
    return addresses
  }
}
