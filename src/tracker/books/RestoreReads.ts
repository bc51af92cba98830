/** Reads of the token accounts of wallets that wait for their restore. */
import type { Address } from "../../domain/Address.ts"
import type { AccountsState, WalletAccounts } from "../../wallets/accounts/WalletAccounts.ts"

/** Asks once for each restore: the read has to be newer than the time since which the changes of the wallet are stored. */
export class RestoreReads {
  readonly #accounts: WalletAccounts["Service"]
  readonly #asked = new Set<Address>()

  constructor(accounts: WalletAccounts["Service"]) {
    this.#accounts = accounts
  }

  /**
   * Asks for the wallets of which no read was asked for since their last restore. These are all that wait: the reads of others,
   * which are not tracked any more, are withdrawn, so that wallets that come and go do not delay those that stay.
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

  /** The read that was asked for. */
  of(wallet: Address): AccountsState {
    return this.#accounts.of(wallet)
  }

  /** The restore is done, or begins from the start. */
  done(wallet: Address): void {
    this.#asked.delete(wallet)
  }

  startAnew(): void {
    this.#asked.clear()
  }
}
