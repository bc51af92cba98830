import type { Address } from "../../domain/Address.ts"
import { keyOfAddress } from "./accountMessage.ts"

/** The lease of this process: its accounts, each with the first revision that has it. */
export class OwnLease {
  readonly owner: string
  #revision = 0
  #isChanged = false
  readonly #since = new Map<Address, number>()
  readonly #byKey = new Map<string, Address>()

  constructor(owner: string) {
    this.owner = owner
  }

  get revision(): number {
    return this.#revision
  }

  /** True when accounts were added or removed since the last revision. */
  get isChanged(): boolean {
    return this.#isChanged
  }

  readonly find = (key: string): Address | undefined => this.#byKey.get(key)

  addresses(): Iterable<Address> {
    return this.#since.keys()
  }

  /** The first revision that has the account; Infinity when the account is not in the lease. */
  since(address: Address): number {
    return this.#since.get(address) ?? Infinity
  }

  add(addresses: ReadonlyArray<Address>): void {
    for (const address of addresses) {
      if (!this.#since.has(address)) {
        this.#since.set(address, this.#revision + 1)
        this.#byKey.set(keyOfAddress(address), address)
        this.#isChanged = true
      }
    }
  }

  remove(addresses: ReadonlyArray<Address>): void {
    for (const address of addresses) {
      if (this.#since.delete(address)) {
        this.#byKey.delete(keyOfAddress(address))
        this.#isChanged = true
      }
    }
  }

  /** The lease as it is to be written: with the next revision when accounts have changed. */
  next() {
    this.#revision += this.#isChanged ? 1 : 0
    this.#isChanged = false
    // The keys are the bytes of the addresses.
    const accounts = Buffer.from(Array.from(this.#byKey.keys()).join(""), "latin1")
    return { owner: this.owner, revision: this.#revision, accounts }
  }
}
