import type { Address } from "../../domain/Address.ts"
import type { ChainClock, OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { ChainEvent } from "../ChainFeed.ts"
import type { FeedFaults } from "./FeedFaults.ts"
import type { Outbox } from "./outbox.ts"
import type { ReachedSlot } from "./subscriptions.ts"

/** A slot at which readers have the state of every account, with its clock and the time it was received. */
export interface WholeState extends ReachedSlot {
  readonly clock: ChainClock
  /** How far the wall clock was ahead of the monotonic clock. */
  readonly aheadMs: number
}

/** Events are held back for at most this long. A new token waits 10 s for its pools (`loadPools.ts`). */
const MOST_HELD_MS = 5000

/**
 * What readers have, and what they do not get yet. While some accounts lack writes that were missed, events are held back as the
 * newest state of each account, so that readers keep the last whole state instead of a mixture.
 */
export class ReaderState {
  readonly #outbox: Outbox
  readonly #nowMs: () => number
  #held = new Map<Address, OnChainAccount | null>()
  #heldSlot = 0
  #heldSince = 0
  /** True from sending held events until other events are sent. */
  #hasSentHeld = false
  /** The newest whole state that was sent, and the newest that readers have taken. */
  #sent: WholeState | null = null
  #taken: WholeState | null = null
  readonly #faults: FeedFaults

  constructor(outbox: Outbox, faults: FeedFaults, nowMs: () => number) {
    this.#outbox = outbox
    this.#faults = faults
    this.#nowMs = nowMs
  }

  /** The newest whole state that readers have; null while they have none. */
  get whole(): WholeState | null {
    this.#noteTaken()
    return this.#taken
  }

  /** True while events are held back. */
  get isHolding(): boolean {
    return this.#held.size > 0
  }

  /** True while readers still have to take events that were held back. */
  get isReleasing(): boolean {
    return this.#hasSentHeld && this.#outbox.isLagging()
  }

  /**
   * Passes events on, or holds them back unless they make readers whole. True when readers get something. `isAfterGap`: readers
   * lacked writes before these events.
   */
  offer(
    events: ReadonlyArray<ChainEvent>,
    { isAfterGap, isWhole }: { readonly isAfterGap: boolean; readonly isWhole: boolean }
  ): boolean {
    this.#noteTaken()
    if (!isWhole && this.isHolding && this.#nowMs() - this.#heldSince > MOST_HELD_MS) {
      this.lose()
    }
    const isHeld = !isWhole && this.#sent !== null
    if (!isAfterGap) {
      this.#send(events)
      return events.length > 0
    }
    this.#heldSince = this.isHolding ? this.#heldSince : this.#nowMs()
    events.forEach((event) => this.#hold(event))
    if (isHeld || !this.isHolding) {
      return false
    }
    const snapshot = { slot: this.#heldSlot, accounts: this.#held }
    this.#dropHeld()
    this.#send([{ _tag: "Snapshot", snapshot, isAfterGap: true }])
    this.#hasSentHeld = true
    return true
  }

  /**
   * What was sent so far is whole at this slot. A slot below the last one is ignored. A slot that came late does not make
   * readers' state younger.
   */
  complete(whole: WholeState, { isLate }: { readonly isLate: boolean }): void {
    if (this.#sent === null || whole.slot >= this.#sent.slot) {
      const { aheadMs, atMs } = (isLate ? this.#sent : null) ?? whole
      this.#sent = { ...whole, aheadMs, atMs }
    }
  }

  /** Readers have no whole state any more where theirs, or the one on its way, is of a later slot. True then. */
  loseAfter(slot: number): boolean {
    const isLost = (this.#sent?.slot ?? 0) > slot
    if (isLost) {
      this.lose()
    }
    return isLost
  }

  /** What is held back waits anew, for the reads of a new connection. */
  connect(): void {
    this.#heldSince = this.#nowMs()
  }

  /** Readers have no whole state any more. */
  lose(): void {
    this.#sent = null
    this.#taken = null
  }

  /** Drops what is held back of an account. */
  forget(address: Address): void {
    this.#held.delete(address)
  }

  /** Begins another chain. */
  startAnew(): void {
    this.#dropHeld()
    this.lose()
  }

  #noteTaken(): void {
    this.#taken = this.#outbox.isLagging() ? this.#taken : this.#sent
  }

  #hold(event: ChainEvent): void {
    const { accounts, slot } = event._tag === "Writes" ? event : event.snapshot
    this.#heldSlot = Math.max(this.#heldSlot, slot)
    accounts.forEach((account, address) => this.#held.set(address, account))
  }

  #dropHeld(): void {
    this.#held = new Map()
    this.#heldSlot = 0
  }

  #send(events: ReadonlyArray<ChainEvent>): void {
    this.#hasSentHeld = this.#hasSentHeld && events.length === 0
    for (const event of events) {
      this.#faults.overflows += this.#outbox.offer(event) ? 1 : 0
    }
  }
}
