/** Following accounts over the bus: another process follows them at its node, as long as this one has a lease on them. */
import { Deferred, Duration, Effect, Latch, Option, type Scope, Stream } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { AccountBus } from "../../storage/bus/AccountBus.ts"
import type { BusUnavailable, LogPage, ReadEntry } from "../../storage/bus/busLog.ts"
import { ChainUnavailable } from "../accounts/ChainFeed.ts"
import type { ChainState } from "../accounts/ChainState.ts"
import type { Subscriptions } from "../accounts/subscriptions.ts"
import type { WriteSource } from "../accounts/WriteSource.ts"
import type { NodeChoice } from "../rpc/NodeChoice.ts"
import { genesisOf } from "../rpc/nodeLag.ts"
import type { RpcNode } from "../rpc/rpcSettings.ts"
import type { SolanaRpc } from "../rpc/SolanaRpc.ts"
import { decodeMessage, keyOfAddress } from "./accountMessage.ts"
import { chainName, slotOfPlace } from "./publishAccounts.ts"

/** The longest wait for a sign of the process that fills the bus, and for it to follow further accounts. */
const OPEN_TIMEOUT = Duration.millis(2500)
const FOLLOW_TIMEOUT = Duration.seconds(2)
const RENEW_EVERY = Duration.seconds(5)

/** The lease of this process: its accounts, each with the revision that has it first. */
class OwnLease {
  readonly owner: string
  #revision = 0
  #isChanged = false
  readonly #since = new Map<Address, number>()
  readonly #byKey = new Map<string, Address>()

  constructor(owner: string) {
    this.owner = owner
  }

  get revision(): number {
    return this.#revision
  }

  /** True when accounts were added or removed since the last revision. */
  get isChanged(): boolean {
    return this.#isChanged
  }

  readonly find = (key: string): Address | undefined => this.#byKey.get(key)

  addresses(): Iterable<Address> {
    return this.#since.keys()
  }

  /** The revision that has the account first; Infinity for none. */
  since(address: Address): number {
    return this.#since.get(address) ?? Infinity
  }

  add(addresses: ReadonlyArray<Address>): void {
    for (const address of addresses) {
      if (!this.#since.has(address)) {
        this.#since.set(address, this.#revision + 1)
        this.#byKey.set(keyOfAddress(address), address)
        this.#isChanged = true
      }
    }
  }

  remove(addresses: ReadonlyArray<Address>): void {
    for (const address of addresses) {
      if (this.#since.delete(address)) {
        this.#byKey.delete(keyOfAddress(address))
        this.#isChanged = true
      }
    }
  }

  /** The lease of the next revision where accounts have changed, else of this one. */
  next() {
    this.#revision += this.#isChanged ? 1 : 0
    this.#isChanged = false
    // The keys are the bytes of the addresses.
    const accounts = Buffer.from(Array.from(this.#byKey.keys()).join(""), "latin1")
    return { owner: this.owner, revision: this.#revision, accounts }
  }
}

/** A place in the writes of a chain. */
interface Position {
  readonly chain: string
  readonly place: number
}

/** The messages of the bus as one connection applies them to the state of the feed. */
class AppliedMessages {
  /** Opened with each message. */
  readonly heard: Latch.Latch = Latch.makeUnsafe(false)
  readonly #lease: OwnLease
  readonly #state: ChainState
  #session: number | null
  #revision = 0
  #unfollowed: ReadonlySet<Address> = new Set()
  /** Accounts that were followed, until they are again. */
  readonly #lost = new Set<Address>()

  constructor(lease: OwnLease, state: ChainState, session: number | null) {
    this.#lease = lease
    this.#state = state
    this.#session = session
  }

  get session(): number | null {
    return this.#session
  }

  /** True when the writes of the account are on the bus. */
  isFollowed(address: Address): boolean {
    return this.#lease.since(address) <= this.#revision && !this.#unfollowed.has(address)
  }

  /** True when the process that fills the bus has the lease with the account, and the node does not follow it. */
  isRefused(address: Address): boolean {
    return this.#lease.since(address) <= this.#revision && this.#unfollowed.has(address)
  }

  /** True when the process that fills the bus has this revision of the lease, and follows all that it had followed before. */
  has(revision: number): boolean {
    return this.#revision >= revision && this.#lost.size === 0
  }

  /** Waits for lost accounts no longer. */
  giveUp(): void {
    this.#lost.clear()
  }

  /** Throws when the bytes cannot be read. */
  apply({ bytes, isAfterGap }: ReadEntry): void {
    const { leases, session, slot, unfollowed, writes } = decodeMessage(bytes, this.#lease.find)
    const revision = leases.get(this.#lease.owner) ?? 0
    const isFirst = this.#session === null
    if (!isFirst && (isAfterGap || session !== this.#session || revision < this.#revision)) {
      this.#state.onLost(Array.from(this.#lease.addresses()))
    }
    const lost = unfollowed.filter((address) => this.isFollowed(address))
    if (lost.length > 0) {
      this.#state.onLost(lost)
    }
    this.#session = session
    this.#revision = revision
    this.#unfollowed = new Set(unfollowed)
    lost.forEach((address) => this.#lost.add(address))
    this.#lost.forEach((address) => !this.#unfollowed.has(address) && this.#lost.delete(address))
    for (const [address, state] of writes) {
      this.#state.onWrite(address, state)
    }
    if (slot > 0) {
      this.#state.onCommitted(slot)
      this.#state.settle(slot)
    }
    this.heard.openUnsafe()
  }
}

const unreachable = ({ cause }: BusUnavailable) =>
  new ChainUnavailable({
    reason: "unreachable",
    detail: `the bus of account writes: ${cause instanceof Error ? cause.message : "no answer"}`
  })

/** Settings of the source. */
export interface BusWrites {
  readonly bus: AccountBus["Service"]
  /** Name of the bus for logs and probes. */
  readonly host: string
  /** Name of this process among those that have leases. */
  readonly owner: string
}

/** The writes that another process appends to the bus. */
export const busWrites = ({ bus, host, owner }: BusWrites) => {
  const lease = new OwnLease(owner)
  const last: { position: Position | null; session: number | null } = { position: null, session: null }

  const chainOf = Effect.fnUntraced(function* (
    choice: NodeChoice,
    node: RpcNode,
    rpcOf: (node: RpcNode) => SolanaRpc["Service"]
  ) {
    const genesis = choice.genesis ?? (yield* genesisOf(rpcOf(node)))
    return genesis === null
      ? yield* new ChainUnavailable({
          reason: "invalid",
          detail: "the node does not report its genesis hash, by which writes are shared"
        })
      : genesis
  })

  /** Waits for a message that this process can read, later than those that are there. */
  const awaitSign = (chain: string, newest: number) =>
    bus.follow(chain, newest).pipe(
      Stream.filter(({ entries }) => entries.length > 0),
      Stream.runHead,
      Effect.mapError(unreachable),
      Effect.timeoutOrElse({
        duration: OPEN_TIMEOUT,
        orElse: () =>
          Effect.fail(new ChainUnavailable({ reason: "timeout", detail: "no process fills the bus of account writes" }))
      }),
      Effect.flatMap((page) =>
        Effect.try({
          try: () =>
            Option.getOrThrow(page)
              .entries.slice(-1)
              .map(({ bytes }) => decodeMessage(bytes, lease.find)),
          catch: (cause) => new ChainUnavailable({ reason: "invalid", detail: String(cause) })
        })
      )
    )

  const open = Effect.fnUntraced(function* (
    genesis: () => string | null,
    state: ChainState,
    chain: string
  ): Effect.fn.Return<Subscriptions, ChainUnavailable, Scope.Scope> {
    const scope = yield* Effect.scope
    const newest = (yield* Effect.mapError(bus.newest(chain), unreachable)) ?? 0
    yield* awaitSign(chain, newest)
    const resumed = last.position?.chain === chain && state.replayFrom !== null ? last.position : null
    const messages = new AppliedMessages(lease, state, resumed === null ? null : last.session)
    const ended = yield* Deferred.make<never, ChainUnavailable>()
    const closed = Deferred.await(ended)
    const opened = genesis()
    let isReading = false
    let applied = slotOfPlace(resumed?.place ?? newest)

    const applyOne = (entry: ReadEntry) =>
      Effect.gen(function* () {
        if (genesis() !== opened) {
          return yield* new ChainUnavailable({ reason: "unreachable", detail: "the bus is that of another chain" })
        }
        yield* Effect.try({
          try: () => messages.apply(entry),
          catch: (cause) => {
            last.position = null
            return new ChainUnavailable({ reason: "invalid", detail: String(cause) })
          }
        })
        last.position = { chain, place: entry.place }
        last.session = messages.session
        applied = slotOfPlace(entry.place)
        // Requests are answered between two slots.
        yield* Effect.yieldNow
      })
    const applyAll = ({ entries, hasMore }: LogPage<ReadEntry>) =>
      Effect.suspend(() => {
        // A slot has several messages, and a process that is busy for a moment gets them at once.
        const slots = new Set(entries.map(({ place }) => slotOfPlace(place)).filter((slot) => slot > applied))
        if (hasMore || slots.size > 1) {
          // Until the last one, the states are of a slot before the newest.
          state.isBehind = true
        }
        return Effect.andThen(
          Effect.forEach(entries, applyOne, { discard: true }),
          Effect.sync(() => (state.isBehind = hasMore))
        )
      })
    // The last message comes once more, so that a stream that lacks it is known to have lost others too.
    const read = bus.follow(chain, resumed === null ? newest : resumed.place - 1).pipe(
      Stream.mapError(unreachable),
      Stream.runForEach(applyAll),
      Effect.catchCause((cause) => Deferred.failCause(ended, cause)),
      Effect.forkIn(scope)
    )

    const put = Effect.suspend(() => Effect.mapError(bus.lease(chain, lease.next()), unreachable))
    const renew = Effect.suspend(() =>
      lease.isChanged
        ? put
        : Effect.flatMap(bus.renew(chain, lease.owner, lease.revision), (isHeld) => (isHeld ? Effect.void : put))
    )
    const begin = Effect.suspend(() => {
      isReading = true
      return Effect.andThen(
        read,
        renew.pipe(
          // The reader notices the loss of the bus, and that of the lease.
          Effect.ignoreCause,
          Effect.delay(RENEW_EVERY),
          Effect.forever,
          Effect.forkIn(scope)
        )
      )
    })
    const hasRevision = (revision: number) =>
      Effect.suspend(() => {
        messages.heard.closeUnsafe()
        return messages.has(revision) ? Effect.void : messages.heard.await
      }).pipe(Effect.repeat({ until: () => messages.has(revision) }))

    return {
      isReplayed: resumed !== null,
      isFollowed: (address) => messages.isFollowed(address),
      followed: () => lease.addresses(),
      waitsFor: "the process that fills the bus of account writes",
      closed,
      follow: Effect.fnUntraced(function* (addresses) {
        if (addresses.length === 0) {
          return { refused: [], waiting: [] }
        }
        lease.add(addresses)
        yield* lease.isChanged || !isReading ? put : Effect.void
        yield* isReading ? Effect.void : begin
        yield* hasRevision(lease.revision).pipe(
          Effect.timeoutOrElse({ duration: FOLLOW_TIMEOUT, orElse: () => Effect.sync(() => messages.giveUp()) }),
          Effect.raceFirst(closed)
        )
        const left = addresses.filter((address) => !messages.isFollowed(address))
        return {
          refused: left.filter((address) => messages.isRefused(address)),
          waiting: left.filter((address) => !messages.isRefused(address))
        }
      }),
      unfollow: (addresses) => Effect.sync(() => lease.remove(addresses))
    }
  })

  const source = (choice: NodeChoice, rpcOf: (node: RpcNode) => SolanaRpc["Service"]): WriteSource<never> => ({
    open: (node, state, { commitment }) =>
      Effect.flatMap(chainOf(choice, node, rpcOf), (genesis) =>
        open(() => choice.genesis ?? genesis, state, chainName(genesis, commitment))
      ),
    others: () => [],
    host: () => host,
    leave: () => {}
  })
  /** Gives the lease back. */
  const release = Effect.suspend(() =>
    last.position === null ? Effect.void : Effect.ignore(bus.release(last.position.chain, lease.owner))
  )
  return { source, release }
}
