import type { OnChainAccount } from "../domain/OnChainAccount.ts"
import type { Address } from "../domain/Address.ts"

interface Followed<User> {
  /** `undefined` until the chain has told. */
  account: OnChainAccount | null | undefined
  watched: boolean
  readonly users: Set<User>
}

/** What has to be asked of the feed since the last time. */
export interface WatchChanges {
  readonly watch: ReadonlyArray<Address>
  readonly unwatch: ReadonlyArray<Address>
}

/** Accounts somebody needs: their newest state, who needs them, and what the feed has not been told yet. */
export class AccountWatchSet<User> {
  readonly #followed = new Map<Address, Followed<User>>()
  readonly #changed = new Set<Address>()

  /** The newest state; `undefined` while it is not known, `null` when there is no such account. */
  readonly read = (address: Address): OnChainAccount | null | undefined => this.#followed.get(address)?.account

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

  /** Takes an account's new state and gives those who need it. Accounts nobody follows are ignored. */
  write(address: Address, account: OnChainAccount | null): Iterable<User> {
    const followed = this.#followed.get(address)
    if (followed === undefined) {
      return []
    }
    followed.account = account
    return followed.users
  }

  /** Changes since the last call. An account that was left and joined again in between was never let go. */
  takeChanges(): WatchChanges {
    const watch: Array<Address> = []
    const unwatch: Array<Address> = []
    for (const address of this.#changed) {
      const followed = this.#followed.get(address)
      if (followed !== undefined && followed.users.size === 0) {
        this.#followed.delete(address)
        if (followed.watched) {
          unwatch.push(address)
        }
      } else if (followed !== undefined && !followed.watched) {
        followed.watched = true
        watch.push(address)
      }
    }
    this.#changed.clear()
    return { watch, unwatch }
  }

  #join(user: User, address: Address): void {
    const followed = this.#followed.get(address) ?? { account: undefined, watched: false, users: new Set() }
    this.#followed.set(address, followed)
    followed.users.add(user)
    this.#changed.add(address)
  }

  #leave(user: User, address: Address): void {
    this.#followed.get(address)?.users.delete(user)
    this.#changed.add(address)
  }
}
