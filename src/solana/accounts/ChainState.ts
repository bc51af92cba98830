import { type Clock, Latch } from "effect"
import type { ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "./accountJson.ts"
import type { ChainEvent, Freshness } from "./ChainFeed.ts"
import { CLOCK } from "../clockSysvar.ts"
import { FeedFaults } from "./FeedFaults.ts"
import { KnownClock } from "./KnownClock.ts"
import { HeardSlots } from "./HeardSlots.ts"
import type { Outbox } from "../blocks/outbox.ts"
import type { Relay } from "../bus/Relay.ts"
import type { SlotBuffer } from "./SlotBuffer.ts"
import type { Commitment } from "../Commitment.ts"
import { StreamReplay } from "./StreamReplay.ts"
import type { Listener, SlotInfo, Subscriptions } from "./subscriptions.ts"

/** Beyond this many waiting writes, of this process and of others, slow connections hold up no slot any more. */
const MOST_WAITING = 32_768
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
  /** The newest slot received, and silences. */
  readonly heard: HeardSlots
  /** The count of writes and responses that have waited for the end of a slot. */
  arrivals = 0
  /** The newest slot received at the commitment of the feed: reads must not be older. */
  committedSlot = 0
  /** Faults that did not end the connection. */
  readonly faults = new FeedFaults()
  /** Hosts of the nodes in use. */
  nodes: Pick<Freshness, "node" | "readNode"> = {}
  readonly #buffer: SlotBuffer
  readonly #outbox: Outbox
  readonly #wanted: Set<Address>
  readonly #commitment: Commitment
  readonly #tellsSlots: boolean
  readonly #relay: Relay | undefined
  #connected = false
  /** True while writes are known to wait at the source. */
  #isBehind = false
  readonly #replay = new StreamReplay()
  // Durations are measured by the monotonic clock.
  #followedAt: number
  #connectedAt: number
  /** The newest slot at which every account was read without a connection, and the time at which that slot was first seen. */
  #polled: { readonly slot: number; readonly atMs: number } | null = null
  #hasWorked = false
  /** The time at which the clock arrived, was asked for, or is waited for since. */
  #clockAt = 0
  #hasClockWrites = false
  #clock = new KnownClock()

  constructor(options: {
    readonly buffer: SlotBuffer
    readonly outbox: Outbox
    readonly wanted: Set<Address>
    readonly commitment: Commitment
    readonly time: Clock.Clock
    /** True when the source reports every slot that has the commitment, so that a pause is not the end of any. */
    readonly tellsSlots?: boolean
    /** Follows accounts of other processes. */
    readonly relay?: Relay | undefined
  }) {
    this.#buffer = options.buffer
    this.#outbox = options.outbox
    this.#wanted = options.wanted
    this.#commitment = options.commitment
    this.#tellsSlots = options.tellsSlots ?? false
    this.#relay = options.relay
    this.#relay?.onChange(() => this.changed.openUnsafe())
    this.heard = new HeardSlots(options.time)
    this.#followedAt = this.heard.nowMs()
    this.#connectedAt = this.#followedAt
    this.#buffer.follow(CLOCK)
  }

  freshness(): Freshness {
    const isLive = this.#isFollowing && !this.#outbox.isLagging()
    if (this.#polled !== null && !isLive && !this.heard.isSilent) {
      return { slot: this.#polled.slot, heardAtMs: this.#polled.atMs, state: "polling", ...this.nodes }
    }
    const state = this.heard.isSilent || !this.#connected ? "down" : isLive ? "live" : "loading"
    return { slot: this.heard.complete.slot, heardAtMs: this.heard.complete.atMs, state, ...this.nodes }
  }

  get #isFollowing(): boolean {
    return this.#connected && this.#clock.isKnown && !this.#buffer.isBehind && !this.#isBehind
  }

  /** True once the accounts have not been followed for so long that they are better read. */
  needsPolling(): boolean {
    const awayMs = this.heard.nowMs() - this.#followedAt
    return !this.#isFollowing && awayMs >= (this.#connected && this.#polled === null ? MOST_LOADING_MS : MOST_AWAY_MS)
  }

  /** True when the account was emitted before. */
  isKnown(address: Address): boolean {
    return this.#buffer.state(address) !== undefined
  }

  clock(): ChainClock {
    return this.#clock.at(this.heard.slot)
  }

  /** True when the feed has been live since the last call. */
  takeWorked(): boolean {
    const worked = this.#hasWorked
    this.#hasWorked = false
    return worked
  }

  /** Milliseconds since a new slot arrived, or since the connection if that is later. The wall clock does not matter. */
  silentMs(): number {
    return this.heard.nowMs() - Math.max(this.#connectedAt, this.heard.advancedAt)
  }

  isFollowed(address: Address): boolean {
    return address === CLOCK || this.#wanted.has(address) || this.#relay?.follows(address) === true
  }

  /** Every account of this feed. The clock is always among them. */
  own(): ReadonlyArray<Address> {
    return Array.from(new Set([CLOCK, ...this.#wanted]))
  }

  /** Every account to follow: those of this feed and of other processes. */
  followed(): ReadonlyArray<Address> {
    return this.#relay === undefined ? this.own() : Array.from(new Set([...this.own(), ...this.#relay.followed()]))
  }

  /** The accounts are followed as far as the source follows them. */
  hasFollowed(isFollowed: (address: Address) => boolean): void {
    this.#relay?.hasFollowed(isFollowed, this.#endedSlot)
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
    return this.#clock.isKnown ? this.#replay.fromOf(this.heard.slot) : null
  }

  /** A new connection: every account is read again, unless its stream is repeated from `replayFrom` on. */
  connect({ isReplayed = false, spread }: Partial<Pick<Subscriptions, "isReplayed" | "spread">> = {}): void {
    this.#connected = true
    this.heard.connect(spread)
    this.#isBehind = false
    this.#relay?.connect()
    this.#replay.begin(isReplayed ? this.heard.slot : null)
    if (isReplayed) {
      this.#buffer.resume()
    } else {
      this.#buffer.doubtAll()
    }
    this.#connectedAt = this.heard.nowMs()
    this.#clockAt = this.#connectedAt
    this.#hasClockWrites = false
    this.clockHeard.closeUnsafe()
    this.changed.openUnsafe()
  }

  disconnect(): void {
    this.#connected = false
    this.heard.connect(undefined)
    this.#relay?.disconnect()
    this.#buffer.dropWaiting()
  }

  /** The node serves another chain: nothing that is known of the one before holds. */
  startAnew(): void {
    this.#buffer.startAnew()
    this.heard.startAnew()
    this.committedSlot = 0
    this.#polled = null
    this.#clock = new KnownClock()
    this.changed.openUnsafe()
  }

  /** Takes accounts that were all read at this slot; false when something newer is known already. */
  adopt(slot: number, states: ReadonlyMap<Address, AccountState>): boolean {
    if (slot < this.committedSlot || this.#isFollowing) {
      return false
    }
    const isNew = slot > this.committedSlot
    this.committedSlot = slot
    this.#offer(this.#buffer.adopt(states))
    this.#readClock()
    if (isNew) {
      this.heard.endSilence()
    }
    if (slot > (this.#polled?.slot ?? 0)) {
      // A slot that was known before the outage is as old as its receipt.
      this.#polled = { slot, atMs: (isNew ? null : this.heard.atMs) ?? this.heard.wallMs() }
    }
    this.heard.take(slot)
    return true
  }

  unread(): ReadonlyMap<Address, object> {
    return this.#buffer.unread()
  }

  answer(requested: ReadonlyMap<Address, object>, states: ReadonlyMap<Address, AccountState>, malformed: number): void {
    this.faults.malformed += malformed
    this.#buffer.answer(requested, states)
    this.#hasArrived()
  }

  onSlot({ slot, parent, root }: SlotInfo): void {
    this.heard.take(slot)
    this.settle(Math.min(this.#commitment === "processed" ? parent : root, this.heard.reached - 1))
    const now = this.heard.nowMs()
    if (now - this.#clockAt > CLOCK_PATIENCE_MS) {
      this.#clockAt = now
      this.#doubt(CLOCK, false)
    }
  }

  onCommitted(slot: number): void {
    this.#checkOverlap(slot)
    this.committedSlot = Math.max(this.committedSlot, slot)
    if (!this.#tellsSlots && this.#buffer.size > 0) {
      // After a pause this slot counts as ended too. Between the slots of a Geyser there may be none.
      this.#hasArrived()
    }
    // Its own writes may still follow.
    this.onSlot({ slot, parent: slot - 1, root: slot - 1 })
  }

  onWrite(address: Address, state: AccountState): void {
    this.#checkOverlap(state.slot)
    this.heard.take(state.slot)
    this.committedSlot = Math.max(this.committedSlot, state.slot)
    if (address === CLOCK) {
      this.#hasClockWrites = true
      this.clockHeard.openUnsafe()
    }
    const isRelayed = this.#relay?.take(address, state) === true
    const outcome = this.#buffer.write(address, state)
    if (outcome === "kept" || isRelayed) {
      this.#hasArrived()
      this.#settleBefore(state.slot)
    }
    if (outcome === "older" && state.writeVersion === undefined) {
      // Dropped, but a reason to read: the node may have reported a wrong slot.
      this.#doubt(address, false)
    }
  }

  onLost(addresses: ReadonlyArray<Address>): void {
    this.#relay?.lose(addresses)
    addresses.forEach((address) => this.#doubt(address, true))
  }

  /** Writes are known to wait at the source, or those that did have arrived. */
  set isBehind(isBehind: boolean) {
    if (this.#isBehind && !isBehind) {
      this.#outbox.markLagging()
    }
    this.#isBehind = isBehind
  }

  onMalformed(address: Address | null): void {
    this.faults.malformed++
    if (address !== null) {
      this.onLost([address])
    }
    this.changed.openUnsafe()
  }

  /** No write has arrived for a moment: emits those that have. */
  settleQuiet(): void {
    if (this.#buffer.isReplaying && this.#replay.isPast(this.heard.slot)) {
      // Repeated writes come without a pause.
      this.#buffer.endReplay()
      this.#outbox.markLagging()
    }
    this.settle(Math.min(this.#tellsSlots ? this.heard.slot : Infinity, this.heard.reached))
  }

  /** Emits the slots before this one, as far as every connection has come to it. Connections that hold up too many writes are lost. */
  #settleBefore(slot: number): void {
    const isFull = () => this.#buffer.size + (this.#relay?.waiting ?? 0) > MOST_WAITING
    do {
      this.settle(Math.min(slot, this.heard.reached) - 1)
    } while (isFull() && this.heard.loseSlowest())
    if (isFull()) {
      // All slots count as ended, and other processes wait for the rest of this one.
      this.settle(Infinity, slot - 1)
    }
  }

  /** Every slot up to and including this one has ended: emits its writes. Those up to `sent` have all arrived. */
  settle(slot: number, sent = this.#endedSlot): void {
    this.#relay?.end(slot, Math.min(slot, sent))
    const wasBehind = this.#buffer.isBehind
    const events = this.#buffer.end(slot)
    this.#offer(events)
    if (wasBehind && !this.#buffer.isBehind) {
      // The gap is closed when the reader has received what it missed.
      this.#outbox.markLagging()
    }
    this.#readClock()
    if (this.#isFollowing) {
      this.#followedAt = this.heard.nowMs()
    }
    if (events.length > 0 || this.#isFollowing) {
      // Readers hold newer states than the polled ones.
      this.#polled = null
    }
    this.#hasWorked = this.#hasWorked || this.freshness().state === "live"
  }

  #offer(events: ReadonlyArray<ChainEvent>): void {
    for (const event of events) {
      this.faults.overflows += this.#outbox.offer(event) ? 1 : 0
    }
  }

  #readClock(): void {
    if (this.#clock.read(this.#buffer.state(CLOCK))) {
      this.#clockAt = this.heard.nowMs()
    }
  }

  /** The newest slot of which every write has arrived, those that wait included: by the clock, where the node reports its writes. */
  get #endedSlot(): number {
    const isClockLate = !this.#hasClockWrites && this.heard.nowMs() - this.#connectedAt > CLOCK_PATIENCE_MS
    return isClockLate && !this.#tellsSlots ? this.heard.slot : this.committedSlot
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
