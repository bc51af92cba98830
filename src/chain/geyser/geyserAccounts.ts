/** Follows accounts over one stream of a Geyser. */
import { Deferred, Duration, Effect, type Scope } from "effect"
import { type Address, addressFromBytes, addressToBytes } from "../../domain/Address.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { AccountState } from "../AccountState.ts"
import type { Listener, Subscriptions } from "../accounts/subscriptions.ts"
import type { GeyserTarget, StreamEnd } from "./geyserMessages.ts"
import { AccountThread } from "./AccountThread.ts"
import type { AccountWrite, StreamUpdate } from "./readUpdate.ts"

/** Settings of one stream. */
export interface GeyserAccountsOptions {
  readonly target: GeyserTarget
  /** Number of the stream, a different one each time. */
  readonly stream: number
  /** The number of the commitment. */
  readonly commitment: number
  /** The slot from which writes are repeated; null for no repetition. */
  readonly from: number | null
  /** The deadline of a change of the followed accounts. The change takes effect with the next slot. */
  readonly timeout: Duration.Duration
  /** Runs when the endpoint cannot repeat the writes. */
  readonly onOutOfRange: () => void
}

/** How many names of requests there are before they are used again. Servers keep every name they have seen. */
const NAMES = 64

const keyOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")

/** The state of the account after the write; undefined when the message is not an account. */
const stateOf = (
  address: Address,
  stream: number,
  { data, lamports, owner, slot, writeVersion }: AccountWrite,
  ownerOf: (bytes: Uint8Array) => Address
): AccountState | undefined => {
  const version = { slot, stream, writeVersion }
  if (lamports === 0n) {
    return { ...version, account: null }
  }
  return owner.length === 32
    ? {
        ...version,
        // A copy: the bytes are a view into the message.
        account: { address, owner: ownerOf(owner), lamports, data: data.slice(), slot }
      }
    : undefined
}

/** Accounts to follow from now on, and accounts to leave out, with the name of the request that says so. */
interface FollowChange {
  readonly name: string
  readonly added: ReadonlyArray<Address>
  readonly removed: ReadonlyArray<Address>
  /** Done with the first update that has the name: servers do not acknowledge requests. */
  readonly inEffect: Deferred.Deferred<void>
}

/** The followed accounts by their bytes, and the names of the requests for them. */
class FollowedAccounts {
  readonly #addresses = new Map<string, Address>()
  readonly #followed = new Set<Address>()
  readonly #owners = new Map<string, Address>()
  readonly #waiting = new Map<string, Deferred.Deferred<void>>()
  /** Accounts that the last request named and that are left out since. */
  readonly #removed = new Set<Address>()
  readonly #listener: Listener
  readonly #commitment: number
  readonly #stream: number
  #requests = 0

  constructor(listener: Listener, { commitment, stream }: Pick<GeyserAccountsOptions, "commitment" | "stream">) {
    this.#listener = listener
    this.#commitment = commitment
    this.#stream = stream
  }

  has(address: Address): boolean {
    return this.#followed.has(address)
  }

  all(): Iterable<Address> {
    return this.#followed
  }

  delete(address: Address): void {
    if (this.#followed.delete(address)) {
      this.#addresses.delete(keyOf(addressToBytes(address)))
      this.#removed.add(address)
    }
  }

  /** True while accounts are left out that the last request named. */
  get isStale(): boolean {
    return this.#removed.size > 0
  }

  /** Follows these accounts too. The change has everything since the last request. */
  change(added: ReadonlyArray<Address>): FollowChange {
    added.forEach((address) => this.#add(address))
    this.#requests += 1
    const name = `r${this.#requests % NAMES}`
    const inEffect = Deferred.makeUnsafe<void>()
    this.#waiting.clear()
    this.#waiting.set(name, inEffect)
    const removed = Array.from(this.#removed)
    this.#removed.clear()
    return { name, added, removed, inEffect }
  }

  /** Takes an update of the stream. */
  take({ account, filters, slot }: StreamUpdate): void {
    if (account !== null) {
      this.#write(account)
    } else if (slot?.status === this.#commitment) {
      this.#listener.onCommitted(slot.slot, slot.parent ?? undefined)
    }
    for (const name of this.#waiting.size === 0 ? [] : filters) {
      const inEffect = this.#waiting.get(name)
      if (inEffect !== undefined) {
        this.#waiting.delete(name)
        Deferred.doneUnsafe(inEffect, Effect.void)
      }
    }
  }

  #add(address: Address): void {
    this.#followed.add(address)
    this.#removed.delete(address)
    this.#addresses.set(keyOf(addressToBytes(address)), address)
  }

  #write(account: AccountWrite): void {
    const address = this.#addresses.get(keyOf(account.pubkey))
    if (address !== undefined) {
      const state = stateOf(address, this.#stream, account, (bytes) => this.#ownerOf(bytes))
      if (state === undefined) {
        this.#listener.onMalformed(address)
      } else {
        this.#listener.onWrite(address, state)
      }
    }
  }

  #ownerOf(bytes: Uint8Array): Address {
    const key = keyOf(bytes)
    const owner = this.#owners.get(key) ?? addressFromBytes(bytes)
    this.#owners.set(key, owner)
    return owner
  }
}

/** Opens a stream. It begins with the first account that is followed. */
export const openGeyserAccounts = Effect.fnUntraced(function* (
  options: GeyserAccountsOptions,
  listener: Listener
): Effect.fn.Return<Subscriptions, ChainUnavailable, Scope.Scope | AccountThread> {
  const { commitment, onOutOfRange, target, timeout } = options
  const thread = yield* AccountThread
  const ended = yield* Deferred.make<never, ChainUnavailable>()
  const followed = new FollowedAccounts(listener, options)
  const onEnd = ({ detail, reason }: StreamEnd) => {
    if (reason === "range") {
      onOutOfRange()
    }
    const failure = new ChainUnavailable({ reason: "unreachable", detail: `the stream ended: ${detail}` })
    Deferred.doneUnsafe(ended, Effect.fail(failure))
  }
  const stream = yield* Effect.acquireRelease(
    Effect.sync(() => thread.open(target, options.from, { onEnd, onUpdate: (update) => followed.take(update) })),
    ({ close }) => Effect.sync(close)
  )
  const closed = Deferred.await(ended)
  let from = options.from

  const send = (added: ReadonlyArray<Address>) => {
    const { inEffect, ...change } = followed.change(added)
    stream.send({ _tag: "follow", ...change, commitment, from })
    from = null
    return Deferred.await(inEffect).pipe(
      Effect.raceFirst(closed),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () =>
          Effect.fail(new ChainUnavailable({ reason: "timeout", detail: `no update in ${Duration.format(timeout)}` }))
      })
    )
  }

  return {
    isReplayed: options.from !== null,
    isFollowed: (address) => followed.has(address),
    followed: () => followed.all(),
    closed,
    follow: Effect.fnUntraced(function* (addresses) {
      if (addresses.length > 0 || followed.isStale) {
        yield* send(addresses)
      }
      return { refused: [], waiting: [] }
    }),
    // The next request leaves them out.
    unfollow: (addresses) => Effect.sync(() => addresses.forEach((address) => followed.delete(address)))
  }
})
