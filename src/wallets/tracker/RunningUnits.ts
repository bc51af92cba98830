/** Units of a tracked wallet over all of its token accounts, block by block. */
import type { Mint } from "../../domain/Address.ts"
import { type AccountsRead, deltaOf, type WholeEvents } from "../wholeEvents.ts"
import type { PositionEvent } from "../ownerLinks.ts"

/** Applies every change after a read of the accounts. */
export class RunningUnits {
  readonly #read: AccountsRead
  readonly #units: Map<Mint, bigint>
  /** True once a balance would be below zero. A change was then missed, and the accounts have to be read again. */
  isBroken = false

  /** `units` are the units after the stored changes, for the mints that changed. */
  constructor(read: AccountsRead, units: WholeEvents["units"]) {
    this.#read = read
    this.#units = new Map(units)
  }

  /** Units of the mints that changed, after the last change. */
  units(): WholeEvents["units"] {
    return this.#units
  }

  /** The event with the balance over all accounts, or without a balance when it is not known. */
  take(event: PositionEvent): PositionEvent {
    const before = this.#units.get(event.mint) ?? this.#read.of(event.mint).units
    const after = before + deltaOf(event)
    this.isBroken ||= after < 0n
    this.#units.set(event.mint, after)
    return this.isBroken ? { ...event, balance: null } : { ...event, balance: { before, after } }
  }
}
