/** Units of a tracked wallet over all of its token accounts, block by block. */
import type { Mint } from "../../domain/Address.ts"
import { type AccountsRead, deltaOf, type WholeEvents } from "../../wallets/accounts/wholeEvents.ts"
import type { PositionEvent } from "./WalletLedger.ts"

/** Leads from a read of the accounts over every later change. */
export class RunningUnits {
  readonly #read: AccountsRead
  readonly #units: Map<Mint, bigint>
  /** True once a balance would be below zero: a change was missed, and the accounts have to be read again. */
  isBroken = false

  /** `units` are those after the stored changes, of the mints that had any. */
  constructor(read: AccountsRead, units: WholeEvents["units"]) {
    this.#read = read
    this.#units = new Map(units)
  }

  /** Units of the mints that had a change, after the last. */
  units(): WholeEvents["units"] {
    return this.#units
  }

  /** The event with the balance over all accounts, or without one when it is not known. */
  take(event: PositionEvent): PositionEvent {
    const before = this.#units.get(event.mint) ?? this.#read.of(event.mint).units
    const after = before + deltaOf(event)
    this.isBroken ||= after < 0n
    this.#units.set(event.mint, after)
    return this.isBroken ? { ...event, balance: null } : { ...event, balance: { before, after } }
  }
}
