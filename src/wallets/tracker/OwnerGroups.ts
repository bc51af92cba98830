/**
 * Other wallets of the owners of tracked wallets. Their transfers carry cost into the figures of the tracked wallets.
 */
import type { Address } from "../../domain/Address.ts"
import { eventsOf } from "../ledger.ts"
import type { OwnerEvents, PositionEvent, WalletEvent } from "../ownerLinks.ts"
import { wholeEvents, type WholeRequest } from "../wholeEvents.ts"
import type { StoredTrades } from "./restoredTrades.ts"
import { RunningUnits } from "./RunningUnits.ts"

/** The token accounts of a wallet, and the time from which its stored trades and transfers are whole. */
export type RestoredAccounts = Pick<WholeRequest, "fromMs" | "read">

/** Stored trades of another wallet of an owner. `accounts` is null when the accounts that transactions name are all. */
export interface OtherStored {
  readonly wallet: Address
  readonly stored: StoredTrades
  readonly accounts: RestoredAccounts | null
}

/** The events of one owner's wallets by transaction, and the units of each wallet that is read. */
export interface RestoredOwner {
  readonly transactions: ReadonlyArray<OwnerEvents>
  readonly running: ReadonlyMap<Address, RunningUnits>
}

/** The stored events of one owner's wallets, by transaction; null when a read of accounts does not fit the trades. */
export const restoredOwner = (wallets: ReadonlyArray<OtherStored>): RestoredOwner | null => {
  const running = new Map<Address, RunningUnits>()
  const all = []
  for (const { accounts, stored, wallet } of wallets) {
    const events = eventsOf(stored.trades)
    const whole = accounts === null ? null : wholeEvents(events, { ...accounts, isComplete: true })
    if (accounts !== null && whole !== null) {
      if (whole.unread.size > 0) {
        return null
      }
      running.set(wallet, new RunningUnits(accounts.read, whole.units))
    }
    for (const event of whole?.events ?? events) {
      all.push({ wallet, event })
    }
  }
  const inOrder = all.toSorted((a, b) => a.event.slot - b.event.slot || a.event.index - b.event.index)
  return { running, transactions: Array.from(Map.groupBy(inOrder, ({ event }) => event.signature).values()) }
}

/** Tracked wallets with the other wallets of their owners, and the units of each of them. */
export class OwnerGroups {
  readonly #others = new Map<Address, ReadonlySet<Address>>()
  /** The tracked wallets to which each other wallet is linked. */
  #ofOther = new Map<Address, Array<Address>>()
  /** By tracked wallet, then by wallet of its owner: units of wallets whose token accounts were read. */
  readonly #running = new Map<Address, ReadonlyMap<Address, RunningUnits>>()

  /** True for another wallet of the owner of a tracked wallet. */
  concerns(wallet: Address): boolean {
    return this.#ofOther.has(wallet)
  }

  /** Sets the other wallets of the owner. */
  link(wallet: Address, others: ReadonlyArray<Address>): void {
    if (others.length === 0 ? this.#others.delete(wallet) : this.#others.set(wallet, new Set(others))) {
      this.#ofOther = new Map()
      for (const [tracked, of] of this.#others) {
        of.forEach((other) => this.#ofOther.set(other, [...(this.#ofOther.get(other) ?? []), tracked]))
      }
    }
  }

  /** Sets the units of an owner's wallets, which are kept up to date from now on. */
  run(wallet: Address, running: ReadonlyMap<Address, RunningUnits>): void {
    this.#running.set(wallet, running)
  }

  /** Drops the units, which are no longer known. */
  stop(wallet: Address): void {
    this.#running.delete(wallet)
  }

  /** Forgets all untracked wallets. */
  keep(isTracked: (wallet: Address) => boolean): void {
    for (const wallet of new Set([...this.#others.keys(), ...this.#running.keys()])) {
      if (!isTracked(wallet)) {
        this.stop(wallet)
        this.link(wallet, [])
      }
    }
  }

  startAnew(): void {
    this.#running.clear()
  }

  /** The events of one transaction by the tracked wallets that they concern. */
  byTracked(
    events: OwnerEvents,
    isTracked: (wallet: Address) => boolean
  ): ReadonlyMap<Address, Array<WalletEvent<PositionEvent>>> {
    const found = new Map<Address, Array<WalletEvent<PositionEvent>>>()
    const add = (tracked: Address, event: WalletEvent<PositionEvent>): void => {
      const together = found.get(tracked)
      if (together === undefined) {
        found.set(tracked, [event])
      } else {
        together.push(event)
      }
    }
    for (const event of events) {
      if (isTracked(event.wallet)) {
        add(event.wallet, event)
      }
      this.#ofOther.get(event.wallet)?.forEach((tracked) => add(tracked, event))
    }
    return found
  }

  /** The events with balances over all accounts. `isBroken` is true when a change of one of the wallets was missed. */
  whole(tracked: Address, together: OwnerEvents): { readonly events: OwnerEvents; readonly isBroken: boolean } {
    const running = this.#running.get(tracked)
    if (running === undefined) {
      return { events: together, isBroken: false }
    }
    const events = together.map(({ event, wallet }) => ({ wallet, event: running.get(wallet)?.take(event) ?? event }))
    return { events, isBroken: together.some(({ wallet }) => running.get(wallet)?.isBroken === true) }
  }
}
