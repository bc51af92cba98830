import type { ChainClock } from "../../domain/OnChainAccount.ts"
import { readClock } from "../clockSysvar.ts"
import type { AccountState } from "../AccountState.ts"

/** The chain's own time, from the newest state of the clock sysvar. */
export class KnownClock {
  #state: AccountState | undefined
  #clock: ChainClock = { slot: 0, epoch: 0, unixTimestamp: 0 }

  get isKnown(): boolean {
    return this.#state !== undefined
  }

  /** Takes the newest state of the sysvar. False when that state is already known. */
  read(state: AccountState | undefined): boolean {
    if (state === undefined || state === this.#state) {
      return false
    }
    this.#state = state
    this.#clock = (state.account === null ? null : readClock(state.account.data)) ?? this.#clock
    return true
  }

  /** The clock, moved forward to this slot when the slot is newer. */
  at(slot: number): ChainClock {
    if (this.#clock.slot < slot) {
      this.#clock = { ...this.#clock, slot }
    }
    return this.#clock
  }
}
