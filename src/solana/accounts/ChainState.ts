import { type Clock, Latch } from "effect"
import type { ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "./accountJson.ts"
import type { ChainEvent, Freshness } from "./ChainFeed.ts"
import { CLOCK } from "../clockSysvar.ts"
import { KnownClock } from "./KnownClock.ts"
import type { Outbox } from "../blocks/outbox.ts"
import type { SlotBuffer } from "./SlotBuffer.ts"
import type { Commitment } from "../Commitment.ts"
import { StreamReplay } from "./StreamReplay.ts"
import type { Listener, SlotInfo, Subscriptions } from "./subscriptions.ts"

/** Beyond this many waiting writes, all slots count as ended. */
const MOST_WAITING = 16_384
/** The clock is read after this long without a write: not every node notifies of sysvars. */
const CLOCK_PATIENCE_MS = 2000

/** Accounts are read over HTTP after this long without a connection, or without an end of loading on a new one. */
const MOST_AWAY_MS = 1000
const MOST_LOADING_MS = 3000

/** The state of a feed. Written by the fibers of the connection, read synchronously by its consumers. */
export class ChainState implements Listener {
  /** Opened when there are accounts to follow, unfollow or read. */
  readonly changed: Latch.Latch = Latch.makeUnsafe(true)
  /** Opened when a write waits for the end of its slot. */
  readonly arrived: Latch.Latch = Latch.makeUnsafe(false)
  /** Opened when the chain's clock has arrived on this connection. */
  readonly clockHeard: Latch.Latch = Latch.makeUnsafe(false)
  /** Opened when slots arrive again after a silence. */
  readonly resumed: Latch.Latch = Latch.makeUnsafe(false)
  /** The count of writes and responses that have waited for the end of a slot. */
  arrivals = 0
  /** Hosts of the nodes in use. */
  nodes: Pick<Freshness, "node" | "readNode"> = {}
  readonly #buffer: SlotBuffer
  readonly #outbox: Outbox
  readonly #wanted: Set<Address>
  readonly #commitment: Commitment
  readonly #time: Clock.Clock
  readonly #tellsSlots: boolean
  #connected = false
  readonly #replay = new StreamReplay()
  /** The slot that every connection has come to. */
  #reached: () => number = () => Number.POSITIVE_INFINITY
  /** True from a silence of the chain until a new slot: connections and answers at the same slot end none. */
  #isSilent = false
  // Durations are measured by the monotonic clock.
  #followedAt: number
  #connectedAt: number
  #advancedAt = Number.NEGATIVE_INFINITY
  /** The newest slot at which every account was read without a connection, and the time at which that slot was first seen. */
  #polled: { readonly slot: number; readonly atMs: number } | null = null
  #hasWorked = false
  #slot = 0
  #heardAtMs: number | null = null
  #committedSlot = 0
  /** The time at which the clock arrived, was asked for, or is waited for since. */
  #clockAt = 0
  #clock = new KnownClock()
  #faults = { malformed: 0, overflows: 0 }

  constructor(options: {
    readonly buffer: SlotBuffer
    readonly outbox: Outbox
    readonly wanted: Set<Address>
    readonly commitment: Commitment
    readonly time: Clock.Clock
    /** True when the source reports every slot that has the commitment, so that a pause is not the end of any. */
    readonly tellsSlots?: boolean
  }) {
    this.#buffer = options.buffer
    this.#outbox = options.outbox
    this.#wanted = options.wanted
    this.#commitment = options.commitment
    this.#time = options.time
    this.#tellsSlots = options.tellsSlots ?? false
    this.#followedAt = this.#monotonicMs()
    this.#connectedAt = this.#followedAt
    this.#buffer.follow(CLOCK)
  }

  freshness(): Freshness {
    const isLive = this.#isFollowing && !this.#outbox.isLagging()
    if (this.#polled !== null && !isLive && !this.#isSilent) {
      return { slot: this.#polled.slot, heardAtMs: this.#polled.atMs, state: "polling", ...this.nodes }
    }
    const state = this.#isSilent || !this.#connected ? "down" : isLive ? "live" : "loading"
    return { slot: this.#slot, heardAtMs: this.#heardAtMs, state, ...this.nodes }
  }

  get #isFollowing(): boolean {
    return this.#connected && this.#clock.isKnown && !this.#buffer.isBehind
  }

  /** True once the accounts have not been followed for so long that they are better read. */
  needsPolling(): boolean {
    const awayMs = this.#monotonicMs() - this.#followedAt
    return !this.#isFollowing && awayMs >= (this.#connected && this.#polled === null ? MOST_LOADING_MS : MOST_AWAY_MS)
  }

  /** True when the account was emitted before. */
  isKnown(address: Address): boolean {
    return this.#buffer.state(address) !== undefined
  }

  clock(): ChainClock {
    return this.#clock.at(this.#slot)
  }

  /** True when the feed has been live since the last call. */
  takeWorked(): boolean {
    const worked = this.#hasWorked
    this.#hasWorked = false
    return worked
  }

  /** True while no new slot arrives, whether a node answers or not. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  /** No new slot has arrived for too long. */
  fallSilent(): void {
    this.#isSilent = true
    this.resumed.closeUnsafe()
  }

  /** Milliseconds since a new slot arrived, or since the connection if that is later. The wall clock does not matter. */
  silentMs(): number {
    return this.#monotonicMs() - Math.max(this.#connectedAt, this.#advancedAt)
  }

  /** The newest slot received. */
  get slot(): number {
    return this.#slot
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

  /** The slot from which on a stream must be repeated so that no write is missed; null when nothing is known yet. */
  get replayFrom(): number | null {
    return this.#clock.isKnown ? this.#replay.fromOf(this.#slot) : null
  }

  /** A new connection: every account is read again, unless its stream is repeated from `replayFrom` on. */
  connect({ isReplayed = false, reached }: Partial<Pick<Subscriptions, "isReplayed" | "reached">> = {}): void {
    this.#connected = true
    this.#reached = reached ?? (() => Number.POSITIVE_INFINITY)
    this.#replay.begin(isReplayed ? this.#slot : null)
    if (isReplayed) {
      this.#buffer.resume()
    } else {
      this.#buffer.doubtAll()
    }
    this.#connectedAt = this.#monotonicMs()
    this.#clockAt = this.#connectedAt
    this.clockHeard.closeUnsafe()
    this.changed.openUnsafe()
  }

  disconnect(): void {
    this.#connected = false
    this.#buffer.dropWaiting()
  }

  /** The node serves another chain: nothing that is known of the one before holds. */
  startAnew(): void {
    this.#buffer.startAnew()
    this.#slot = 0
    this.#heardAtMs = null
    this.#committedSlot = 0
    this.#polled = null
    this.#clock = new KnownClock()
    this.#endSilence()
    this.changed.openUnsafe()
  }

  /** Takes accounts that were all read at this slot; false when something newer is known already. */
  adopt(slot: number, states: ReadonlyMap<Address, AccountState>): boolean {
    if (slot < this.#committedSlot || this.#isFollowing) {
      return false
    }
    const isNew = slot > this.#committedSlot
    this.#committedSlot = slot
    this.#offer(this.#buffer.adopt(states))
    this.#readClock()
    if (isNew) {
      this.#endSilence()
    }
    if (slot > (this.#polled?.slot ?? 0)) {
      // A slot that was known before the outage is as old as its receipt.
      const heardAtMs = isNew ? null : this.#heardAtMs
      this.#polled = { slot, atMs: heardAtMs ?? this.#time.currentTimeMillisUnsafe() }
    }
    this.#hear(slot)
    return true
  }

  unread(): ReadonlyMap<Address, object> {
    return this.#buffer.unread()
  }

  answer(requested: ReadonlyMap<Address, object>, states: ReadonlyMap<Address, AccountState>, malformed: number): void {
    this.#faults.malformed += malformed
    this.#buffer.answer(requested, states)
    this.#hasArrived()
  }

  onSlot({ slot, parent, root }: SlotInfo): void {
    this.#hear(slot)
    this.settle(Math.min(this.#commitment === "processed" ? parent : root, this.#reached() - 1))
    const now = this.#monotonicMs()
    if (now - this.#clockAt > CLOCK_PATIENCE_MS) {
      this.#clockAt = now
      this.#doubt(CLOCK, false)
    }
  }

  onCommitted(slot: number): void {
    this.#checkOverlap(slot)
    this.#committedSlot = Math.max(this.#committedSlot, slot)
    if (!this.#tellsSlots && this.#buffer.size > 0) {
      // After a pause this slot counts as ended too. Between the slots of a Geyser there may be none.
      this.#hasArrived()
    }
    // Its own writes may still follow.
    this.onSlot({ slot, parent: slot - 1, root: slot - 1 })
  }

  onWrite(address: Address, state: AccountState): void {
    this.#checkOverlap(state.slot)
    this.#hear(state.slot)
    this.#committedSlot = Math.max(this.#committedSlot, state.slot)
    if (address === CLOCK) {
      this.clockHeard.openUnsafe()
    }
    const outcome = this.#buffer.write(address, state)
    if (outcome === "kept") {
      this.#hasArrived()
      this.settle(this.#buffer.size > MOST_WAITING ? Infinity : Math.min(state.slot, this.#reached()) - 1)
    } else if (outcome === "older" && state.writeVersion === undefined) {
      // Dropped, but a reason to read: the node may have reported a wrong slot.
      this.#doubt(address, false)
    }
  }

  onLost(addresses: ReadonlyArray<Address>): void {
    addresses.forEach((address) => this.#doubt(address, true))
  }

  onMalformed(address: Address | null): void {
    this.#faults.malformed++
    if (address !== null) {
      this.#doubt(address, true)
    }
    this.changed.openUnsafe()
  }

  /** No write has arrived for a moment: emits those that have. */
  settleQuiet(): void {
    if (this.#buffer.isReplaying && this.#replay.isPast(this.#slot)) {
      // Repeated writes come without a pause.
      this.#buffer.endReplay()
      this.#outbox.markLagging()
    }
    this.settle(Math.min(this.#tellsSlots ? this.#slot : Infinity, this.#reached()))
  }

  /** Every slot up to and including this one has ended: emits its writes. */
  settle(slot: number): void {
    const wasBehind = this.#buffer.isBehind
    const events = this.#buffer.end(slot)
    this.#offer(events)
    if (wasBehind && !this.#buffer.isBehind) {
      // The gap is closed when the reader has received what it missed.
      this.#outbox.markLagging()
    }
    this.#readClock()
    if (this.#isFollowing) {
      this.#followedAt = this.#monotonicMs()
    }
    if (events.length > 0 || this.#isFollowing) {
      // Readers hold newer states than the polled ones.
      this.#polled = null
    }
    this.#hasWorked = this.#hasWorked || this.freshness().state === "live"
  }

  #offer(events: ReadonlyArray<ChainEvent>): void {
    for (const event of events) {
      this.#faults.overflows += this.#outbox.offer(event) ? 1 : 0
    }
  }

  #readClock(): void {
    if (this.#clock.read(this.#buffer.state(CLOCK))) {
      this.#clockAt = this.#monotonicMs()
    }
  }

  /** Faults that did not end the connection, since the last call. */
  takeFaults(): { readonly malformed: number; readonly overflows: number } {
    const counts = this.#faults
    this.#faults = { malformed: 0, overflows: 0 }
    return counts
  }

  #hear(slot: number): void {
    if (slot > this.#slot) {
      this.#slot = slot
      this.#heardAtMs = this.#time.currentTimeMillisUnsafe()
      this.#advancedAt = this.#monotonicMs()
      this.#endSilence()
    }
  }

  #endSilence(): void {
    if (this.#isSilent) {
      this.#isSilent = false
      this.resumed.openUnsafe()
    }
  }

  #monotonicMs(): number {
    return Number(this.#time.monotonicTimeNanosUnsafe()) / 1e6
  }

  /** A stream that was to be repeated and begins later than the slots that are known may lack writes. */
  #checkOverlap(slot: number): void {
    if (this.#replay.beginsLate(slot)) {
      this.#buffer.doubtAll()
      this.changed.openUnsafe()
    }
  }

  #hasArrived(): void {
    this.arrivals++
    this.arrived.openUnsafe()
  }

  #doubt(address: Address, missed: boolean): void {
    this.#buffer.doubt(address, { missed })
    this.changed.openUnsafe()
  }
}
