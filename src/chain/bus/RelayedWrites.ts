/** Gathers the writes of a feed by slot for other processes, as messages that are appended to the bus in order. */
import { Latch } from "effect"
import { type Address, addressFromBytes, addressToBytes } from "../../domain/Address.ts"
import type { ListedLease } from "../../storage/bus/AccountBus.ts"
import type { AccountState } from "../AccountState.ts"
import { OpenWrites } from "../accounts/OpenWrites.ts"
import type { Relay } from "../accounts/AccountRelay.ts"
import type { AccountMessage } from "./accountMessage.ts"

const ADDRESS = 32
/** The most messages and writes that may wait for the bus. With more they are dropped, and readers have a gap. */
const MOST_MESSAGES = 256
const MOST_WRITES = 100_000

/** The accounts of one lease, by their bytes as text. */
interface KnownLease {
  readonly revision: number
  readonly accounts: ReadonlyMap<string, Address>
}

/** The accounts of a lease. Takes addresses from the previous revision: their text is slow to compute. */
const accountsOf = (bytes: Uint8Array, before: KnownLease | undefined): ReadonlyMap<string, Address> => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
  const accounts = new Map<string, Address>()
  for (let at = 0; at < bytes.length; at += ADDRESS) {
    const key = text.slice(at, at + ADDRESS)
    accounts.set(key, before?.accounts.get(key) ?? addressFromBytes(bytes.subarray(at, at + ADDRESS)))
  }
  return accounts
}

/** A revision of a lease. It is sent once this slot has ended: reads of its accounts must not be older. */
interface FollowedLease {
  readonly owner: string
  readonly revision: number
  readonly slot: number
}

/** The relay of one feed. Has no accounts and gathers nothing until it leads. */
export class RelayedWrites implements Relay {
  /** Opened when a message waits. */
  readonly arrived: Latch.Latch = Latch.makeUnsafe(false)
  readonly #newSession: () => number
  #listener = () => {}
  #leases: ReadonlyMap<string, KnownLease> = new Map()
  #accounts: ReadonlyMap<Address, Uint8Array> = new Map()
  /** The leases as they were when the feed last asked for their accounts. */
  #requested: ReadonlyMap<string, KnownLease> = new Map()
  #isLeading = false
  #isConnected = false
  #session: number | null = null
  readonly #open = new OpenWrites()
  /** For each lease, the newest revision that readers know is followed. */
  readonly #followed = new Map<string, number>()
  /** Revisions that readers do not know yet, oldest first. */
  #pending: ReadonlyArray<FollowedLease> = []
  /** Accounts that readers know are not followed, with the slot after which they will be; Infinity for never. */
  readonly #unfollowed = new Map<Address, number>()
  #slot = 0
  #messages: Array<AccountMessage> = []
  #writes = 0

  /** `newSession` returns a different number each time. */
  constructor(newSession: () => number) {
    this.#newSession = newSession
  }

  /** Begins to gather writes for the leases. */
  lead(): void {
    this.#isLeading = true
    this.begin()
  }

  /** Stops gathering writes and following accounts for other processes. */
  resign(): void {
    this.#isLeading = false
    this.begin()
    this.list(new Map())
  }

  /** Begins a session when there is a connection. Readers have a gap before the session's messages. */
  begin(): void {
    this.#session = this.#isLeading && this.#isConnected ? this.#newSession() : null
    this.#open.clear()
    this.#followed.clear()
    this.#pending = []
    this.#unfollowed.clear()
    this.takeAll()
    this.#listener()
  }

  /** How many accounts other processes follow. */
  get size(): number {
    return this.#accounts.size
  }

  get waiting(): number {
    return this.#open.size
  }

  /** Repeats the current state, so that readers can see that this process lives while the chain stands still. */
  beat(): void {
    if (this.#slot > 0) {
      this.#send([])
    }
  }

  /** The revision of each known lease, by its owner. */
  known(): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#leases, ([owner, { revision }]) => [owner, revision]))
  }

  /** Replaces the known leases. A lease whose `accounts` are null is unchanged and keeps its accounts. */
  list(listed: ReadonlyMap<string, ListedLease>): void {
    const isSame =
      listed.size === this.#leases.size &&
      Array.from(listed).every(([owner, { revision }]) => this.#leases.get(owner)?.revision === revision)
    if (isSame) {
      return
    }
    const leases = new Map<string, KnownLease>()
    for (const [owner, { accounts, revision }] of listed) {
      const before = this.#leases.get(owner)
      const own = accounts === null ? before?.accounts : accountsOf(accounts, before)
      leases.set(owner, { revision, accounts: own ?? new Map() })
    }
    this.#leases = leases
    const all = new Map<Address, Uint8Array>()
    for (const { accounts } of leases.values()) {
      accounts.forEach((address, key) => {
        all.set(address, this.#accounts.get(address) ?? Buffer.from(key, "latin1"))
      })
    }
    this.#accounts = all
    // The owner of a lease that has ended must find it missing from a message, even when the lease is taken again
    // before a slot ends.
    if (this.#forget((owner) => !leases.has(owner))) {
      this.#send([])
    }
    this.#listener()
  }

  /** Returns and clears the messages that wait, oldest first. */
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
    this.#requested = this.#leases
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
    let isNew = false
    const requested = Array.from(this.#requested).filter(([owner]) => this.#leases.has(owner))
    for (const [owner, { accounts, revision }] of requested) {
      for (const address of accounts.values()) {
        // An account that was refused or lost is followed from this slot on. An account that the source does not follow
        // is refused at once.
        if (!isFollowed(address)) {
          this.#unfollowed.set(address, Infinity)
        } else if (this.#unfollowed.get(address) === Infinity) {
          this.#unfollowed.set(address, slot)
          isNew = true
        }
      }
      const known = this.#pending.findLast((each) => each.owner === owner)?.revision ?? this.#followed.get(owner)
      if (known !== revision) {
        this.#pending = [...this.#pending, { owner, revision, slot }]
        isNew = true
      }
    }
    if (isNew && slot <= this.#slot) {
      this.#send([])
    }
  }

  lose(addresses: ReadonlyArray<Address>): void {
    const lost = addresses.filter((address) => this.#accounts.has(address))
    lost.forEach((address) => this.#unfollowed.set(address, Infinity))
    if (lost.length > 0) {
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

  /** Forgets the leases of lost owners. True when readers know one of the leases. */
  #forget(isLost: (owner: string) => boolean): boolean {
    const lost = Array.from(this.#followed.keys()).filter(isLost)
    lost.forEach((owner) => this.#followed.delete(owner))
    this.#pending = this.#pending.filter(({ owner }) => !isLost(owner))
    return lost.length > 0
  }

  /** Adds everything that is followed up to this slot to what readers know from the next message on. */
  #follow(): void {
    this.#pending
      .filter(({ slot }) => slot <= this.#slot)
      .forEach(({ owner, revision }) => this.#followed.set(owner, revision))
    this.#pending = this.#pending.filter(({ slot }) => slot > this.#slot)
    for (const [address, slot] of this.#unfollowed) {
      if (slot <= this.#slot || !this.#accounts.has(address)) {
        this.#unfollowed.delete(address)
      }
    }
  }

  #send(writes: AccountMessage["writes"]): void {
    if (this.#session === null) {
      return
    }
    if (this.#messages.length >= MOST_MESSAGES || this.#writes >= MOST_WRITES) {
      return this.begin()
    }
    this.#follow()
    this.#writes += writes.length
    this.#messages.push({
      session: this.#session,
      slot: this.#slot,
      leases: new Map(this.#followed),
      unfollowed: Array.from(this.#unfollowed.keys()),
      writes
    })
    this.arrived.openUnsafe()
  }
}
