import type { Address } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { ChainEvent } from "../ChainFeed.ts"

/** Events that readers do not get yet, as the newest state of each account. */
export class HeldBack {
  #accounts = new Map<Address, OnChainAccount | null>()
  #slot = 0

  get isEmpty(): boolean {
    return this.#accounts.size === 0
  }

  add(event: ChainEvent): void {
    const { accounts, slot } = event._tag === "Writes" ? event : event.snapshot
    this.#slot = Math.max(this.#slot, slot)
    accounts.forEach((account, address) => this.#accounts.set(address, account))
  }

  forget(address: Address): void {
    this.#accounts.delete(address)
  }

  /** Returns everything as one event, and forgets it. */
  take(): ChainEvent {
    const snapshot = { slot: this.#slot, accounts: this.#accounts }
    this.clear()
    return { _tag: "Snapshot", snapshot }
  }

  clear(): void {
    this.#accounts = new Map()
    this.#slot = 0
  }
}
