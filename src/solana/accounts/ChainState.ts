import { type Clock, Latch } from "effect"
import type { ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "./accountJson.ts"
import type { Freshness } from "./ChainFeed.ts"
import { CLOCK, readClock } from "../clockSysvar.ts"
import type { Outbox } from "../blocks/outbox.ts"
import type { SlotBuffer } from "./SlotBuffer.ts"
import type { Commitment } from "../Commitment.ts"
import type { Listener, SlotInfo } from "./subscriptions.ts"

/** Beyond this many waiting writes, all slots count as ended. */
const MOST_WAITING = 16_384
/** The clock is read after this long without a write: not every node notifies of sysvars. */
const CLOCK_PATIENCE_MS = 2000

/** Faults that did not end the connection, since they were last taken. */
export interface FaultCounts {
  readonly malformed: number
  readonly overflows: number
}

/** The state of a feed. Written by the fibers of the connection, read synchronously by its consumers. */
export class ChainState implements Listener {
  /** Opened when there are accounts to follow, unfollow or read. */
  readonly changed: Latch.Latch = Latch.makeUnsafe(true)
  /** Opened when a write waits for the end of its slot. */
  readonly arrived: Latch.Latch = Latch.makeUnsafe(false)
  /** Opened when the chain's clock has arrived on this connection. */
  readonly clockHeard: Latch.Latch = Latch.makeUnsafe(false)
  readonly #buffer: SlotBuffer
  readonly #outbox: Outbox
  readonly #wanted: Set<Address>
  readonly #commitment: Commitment
  readonly #time: Clock.Clock
  #connected = false
  #hasWorked = false
  #slot = 0
  #heardAtMs: number | null = null
  #committedSlot = 0
  #arrivals = 0
  #clockAtMs = 0
  #clockState: AccountState | undefined
  #clock: ChainClock = { slot: 0, epoch: 0, unixTimestamp: 0 }
  #malformed = 0
  #overflows = 0

  constructor(options: {
    readonly buffer: SlotBuffer
    readonly outbox: Outbox
    readonly wanted: Set<Address>
    readonly commitment: Commitment
    readonly time: Clock.Clock
  }) {
    this.#buffer = options.buffer
    this.#outbox = options.outbox
    this.#wanted = options.wanted
    this.#commitment = options.commitment
    this.#time = options.time
    this.#buffer.follow(CLOCK)
  }

  freshness(): Freshness {
    const known = this.#clockState !== undefined && !this.#buffer.isBehind && !this.#outbox.isLagging()
    return {
      slot: this.#slot,
      heardAtMs: this.#heardAtMs,
      state: this.#connected ? (known ? "live" : "loading") : "down"
    }
  }

  clock(): ChainClock {
    if (this.#clock.slot < this.#slot) {
      this.#clock = { ...this.#clock, slot: this.#slot }
    }
    return this.#clock
  }

  /** True when the feed has been live since the last call. */
  takeWorked(): boolean {
    const worked = this.#hasWorked
    this.#hasWorked = false
    return worked
  }

  /** Milliseconds since a new slot arrived, or since `sinceMs` if that is later. */
  silentMs(sinceMs: number): number {
    return this.#time.currentTimeMillisUnsafe() - Math.max(sinceMs, this.#heardAtMs ?? 0)
  }

  /** The count of writes and responses that have waited for the end of a slot. */
  get arrivals(): number {
    return this.#arrivals
  }

  /** The newest slot received at the commitment of the feed: reads must not be older. */
  get committedSlot(): number {
    return this.#committedSlot
  }

  isFollowed(address: Address): boolean {
    return address === CLOCK || this.#wanted.has(address)
  }

  /** Every account to follow. The clock is always among them. */
  followed(): ReadonlyArray<Address> {
    return Array.from(new Set([CLOCK, ...this.#wanted]))
  }

  watch(addresses: Iterable<Address>): void {
    for (const address of addresses) {
      if (!this.#wanted.has(address)) {
        this.#wanted.add(address)
        this.#buffer.follow(address)
        if (address === CLOCK) {
          // It is known already, but was never emitted.
          this.#buffer.doubt(address, { missed: false })
        }
      }
    }
    this.changed.openUnsafe()
  }

  unwatch(addresses: Iterable<Address>): void {
    for (const address of addresses) {
      if (this.#wanted.delete(address) && address !== CLOCK) {
        this.#buffer.forget(address)
      }
    }
    this.changed.openUnsafe()
  }

  /** A new connection: every account is read again. */
  connect(): void {
    this.#connected = true
    this.#buffer.doubtAll()
    this.#clockAtMs = this.#time.currentTimeMillisUnsafe()
    this.clockHeard.closeUnsafe()
    this.changed.openUnsafe()
  }

  disconnect(): void {
    this.#connected = false
  }

  unread(): ReadonlyMap<Address, object> {
    return this.#buffer.unread()
  }

  answer(requested: ReadonlyMap<Address, object>, states: ReadonlyMap<Address, AccountState>, malformed: number): void {
    this.#malformed += malformed
    this.#buffer.answer(requested, states)
    this.#hasArrived()
  }

  onSlot({ slot, parent, root }: SlotInfo): void {
    this.#hear(slot)
    this.settle(this.#commitment === "processed" ? parent : root)
    const now = this.#time.currentTimeMillisUnsafe()
    if (now - this.#clockAtMs > CLOCK_PATIENCE_MS) {
      this.#clockAtMs = now
      this.#doubt(CLOCK, false)
    }
  }

  onWrite(address: Address, state: AccountState): void {
    this.#hear(state.slot)
    this.#committedSlot = Math.max(this.#committedSlot, state.slot)
    if (address === CLOCK) {
      this.clockHeard.openUnsafe()
    }
    const outcome = this.#buffer.write(address, state)
    if (outcome === "kept") {
      this.#hasArrived()
      this.settle(this.#buffer.size > MOST_WAITING ? Infinity : state.slot - 1)
    } else if (outcome === "older") {
      // Dropped, but a reason to read: the node may have reported a wrong slot.
      this.#doubt(address, false)
    }
  }

  onMalformed(address: Address | null): void {
    this.#malformed++
    if (address !== null) {
      this.#doubt(address, true)
    }
    this.changed.openUnsafe()
  }

  /** Every slot up to and including this one has ended: emits its writes. */
  settle(slot: number): void {
    const wasBehind = this.#buffer.isBehind
    for (const event of this.#buffer.end(slot)) {
      this.#overflows += this.#outbox.offer(event) ? 1 : 0
    }
    if (wasBehind && !this.#buffer.isBehind) {
      // The gap is closed when the reader has received what it missed.
      this.#outbox.markLagging()
    }
    const state = this.#buffer.state(CLOCK)
    if (state !== undefined && state !== this.#clockState) {
      this.#clockState = state
      this.#clockAtMs = this.#time.currentTimeMillisUnsafe()
      const clock = state.account === null ? null : readClock(state.account.data)
      this.#clock = clock ?? this.#clock
    }
    this.#hasWorked = this.#hasWorked || this.freshness().state === "live"
  }

  takeFaults(): FaultCounts {
    const counts = { malformed: this.#malformed, overflows: this.#overflows }
    this.#malformed = 0
    this.#overflows = 0
    return counts
  }

  #hear(slot: number): void {
    if (slot > this.#slot) {
      this.#slot = slot
      this.#heardAtMs = this.#time.currentTimeMillisUnsafe()
    }
  }

  #hasArrived(): void {
    this.#arrivals++
    this.arrived.openUnsafe()
  }

  #doubt(address: Address, missed: boolean): void {
    this.#buffer.doubt(address, { missed })
    this.changed.openUnsafe()
  }
}
