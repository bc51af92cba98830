/** The writes of a feed for other processes: gathered by slot, in messages that are appended to the bus in order. */
import { Context, type Effect, Latch } from "effect"
import { type Address, addressFromBytes, addressToBytes } from "../../domain/Address.ts"
import type { ListedLease } from "../../storage/bus/AccountBus.ts"
import type { AppendRefused } from "../../storage/bus/busLog.ts"
import type { AccountState } from "../accounts/accountJson.ts"
import { OpenWrites } from "../accounts/OpenWrites.ts"
import type { Relay } from "./Relay.ts"
import type { AccountMessage } from "./accountMessage.ts"

const ADDRESS = 32
/** Messages and writes that wait for the bus; beyond either they are dropped, and readers have a gap. */
const MOST_MESSAGES = 256
const MOST_WRITES = 100_000

/** The accounts of one lease, with their bytes. */
interface KnownLease {
  readonly revision: number
  readonly accounts: ReadonlyMap<Address, Uint8Array>
}

const accountsOf = (bytes: Uint8Array): ReadonlyMap<Address, Uint8Array> =>
  new Map(
    Array.from({ length: bytes.length / ADDRESS }, (_, i) => {
      const own = bytes.slice(i * ADDRESS, (i + 1) * ADDRESS)
      return [addressFromBytes(own), own]
    })
  )

/** Leases whose accounts are followed, to be sent once this slot has ended: reads of their accounts must not be older. */
interface FollowedLeases {
  readonly slot: number
  readonly revisions: ReadonlyMap<string, number>
}

/** The relay of one feed. It has no accounts and gathers nothing until it leads. */
export class RelayedWrites implements Relay {
  /** Opened when a message waits. */
  readonly arrived: Latch.Latch = Latch.makeUnsafe(false)
  readonly #newSession: () => number
  #listener = () => {}
  #leases: ReadonlyMap<string, KnownLease> = new Map()
  #accounts: ReadonlyMap<Address, Uint8Array> = new Map()
  /** The leases as they were when their accounts were last asked for. */
  #asked: ReadonlyMap<string, KnownLease> = new Map()
  #isLeading = false
  #isConnected = false
  #session: number | null = null
  readonly #open = new OpenWrites()
  /** Revisions of the leases whose accounts are followed. */
  readonly #followed = new Map<string, number>()
  #pending: FollowedLeases | null = null
  #refused: ReadonlyArray<Address> = []
  #slot = 0
  #messages: Array<AccountMessage> = []
  #writes = 0

  /** `newSession` returns another number each time. */
  constructor(newSession: () => number) {
    this.#newSession = newSession
  }

  /** Begins to gather writes for the leases. */
  lead(): void {
    this.#isLeading = true
    this.begin()
  }

  /** Gathers and follows nothing for others any more. */
  resign(): void {
    this.#isLeading = false
    this.begin()
    this.list(new Map())
  }

  /** Begins a session where there is a connection: readers have a gap before its messages. */
  begin(): void {
    this.#session = this.#isLeading && this.#isConnected ? this.#newSession() : null
    this.#open.clear()
    this.#followed.clear()
    this.#pending = null
    this.#refused = []
    this.takeAll()
    this.#listener()
  }

  /** The number of accounts of other processes. */
  get size(): number {
    return this.#accounts.size
  }

  /** Sends what is known once more: readers notice a process that has ended, and not a chain that stands still. */
  beat(): void {
    if (this.#slot > 0) {
      this.#send([])
    }
  }

  /** Revisions of the known leases. */
  known(): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#leases, ([owner, { revision }]) => [owner, revision]))
  }

  /** Takes the leases as they are now. */
  list(listed: ReadonlyMap<string, ListedLease>): void {
    const isSame =
      listed.size === this.#leases.size &&
      Array.from(listed).every(([owner, { revision }]) => this.#leases.get(owner)?.revision === revision)
    if (isSame) {
      return
    }
    const leases = new Map<string, KnownLease>()
    for (const [owner, { accounts, revision }] of listed) {
      const own = accounts === null ? this.#leases.get(owner)?.accounts : accountsOf(accounts)
      leases.set(owner, { revision, accounts: own ?? new Map() })
    }
    this.#leases = leases
    this.#accounts = new Map(Array.from(leases.values()).flatMap(({ accounts }) => Array.from(accounts)))
    // The owner of a lease that has ended misses it in a message, also where the lease is taken again before a slot ends.
    if (this.#forget((owner) => !leases.has(owner))) {
      this.#send([])
    }
    this.#listener()
  }

  /** The messages that wait, oldest first, which wait no longer. */
  takeAll(): ReadonlyArray<AccountMessage> {
    const all = this.#messages
    this.#messages = []
    this.#writes = 0
    return all
  }

  /** The bytes of an address. */
  readonly bytesOf = (address: Address): Uint8Array => this.#accounts.get(address) ?? addressToBytes(address)

  onChange(listener: () => void): void {
    this.#listener = listener
  }

  follows(address: Address): boolean {
    return this.#accounts.has(address)
  }

  followed(): Iterable<Address> {
    this.#asked = this.#leases
    return this.#accounts.keys()
  }

  connect(): void {
    this.#isConnected = true
    this.#slot = 0
    this.begin()
  }

  disconnect(): void {
    this.#isConnected = false
    this.begin()
  }

  hasFollowed(isFollowed: (address: Address) => boolean, slot: number): void {
    if (this.#session === null) {
      return
    }
    const asked = Array.from(this.#asked).filter(([owner]) => this.#leases.has(owner))
    // All others were refused.
    this.#refused = Array.from(new Set(asked.flatMap(([, { accounts }]) => Array.from(accounts.keys())))).filter(
      (address) => !isFollowed(address)
    )
    const changed = asked.filter(([owner, { revision }]) => this.#followed.get(owner) !== revision)
    if (changed.length > 0) {
      this.#pending = { slot, revisions: new Map(changed.map(([owner, { revision }]) => [owner, revision])) }
      if (slot <= this.#slot) {
        this.#send([])
      }
    }
  }

  lose(addresses: ReadonlyArray<Address>): void {
    if (this.#forget((owner) => addresses.some((address) => this.#leases.get(owner)?.accounts.has(address)))) {
      this.#send([])
    }
  }

  take(address: Address, state: AccountState): boolean {
    return this.#session !== null && this.#accounts.has(address) && this.#open.add(address, state) === "kept"
  }

  end(ended: number, slot: number): void {
    const isNew = slot > this.#slot
    this.#slot = Math.max(this.#slot, slot)
    if (this.#session === null) {
      return
    }
    const writes = this.#open.take(ended).flatMap(([, states]) => Array.from(states))
    if (isNew || writes.length > 0) {
      this.#send(writes)
    }
  }

  /** The leases of these owners are not followed any more; true where one was. */
  #forget(isLost: (owner: string) => boolean | undefined): boolean {
    const lost = Array.from(this.#followed.keys()).filter((owner) => isLost(owner) === true)
    lost.forEach((owner) => this.#followed.delete(owner))
    const { revisions, slot } = this.#pending ?? { revisions: new Map<string, number>(), slot: 0 }
    this.#pending = { slot, revisions: new Map(Array.from(revisions).filter(([owner]) => isLost(owner) !== true)) }
    return lost.length > 0
  }

  #send(writes: AccountMessage["writes"]): void {
    if (this.#session === null) {
      return
    }
    if (this.#messages.length >= MOST_MESSAGES || this.#writes >= MOST_WRITES) {
      return this.begin()
    }
    if (this.#pending !== null && this.#pending.slot <= this.#slot) {
      this.#pending.revisions.forEach((revision, owner) => this.#followed.set(owner, revision))
      this.#pending = null
    }
    this.#writes += writes.length
    this.#messages.push({
      session: this.#session,
      slot: this.#slot,
      leases: new Map(this.#followed),
      refused: this.#refused,
      writes
    })
    this.arrived.openUnsafe()
  }
}

/** The relay of the feed of this process, which passes writes on while the process reads the chain; null where there is none. */
export const AccountRelay = Context.Reference<{
  /** Fills the bus until it is interrupted; fails once another process has appended. `genesis` is that of the chain. */
  readonly lead: (genesis: string) => Effect.Effect<never, AppendRefused>
  readonly writes: RelayedWrites
} | null>("fathom/solana/bus/AccountRelay", { defaultValue: () => null })
