import type { Address } from "../../domain/Address.ts"
import type { ChainClock, OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { ChainEvent } from "../ChainFeed.ts"
import type { Outbox } from "./outbox.ts"
import type { ReachedSlot } from "./subscriptions.ts"

/** A slot at which readers have the state of every account, and what was known of its time. */
export interface WholeState extends ReachedSlot {
  readonly clock: ChainClock
  /** How far the wall clock was ahead of the monotonic clock. */
  readonly aheadMs: number
}

/** Events are held back for at most this long, which is less than a new token waits for its pools (`READ_DEADLINE`). */
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
  /** The whole state in what was sent, and in what readers have taken. */
  #sent: WholeState | null = null
  #taken: WholeState | null = null
  /** How often a full queue was replaced by a snapshot. */
  overflows = 0

  constructor(outbox: Outbox, nowMs: () => number) {
    this.#outbox = outbox
    this.#nowMs = nowMs
  }

  /** The newest whole state that readers have; null while they have none. */
  whole(): WholeState | null {
    this.#taken = this.#outbox.isLagging() ? this.#taken : this.#sent
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

  /** Passes events on, or holds them back unless they make readers whole. True when readers get something. */
  offer(events: ReadonlyArray<ChainEvent>, isWhole: boolean): boolean {
    if (!isWhole && this.isHolding && this.#nowMs() - this.#heldSince > MOST_HELD_MS) {
      this.lose()
    }
    const isHeld = !isWhole && this.#sent !== null
    if (!isHeld && !this.isHolding) {
      this.#send(events)
      return events.length > 0
    }
    this.#heldSince = this.isHolding ? this.#heldSince : this.#nowMs()
    events.forEach((event) => this.#hold(event))
    if (isHeld) {
      return false
    }
    const snapshot = { slot: this.#heldSlot, accounts: this.#held }
    this.#dropHeld()
    this.#send([{ _tag: "Snapshot", snapshot, isAfterGap: true }])
    this.#hasSentHeld = true
    return true
  }

  /** What was sent so far is whole at this slot. A slot below the last one is ignored. */
  complete(whole: WholeState): void {
    this.#sent = whole.slot < (this.#sent?.slot ?? 0) ? this.#sent : whole
  }

  /** What readers have is no whole state any more. */
  lose(): void {
    this.#sent = null
    this.#taken = null
  }

  /** Nothing of an account is held back any longer. */
  forget(address: Address): void {
    this.#held.delete(address)
  }

  /** Begins another chain. */
  startAnew(): void {
    this.#dropHeld()
    this.lose()
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
      this.overflows += this.#outbox.offer(event) ? 1 : 0
    }
  }
}
