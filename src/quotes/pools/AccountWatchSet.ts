import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"

interface WatchedAccount<User> {
  /** `undefined` until the account has been read. */
  account: OnChainAccount | null | undefined
  subscribed: boolean
  readonly users: Set<User>
}

const NOBODY: ReadonlyArray<never> = []

/** Subscriptions to add and to drop. */
export interface WatchChanges {
  readonly watch: ReadonlyArray<Address>
  readonly unwatch: ReadonlyArray<Address>
}

/**
 * The watched accounts with their newest state and their users. Collects which subscriptions the feed still has to
 * add or drop.
 */
export class AccountWatchSet<User> {
  readonly #accounts = new Map<Address, WatchedAccount<User>>()
  readonly #changed = new Set<Address>()

  /** The newest state: `undefined` while unknown, `null` when the account does not exist. */
  readonly read = (address: Address): OnChainAccount | null | undefined => this.#accounts.get(address)?.account

  /** Replaces the accounts that one user needs. */
  retarget(user: User, before: ReadonlySet<Address>, after: ReadonlySet<Address>): void {
    for (const address of after) {
      if (!before.has(address)) {
        this.#join(user, address)
      }
    }
    for (const address of before) {
      if (!after.has(address)) {
        this.#leave(user, address)
      }
    }
  }

  /** Stores an account's new state and returns its users. Accounts without a user are ignored. */
  write(address: Address, account: OnChainAccount | null): Iterable<User> {
    const watched = this.#accounts.get(address)
    if (watched === undefined) {
      return NOBODY
    }
    watched.account = account
    return watched.users
  }

  /** Changes since the last call. An account that was dropped and added again in between stays subscribed. */
  takeChanges(): WatchChanges {
    const watch: Array<Address> = []
    const unwatch: Array<Address> = []
    for (const address of this.#changed) {
      const watched = this.#accounts.get(address)
      if (watched !== undefined && watched.users.size === 0) {
        this.#accounts.delete(address)
        if (watched.subscribed) {
          unwatch.push(address)
        }
      } else if (watched !== undefined && !watched.subscribed) {
        watched.subscribed = true
        watch.push(address)
      }
    }
    this.#changed.clear()
    return { watch, unwatch }
  }

  #join(user: User, address: Address): void {
    const watched = this.#accounts.get(address) ?? { account: undefined, subscribed: false, users: new Set() }
    this.#accounts.set(address, watched)
    watched.users.add(user)
    this.#changed.add(address)
  }

  #leave(user: User, address: Address): void {
    this.#accounts.get(address)?.users.delete(user)
    this.#changed.add(address)
  }
}
