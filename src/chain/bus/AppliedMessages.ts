import { Latch } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { ReadEntry } from "../../storage/bus/busLog.ts"
import type { ChainState } from "../accounts/ChainState.ts"
import { decodeMessage } from "./accountMessage.ts"
import type { OwnLease } from "./OwnLease.ts"

/** Applies the messages of one connection to the state of the feed. */
export class AppliedMessages {
  /** Opened with each message. */
  readonly heard: Latch.Latch = Latch.makeUnsafe(false)
  readonly #lease: OwnLease
  readonly #state: ChainState
  #session: number | null
  #revision = 0
  #unfollowed: ReadonlySet<Address> = new Set()
  /** Accounts that were followed and no longer are, until they are followed again. */
  readonly #lost = new Set<Address>()

  constructor(lease: OwnLease, state: ChainState, session: number | null) {
    this.#lease = lease
    this.#state = state
    this.#session = session
  }

  get session(): number | null {
    return this.#session
  }

  /** True when the writes of the account are on the bus. */
  isFollowed(address: Address): boolean {
    return this.#lease.since(address) <= this.#revision && !this.#unfollowed.has(address)
  }

  /** True when the process that fills the bus knows of the account, but the node does not follow it. */
  isRefused(address: Address): boolean {
    return this.#lease.since(address) <= this.#revision && this.#unfollowed.has(address)
  }

  /**
   * True when the process that fills the bus has this revision of the lease, and again follows every account that it
   * followed before.
   */
  has(revision: number): boolean {
    return this.#revision >= revision && this.#lost.size === 0
  }

  /** Stops waiting for lost accounts. */
  giveUp(): void {
    this.#lost.clear()
  }

  /** Applies a message. Throws when its bytes cannot be read. */
  apply({ body, isAfterGap }: ReadEntry): void {
    const { leases, session, slot, unfollowed, writes } = decodeMessage(body, this.#lease.find)
    const revision = leases.get(this.#lease.owner) ?? 0
    const isFirst = this.#session === null
    if (!isFirst && (isAfterGap || session !== this.#session || revision < this.#revision)) {
      this.#state.onLost(Array.from(this.#lease.addresses()))
    }
    const lost = unfollowed.filter((address) => this.isFollowed(address))
    if (lost.length > 0) {
      this.#state.onLost(lost)
    }
    this.#session = session
    this.#revision = revision
    this.#unfollowed = new Set(unfollowed)
    lost.forEach((address) => this.#lost.add(address))
    this.#lost.forEach((address) => !this.#unfollowed.has(address) && this.#lost.delete(address))
    for (const [address, state] of writes) {
      this.#state.onWrite(address, state)
    }
    if (slot > 0) {
      this.#state.onCommitted(slot)
      this.#state.settle(slot)
    }
    this.heard.openUnsafe()
  }
}
