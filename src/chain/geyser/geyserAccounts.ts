/** Follows accounts over one stream of a Geyser. Loaded only where a Geyser is used. */
import { Deferred, Duration, Effect, type Scope } from "effect"
import { type Address, addressFromBytes, addressToBytes } from "../../domain/Address.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { AccountState } from "../AccountState.ts"
import type { Listener, Subscriptions } from "../accounts/subscriptions.ts"
import type { GeyserTarget } from "./geyserMessages.ts"
import { TurnQueue } from "../../domain/loopTime.ts"
import { connect, openCall, type StreamEnd } from "./geyserStream.ts"
import type { GeyserRequest } from "./geyserUpdates.ts"
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

/** The followed accounts by their bytes, and the requests that name them. */
class FollowedAccounts {
  readonly #addresses = new Map<string, Address>()
  readonly #followed = new Set<Address>()
  readonly #owners = new Map<string, Address>()
  readonly #waiting = new Map<string, Deferred.Deferred<void>>()
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

  add(address: Address): void {
    this.#followed.add(address)
    this.#addresses.set(keyOf(addressToBytes(address)), address)
  }

  /** False when the account was not followed. */
  delete(address: Address): boolean {
    this.#addresses.delete(keyOf(addressToBytes(address)))
    return this.#followed.delete(address)
  }

  /**
   * A request for all followed accounts. Servers do not acknowledge requests, so it takes effect with the first update
   * that has its name.
   */
  request(from: number | null): { readonly request: GeyserRequest; readonly inEffect: Deferred.Deferred<void> } {
    this.#requests += 1
    const name = `r${this.#requests % NAMES}`
    const inEffect = Deferred.makeUnsafe<void>()
    this.#waiting.clear()
    this.#waiting.set(name, inEffect)
    const request: GeyserRequest = {
      accounts: { [name]: { account: Array.from(this.#followed) } },
      slots: { [name]: { filterByCommitment: true } },
      commitment: this.#commitment,
      ...(from !== null && { fromSlot: String(from) })
    }
    return { request, inEffect }
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
): Effect.fn.Return<Subscriptions, ChainUnavailable, Scope.Scope> {
  const { onOutOfRange, target, timeout } = options
  const ended = yield* Deferred.make<never, ChainUnavailable>()
  const followed = new FollowedAccounts(listener, options)
  const updates = new TurnQueue<StreamUpdate>((update) => followed.take(update))
  const onEnd = ({ detail, reason }: StreamEnd) => {
    if (reason === "range") {
      onOutOfRange()
    }
    const failure = new ChainUnavailable({ reason: "unreachable", detail: `the stream ended: ${detail}` })
    try {
      updates.flush()
    } finally {
      Deferred.doneUnsafe(ended, Effect.fail(failure))
    }
  }
  const client = yield* connect(target)
  const call = yield* Effect.acquireRelease(
    Effect.sync(() => openCall(client, options, { onEnd, onUpdate: (update) => updates.push(update) })),
    ({ close }) =>
      Effect.sync(() => {
        close()
        updates.clear()
      })
  )
  const closed = Deferred.await(ended)
  let from = options.from
  let isStale = false

  const send = () => {
    const { inEffect, request } = followed.request(from)
    from = null
    isStale = false
    call.write(request)
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
      if (addresses.length > 0 || isStale) {
        addresses.forEach((address) => followed.add(address))
        yield* send()
      }
      return { refused: [], waiting: [] }
    }),
    unfollow: (addresses) =>
      Effect.sync(() => {
        for (const address of addresses) {
          // The next request leaves the account out.
          isStale = followed.delete(address) || isStale
        }
      })
  }
})
