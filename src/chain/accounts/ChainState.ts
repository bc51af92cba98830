import { type Clock, Latch } from "effect"
import type { ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "../AccountState.ts"
import type { Freshness } from "../ChainFeed.ts"
import { CLOCK, readClock } from "../clockSysvar.ts"
import { FeedFaults } from "./FeedFaults.ts"
import { KnownClock } from "./KnownClock.ts"
import { HeardSlots } from "./HeardSlots.ts"
import { ReaderState, type WholeState } from "./ReaderState.ts"
import type { Outbox } from "./outbox.ts"
import type { Relay } from "./AccountRelay.ts"
import type { AccountBuffer } from "./AccountBuffer.ts"
import type { Commitment } from "../Commitment.ts"
import { StreamReplay } from "./StreamReplay.ts"
import type { Listener, ReachedSlot, SlotInfo, Subscriptions } from "./subscriptions.ts"

/** With more waiting writes than this, for this process and for others, slow connections no longer hold up a slot. */
const MOST_WAITING = 32_768
/** The clock is read after this long without a write of it, because not every node sends writes of sysvars. */
const CLOCK_PATIENCE_MS = 2000

/** Accounts are read over HTTP after this long without a connection, or after loading for this long. */
const MOST_AWAY_MS = 1000
const MOST_LOADING_MS = 3000

/** Dropped blocks are recent. */
const DROPPED_SPANS = 32

/** The state of a feed. The fibers of the connection write it; its consumers read it synchronously. */
export class ChainState implements Listener {
  /** Opened when there are accounts to follow, unfollow or read. */
  readonly changed: Latch.Latch = Latch.makeUnsafe(true)
  /** Opened when a write waits for the end of its slot. */
  readonly arrived: Latch.Latch = Latch.makeUnsafe(false)
  /** Opened when the chain's clock has arrived on this connection. */
  readonly clockHeard: Latch.Latch = Latch.makeUnsafe(false)
  /** The newest slot received, and silences. */
  readonly heard: HeardSlots
  /** Counts writes and responses that wait for the end of a slot. */
  arrivals = 0
  /** The newest slot received at the feed's commitment. Reads must not be older. */
  committedSlot = 0
  /** On this connection: the newest slot that the source has reported, and the newest slot with a write. */
  #reportedSlot = 0
  #writtenSlot = 0
  /** True while writes wait for the report of their slot, although no more have come for a moment. */
  #waitsForReport = false
  /** Faults that did not end the connection. */
  readonly faults = new FeedFaults()
  /** Hosts of the nodes in use. */
  nodes: Pick<Freshness, "node" | "readNode"> = {}
  readonly #buffer: AccountBuffer
  readonly #outbox: Outbox
  readonly #wanted: Set<Address>
  readonly #commitment: Commitment
  readonly #reportsSlots: boolean
  readonly #relay: Relay | undefined
  /** Accounts that may have to be followed or unfollowed. */
  readonly #unsettled = new Set<Address>()
  /** True while every account may have to be. */
  #isAllUnsettled = true
  #connected = false
  /** True while writes are known to wait at the source. */
  #isBehind = false
  readonly #replay = new StreamReplay()
  readonly #readers: ReaderState
  /** The slot that was noted as whole last. */
  #noted: ReachedSlot | null = null
  /**
   * At the commitment `processed`: slots between a block and its parent. The chain has no block there, or has dropped
   * it, also when writes of it arrive later.
   */
  readonly #dropped: Array<{ readonly after: number; readonly before: number }> = []
  // Durations are measured with the monotonic clock.
  #followedAt: number
  #connectedAt: number
  /** The newest slot at which every account was read without a connection, and when that slot was first seen. */
  #polled: { readonly slot: number; readonly atMs: number } | null = null
  #wasLive = false
  /** When the clock last arrived, was last asked for, or began to be waited for. */
  #clockAt = 0
  #hasClockWrites = false
  #clock = new KnownClock()

  constructor(options: {
    readonly buffer: AccountBuffer
    readonly outbox: Outbox
    readonly wanted: Set<Address>
    readonly commitment: Commitment
    readonly time: Clock.Clock
    /** True when the source reports every slot at the commitment. Then no pause ends a slot before its report. */
    readonly reportsSlots?: boolean
    /** Follows accounts of other processes. */
    readonly relay?: Relay | undefined
  }) {
    this.#buffer = options.buffer
    this.#outbox = options.outbox
    this.#wanted = options.wanted
    this.#commitment = options.commitment
    this.#reportsSlots = options.reportsSlots ?? false
    this.#relay = options.relay
    this.#relay?.onChange(() => {
      this.#isAllUnsettled = true
      this.changed.openUnsafe()
    })
    this.heard = new HeardSlots(options.time)
    this.#readers = new ReaderState(options.outbox, this.faults, () => this.heard.nowMs())
    this.#followedAt = this.heard.nowMs()
    this.#connectedAt = this.#followedAt
    this.#buffer.follow(CLOCK)
  }

  freshness(): Freshness {
    const isLive = this.#isFollowing && !this.#outbox.isLagging()
    const isPolled = this.#polled !== null && !isLive && !this.heard.isSilent
    const kept = isLive || isPolled ? null : this.#kept
    const { slot, atMs } = (isPolled ? this.#polled : kept) ?? this.heard.complete
    const isMixed = this.#readers.whole === null && this.#hasGap
    const down = (this.heard.isSilent || !this.#connected) && !isMixed
    const state = isPolled ? "polling" : down ? "down" : isLive ? "live" : kept === null ? "loading" : "reloading"
    return { slot, heardAtMs: this.heard.onWallClock(atMs, kept?.aheadMs), state, ...this.nodes }
  }

  get #isFollowing(): boolean {
    return this.#connected && this.#clock.isKnown && !this.#buffer.isReplaying && !this.#hasGap && !this.#isBehind
  }

  /** True while readers lack writes that were missed. */
  get #hasGap(): boolean {
    return this.#buffer.lacksWrites || this.#readers.isHolding
  }

  /** The whole state that readers keep because of a gap, or since the connection was lost; null where they keep none. */
  get #kept(): WholeState | null {
    return !this.#connected || this.#hasGap || this.#readers.isReleasing ? this.#readers.whole : null
  }

  /** True once the accounts have not been followed for so long that polling is better. */
  needsPolling(): boolean {
    const awayMs = this.heard.nowMs() - this.#followedAt
    return !this.#isFollowing && awayMs >= (this.#connected && this.#polled === null ? MOST_LOADING_MS : MOST_AWAY_MS)
  }

  /** True when the account was emitted before. */
  isKnown(address: Address): boolean {
    return this.#buffer.state(address) !== undefined
  }

  clock(): ChainClock {
    return this.#kept?.clock ?? this.#clock.at(this.heard.slot)
  }

  /** True when the feed has been live since the last call. */
  takeWasLive(): boolean {
    const wasLive = this.#wasLive
    this.#wasLive = false
    return wasLive
  }

  /** Milliseconds since a new slot arrived, or since the connection began if later. Ignores the wall clock. */
  silentMs(): number {
    return this.heard.nowMs() - Math.max(this.#connectedAt, this.heard.advancedAt)
  }

  isFollowed(address: Address): boolean {
    return address === CLOCK || this.#wanted.has(address) || this.#relay?.follows(address) === true
  }

  /** Every account of this feed. The clock is always one of them. */
  own(): ReadonlyArray<Address> {
    return Array.from(new Set([CLOCK, ...this.#wanted]))
  }

  /** Accounts that the source may follow and no longer has to. Proportional to what has changed since the last call. */
  toUnfollow({ followed }: Pick<Subscriptions, "followed">): ReadonlyArray<Address> {
    if (this.#isAllUnsettled) {
      this.#isAllUnsettled = false
      this.#unsettled.clear()
      this.#unsettle(this.own(), this.#relay?.followed() ?? [], followed())
    }
    const unwanted = Array.from(this.#unsettled).filter((address) => !this.isFollowed(address))
    unwanted.forEach((address) => this.#unsettled.delete(address))
    return unwanted
  }

  /** Accounts that the source has to follow and does not: accounts of this feed and of other processes. */
  toFollow({ isFollowed }: Pick<Subscriptions, "isFollowed">): ReadonlyArray<Address> {
    if (this.#isAllUnsettled) {
      // Other processes have changed their accounts since `toUnfollow`, which still has to see that.
      this.#unsettle(this.own(), this.#relay?.followed() ?? [])
    }
    return Array.from(this.#unsettled).filter((address) => this.isFollowed(address) && !isFollowed(address))
  }

  /** Notes which accounts the source follows now. The others are tried again. */
  hasFollowed(isFollowed: (address: Address) => boolean): void {
    for (const address of this.#unsettled) {
      if (this.isFollowed(address) && isFollowed(address)) {
        this.#unsettled.delete(address)
      }
    }
    this.#relay?.hasFollowed(isFollowed, this.#endedSlot)
  }

  #unsettle(...lists: ReadonlyArray<Iterable<Address>>): void {
    for (const list of lists) {
      for (const address of list) {
        this.#unsettled.add(address)
      }
    }
  }

  watch(addresses: Iterable<Address>): void {
    for (const address of addresses) {
      if (!this.#wanted.has(address)) {
        this.#wanted.add(address)
        this.#unsettled.add(address)
        this.#buffer.follow(address)
        if (address === CLOCK) {
          // Its state is known, but was never emitted.
          this.#buffer.doubt(address, { missed: false })
        }
      }
    }
    this.changed.openUnsafe()
  }

  unwatch(addresses: Iterable<Address>): void {
    for (const address of addresses) {
      if (this.#wanted.delete(address) && address !== CLOCK) {
        this.#unsettled.add(address)
        this.#buffer.forget(address)
        this.#readers.forget(address)
      }
    }
    this.changed.openUnsafe()
  }

  /** The slot from which a stream must repeat writes so that none is missed; null when nothing is known yet. */
  get replayFrom(): number | null {
    return this.#clock.isKnown ? this.#replay.fromOf(this.heard.slot) : null
  }

  /** Notes a new connection. Every account is read again, unless the stream repeats its writes from `replayFrom` on. */
  connect({ isReplayed = false, spread }: Partial<Pick<Subscriptions, "isReplayed" | "spread">> = {}): void {
    this.#connected = true
    this.#isAllUnsettled = true
    this.heard.connect(spread)
    this.#isBehind = false
    this.#readers.connect()
    this.#relay?.connect()
    this.#replay.begin(isReplayed ? this.heard.slot : null)
    if (isReplayed) {
      this.#buffer.resume()
    } else {
      this.#buffer.doubtAll()
    }
    this.#reportedSlot = 0
    this.#writtenSlot = 0
    this.#waitsForReport = false
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

  /** Begins another chain: nothing that is known of the old chain holds. */
  startAnew(): void {
    this.#buffer.startAnew()
    this.#dropped.length = 0
    this.heard.startAnew()
    this.committedSlot = 0
    this.#reportedSlot = 0
    this.#writtenSlot = 0
    this.#polled = null
    this.#readers.startAnew()
    this.#clock = new KnownClock()
    this.changed.openUnsafe()
  }

  /** Takes accounts that were all read at this slot. False when something newer is known already. */
  adopt(slot: number, states: ReadonlyMap<Address, AccountState>): boolean {
    if (slot < this.committedSlot || this.#isFollowing) {
      return false
    }
    this.#beginWith(states)
    const isNew = slot > this.committedSlot
    this.committedSlot = slot
    this.#readers.offer(this.#buffer.adopt(states), { isAfterGap: true, isWhole: true })
    this.#readClock()
    if (isNew) {
      this.heard.endSilence()
    }
    if (slot > (this.#polled?.slot ?? 0)) {
      // A slot that was known before the outage keeps the time of its receipt.
      this.#polled = { slot, atMs: (isNew ? null : this.heard.atMs) ?? this.heard.wallMs() }
    }
    this.heard.take(slot)
    if (this.#polled?.slot === slot) {
      this.#noteWhole(this.#polled, false)
    }
    return true
  }

  unread(): ReadonlyMap<Address, object> {
    return this.#buffer.unread()
  }

  answer(requested: ReadonlyMap<Address, object>, states: ReadonlyMap<Address, AccountState>, malformed: number): void {
    this.faults.malformed += malformed
    this.#buffer.answer(requested, states)
    this.#beginWith(states)
    this.#hasArrived()
  }

  onSlot({ slot, parent, root }: SlotInfo): void {
    this.heard.take(slot)
    if (this.#commitment === "processed" && parent < slot - 1) {
      this.#dropped.push({ after: parent, before: slot })
      this.#dropped.splice(0, this.#dropped.length - DROPPED_SPANS)
      this.#dropBlocks(parent, slot)
    }
    this.settle(Math.min(this.#commitment === "processed" ? parent : root, this.heard.reached - 1))
    const now = this.heard.nowMs()
    if (now - this.#clockAt > CLOCK_PATIENCE_MS) {
      this.#clockAt = now
      this.#doubt(CLOCK, false)
    }
  }

  onCommitted(slot: number, parent = slot - 1): void {
    this.#checkOverlap(slot)
    this.committedSlot = Math.max(this.committedSlot, slot)
    this.#reportedSlot = Math.max(this.#reportedSlot, slot)
    const isReleased = this.#waitsForReport && !this.#isReportDue
    if (isReleased || (!this.#reportsSlots && this.#buffer.size > 0)) {
      // After a pause this slot counts as ended too. A Geyser may have no pause between slots.
      this.#waitsForReport = false
      this.#hasArrived()
    }
    // Its own writes may still follow.
    this.onSlot({ slot, parent, root: slot - 1 })
  }

  onWrite(address: Address, state: AccountState): void {
    this.#checkOverlap(state.slot)
    this.heard.take(state.slot)
    this.committedSlot = Math.max(this.committedSlot, state.slot)
    this.#writtenSlot = Math.max(this.#writtenSlot, state.slot)
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
    const dropped = this.#dropped.find(({ after, before }) => state.slot > after && state.slot < before)
    if (dropped !== undefined) {
      this.#dropBlocks(dropped.after, dropped.before)
    }
    if (outcome === "older" && state.writeVersion === undefined) {
      // The write is dropped, but the account is read: the node may have reported a wrong slot.
      this.#doubt(address, false)
    }
  }

  onLost(addresses: ReadonlyArray<Address>): void {
    this.#relay?.lose(addresses)
    for (const address of addresses) {
      this.#unsettled.add(address)
      this.#doubt(address, true)
    }
  }

  /** True while writes are known to wait at the source. Set to false when they have arrived. */
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

  /** True while the source has not reported the newest slot with a write. Half of the writes of that slot may have arrived. */
  get #isReportDue(): boolean {
    return this.#reportsSlots && this.#writtenSlot > this.#reportedSlot
  }

  /** Emits the writes that have arrived, after a moment without a further write. Those of a slot whose report is due wait. */
  settleQuiet(): void {
    if (this.#buffer.isReplaying && this.#replay.isPast(this.heard.slot)) {
      // Repeated writes come without a pause.
      this.#buffer.endReplay()
      this.#outbox.markLagging()
    }
    this.#waitsForReport = this.#isReportDue
    const heard = this.#reportsSlots ? this.heard.slot : Infinity
    this.settle(Math.min(this.#isReportDue ? this.#writtenSlot - 1 : heard, this.heard.reached))
  }

  /** Emits the slots before this one that every connection has reached. Drops connections that hold up too much. */
  #settleBefore(slot: number): void {
    const isFull = () => this.#buffer.size + (this.#relay?.waiting ?? 0) > MOST_WAITING
    do {
      this.settle(Math.min(slot, this.heard.reached) - 1)
    } while (isFull() && this.heard.loseSlowest())
    if (isFull()) {
      // All slots count as ended. Other processes wait for the rest of this slot.
      this.settle(Infinity, slot - 1)
    }
  }

  /** Ends every slot up to and including this one and emits the writes. All writes up to slot `sent` have arrived. */
  settle(slot: number, sent = this.#endedSlot): void {
    this.#relay?.end(slot, Math.min(slot, sent))
    const isAfterGap = this.#hasGap
    const events = this.#buffer.end(slot)
    const isOffered = this.#readers.offer(events, { isAfterGap, isWhole: this.#connected && !this.#buffer.lacksWrites })
    if (isAfterGap && !this.#buffer.isBehind) {
      // The gap closes when the reader has received what it missed.
      this.#outbox.markLagging()
    }
    this.#readClock()
    if (this.#isFollowing) {
      this.#followedAt = this.heard.nowMs()
    }
    if (isOffered || this.#isFollowing) {
      // Readers now hold newer states than the polled ones.
      this.#polled = null
    }
    const isInOrder = this.#connected && this.#clock.isKnown && !this.#hasGap
    const ended = isInOrder ? this.heard.endedWith(slot) : null
    if (ended !== null && ended !== this.#noted) {
      // Noted again once it is not late any more.
      this.#noted = this.#isFollowing ? ended : null
      this.#noteWhole(ended, !this.#isFollowing)
    }
    this.#wasLive = this.#wasLive || this.freshness().state === "live"
  }

  #noteWhole(reached: ReachedSlot, isLate: boolean): void {
    // The clock may be of a later slot than the state of the accounts.
    const clock = { ...this.#clock.at(reached.slot), slot: reached.slot }
    this.#readers.complete({ ...reached, clock, aheadMs: this.heard.aheadMs }, { isLate })
  }

  #readClock(): void {
    if (this.#clock.read(this.#buffer.state(CLOCK))) {
      this.#clockAt = this.heard.nowMs()
    }
  }

  /**
   * The newest slot whose writes have all arrived, including writes that still wait. Determined by the clock where the
   * node sends its writes.
   */
  get #endedSlot(): number {
    const isClockLate = !this.#hasClockWrites && this.heard.nowMs() - this.#connectedAt > CLOCK_PATIENCE_MS
    return isClockLate && !this.#reportsSlots ? this.heard.slot : this.committedSlot
  }

  /** A stream that should have repeated slots, but begins after the known ones, may lack writes. */
  #checkOverlap(slot: number): void {
    if (this.#replay.beginsLate(slot)) {
      this.#buffer.doubtAll()
      this.changed.openUnsafe()
    }
  }

  #dropBlocks(after: number, before: number): void {
    const dropped = this.#buffer.dropBlocks(after, before)
    if (dropped !== "nothing") {
      if (dropped === "emitted" && this.#readers.loseAfter(after)) {
        this.#polled = null
      }
      this.changed.openUnsafe()
    }
  }

  #hasArrived(): void {
    this.arrivals++
    this.arrived.openUnsafe()
  }

  /** A read that has the chain's clock tells slot and time of its states. It counts until a slot arrives. */
  #beginWith(states: ReadonlyMap<Address, AccountState>): void {
    const clock = states.get(CLOCK)
    const time = clock?.account == null ? null : readClock(clock.account.data)
    if (this.heard.slot === 0 && clock !== undefined && time !== null) {
      this.heard.begin(clock.slot, time.unixTimestamp * 1000)
      this.committedSlot = Math.max(this.committedSlot, clock.slot)
    }
  }

  #doubt(address: Address, missed: boolean): void {
    this.#buffer.doubt(address, { missed })
    this.changed.openUnsafe()
  }
}
