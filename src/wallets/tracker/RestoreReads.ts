/** Reads of the token accounts of wallets that wait for their restore. */
import type { Address } from "../../domain/Address.ts"
import type { AccountsState, WalletAccounts } from "../WalletAccounts.ts"

/**
 * Requests one read for each restore. The read has to be newer than the time since which the changes of the wallet are
 * stored.
 */
export class RestoreReads {
  readonly #accounts: WalletAccounts["Service"]
  readonly #asked = new Set<Address>()

  constructor(accounts: WalletAccounts["Service"]) {
    this.#accounts = accounts
  }

  /**
   * Requests a read of each wallet, once since its last restore. `waiting` is complete: other wallets are no longer
   * tracked, and their reads are withdrawn. So wallets that come and go do not delay wallets that stay.
   */
  ask(waiting: ReadonlyArray<Address>): void {
    const all = new Set(waiting)
    for (const wallet of this.#asked) {
      if (!all.has(wallet)) {
        this.#accounts.withdraw(wallet)
        this.#asked.delete(wallet)
      }
    }
    for (const wallet of waiting) {
      if (!this.#asked.has(wallet) && this.#accounts.of(wallet) !== "named") {
        this.#accounts.againFirst(wallet)
        this.#asked.add(wallet)
      }
    }
  }

  /** The requested read. */
  of(wallet: Address): AccountsState {
    return this.#accounts.of(wallet)
  }

  /** Forgets the request: the restore is done, or begins from the start. */
  done(wallet: Address): void {
    this.#asked.delete(wallet)
  }

  startAnew(): void {
    this.#asked.clear()
  }
}
