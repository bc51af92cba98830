/** Follows accounts over the bus: another process follows them at its node while this process has a lease. */
import { Deferred, Duration, Effect, Option, type Scope, Stream } from "effect"
import type { AccountBus } from "../../storage/bus/AccountBus.ts"
import type { BusUnavailable, LogPage, ReadEntry } from "../../storage/bus/busLog.ts"
import type { ChainState } from "../accounts/ChainState.ts"
import type { NotFollowed, Subscriptions } from "../accounts/subscriptions.ts"
import type { WriteSource } from "../accounts/WriteSource.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { NodeChoice } from "../rpc/NodeChoice.ts"
import { genesisOf } from "../rpc/nodeLag.ts"
import type { RpcNode } from "../rpc/rpcSettings.ts"
import type { SolanaRpc } from "../rpc/SolanaRpc.ts"
import { decodeMessage } from "./accountMessage.ts"
import { AppliedMessages } from "./AppliedMessages.ts"
import { OwnLease } from "./OwnLease.ts"
import { chainName, slotOfPlace } from "./publishAccounts.ts"

/** The longest wait for a sign of the process that fills the bus, and for that process to follow further accounts. */
const OPEN_TIMEOUT = Duration.millis(2500)
const FOLLOW_TIMEOUT = Duration.seconds(2)
const RENEW_EVERY = Duration.seconds(5)

/** A place in the log of a chain's writes. */
interface Position {
  readonly chain: string
  readonly place: number
}

/** Settings of the source. */
export interface BusWrites {
  readonly bus: AccountBus["Service"]
  /** Name of the bus for logs and probes. */
  readonly host: string
  /** Name of this process among the owners of leases. */
  readonly owner: string
}

/** What stays from one connection to the next. */
interface Kept {
  readonly bus: AccountBus["Service"]
  readonly lease: OwnLease
  /** The last message that was applied. */
  position: Position | null
  session: number | null
}

/** The chain of a connection. */
interface FollowedChain {
  /** Name of the chain's writes on the bus. */
  readonly name: string
  /** The genesis hash of the chain that the nodes serve now. */
  readonly genesis: () => string | null
}

const unreachable = ({ cause }: BusUnavailable) =>
  new ChainUnavailable({
    reason: "unreachable",
    detail: `the bus of account writes: ${cause instanceof Error ? cause.message : "no answer"}`
  })

const invalid = (cause: unknown) => new ChainUnavailable({ reason: "invalid", detail: String(cause) })

/** The genesis hash of the chain of a node. */
const chainOf = Effect.fnUntraced(function* (
  choice: NodeChoice,
  node: RpcNode,
  rpcOf: (node: RpcNode) => SolanaRpc["Service"]
) {
  const genesis = choice.genesis ?? (yield* genesisOf(rpcOf(node)))
  return genesis === null
    ? yield* new ChainUnavailable({
        reason: "invalid",
        detail: "the node does not report its genesis hash, which names the shared writes"
      })
    : genesis
})

/** Waits for a message that is newer than those already there, and that this process can read. */
const awaitSign = ({ bus, lease }: Kept, chain: string, newest: number) =>
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
            .map(({ body }) => decodeMessage(body, lease.find)),
        catch: invalid
      })
    )
  )

/** Applies the messages after a place, until the bus fails or the nodes serve another chain. */
const applyMessages = (
  kept: Kept,
  { genesis, name: chain }: FollowedChain,
  messages: AppliedMessages,
  state: ChainState,
  range: { readonly after: number; readonly applied: number }
): Effect.Effect<void, ChainUnavailable> => {
  const opened = genesis()
  let applied = slotOfPlace(range.applied)
  const applyOne = Effect.fnUntraced(function* (entry: ReadEntry) {
    if (genesis() !== opened) {
      return yield* new ChainUnavailable({ reason: "unreachable", detail: "the bus carries another chain" })
    }
    yield* Effect.try({
      try: () => messages.apply(entry),
      catch: (cause) => {
        kept.position = null
        return invalid(cause)
      }
    })
    kept.position = { chain, place: entry.place }
    kept.session = messages.session
    applied = slotOfPlace(entry.place)
    // Requests are answered between two slots.
    yield* Effect.yieldNow
  })
  const applyAll = ({ entries, hasMore }: LogPage<ReadEntry>) =>
    Effect.suspend(() => {
      // A slot has several messages, and a process that was busy for a moment gets them all at once.
      const slots = new Set(entries.map(({ place }) => slotOfPlace(place)).filter((slot) => slot > applied))
      if (hasMore || slots.size > 1) {
        // Until the last message is applied, the states are older than the newest slot.
        state.isBehind = true
      }
      return Effect.andThen(
        Effect.forEach(entries, applyOne, { discard: true }),
        Effect.sync(() => (state.isBehind = hasMore))
      )
    })
  return kept.bus.follow(chain, range.after).pipe(Stream.mapError(unreachable), Stream.runForEach(applyAll))
}

/** `put` writes the lease. `keep` renews it every few seconds, or writes it when accounts have changed. */
const leasing = ({ bus, lease }: Kept, chain: string) => {
  const put = Effect.suspend(() => Effect.mapError(bus.lease(chain, lease.next()), unreachable))
  const renew = Effect.suspend(() =>
    lease.isChanged
      ? put
      : Effect.flatMap(bus.renew(chain, lease.owner, lease.revision), (isHeld) => (isHeld ? Effect.void : put))
  )
  // The reader notices when the bus or the lease is lost.
  return { put, keep: renew.pipe(Effect.ignoreCause, Effect.delay(RENEW_EVERY), Effect.forever) }
}

/** Returns once the process that fills the bus has this revision of the lease. */
const hasRevision = (messages: AppliedMessages, revision: number) =>
  Effect.suspend(() => {
    messages.heard.closeUnsafe()
    return messages.has(revision) ? Effect.void : messages.heard.await
  }).pipe(Effect.repeat({ until: () => messages.has(revision) }))

/** Opens a connection. It reads the bus from the first followed account on. */
const open = Effect.fnUntraced(function* (
  kept: Kept,
  chain: FollowedChain,
  state: ChainState
): Effect.fn.Return<Subscriptions, ChainUnavailable, Scope.Scope> {
  const { bus, lease } = kept
  const scope = yield* Effect.scope
  const newest = (yield* Effect.mapError(bus.newest(chain.name), unreachable)) ?? 0
  yield* awaitSign(kept, chain.name, newest)
  const resumed = kept.position?.chain === chain.name && state.replayFrom !== null ? kept.position : null
  const messages = new AppliedMessages(lease, state, resumed === null ? null : kept.session)
  const ended = yield* Deferred.make<never, ChainUnavailable>()
  const closed = Deferred.await(ended)
  // The last applied message is read once more. A stream that lacks it must have lost others too.
  const range = { after: resumed === null ? newest : resumed.place - 1, applied: resumed?.place ?? newest }
  const reading = applyMessages(kept, chain, messages, state, range)
  const { keep, put } = leasing(kept, chain.name)
  let isReading = false
  const begin = Effect.suspend(() => {
    isReading = true
    return Effect.andThen(
      Effect.forkIn(
        Effect.catchCause(reading, (cause) => Deferred.failCause(ended, cause)),
        scope
      ),
      Effect.forkIn(keep, scope)
    )
  })

  return {
    isReplayed: resumed !== null,
    isFollowed: (address) => messages.isFollowed(address),
    followed: () => lease.addresses(),
    waitsFor: "the process that fills the bus of account writes",
    closed,
    follow: Effect.fnUntraced(function* (addresses): Effect.fn.Return<NotFollowed, ChainUnavailable> {
      if (addresses.length === 0) {
        return { refused: [], waiting: [] }
      }
      lease.add(addresses)
      yield* lease.isChanged || !isReading ? put : Effect.void
      yield* isReading ? Effect.void : begin
      yield* hasRevision(messages, lease.revision).pipe(
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

/** The writes that another process appends to the bus. */
export const busWrites = ({ bus, host, owner }: BusWrites) => {
  const kept: Kept = { bus, lease: new OwnLease(owner), position: null, session: null }
  const source = (choice: NodeChoice, rpcOf: (node: RpcNode) => SolanaRpc["Service"]): WriteSource<never> => ({
    open: (node, state, { commitment }) =>
      Effect.flatMap(chainOf(choice, node, rpcOf), (genesis) =>
        open(kept, { name: chainName(genesis, commitment), genesis: () => choice.genesis ?? genesis }, state)
      ),
    others: () => [],
    host: () => host,
    leave: () => {}
  })
  /** Gives the lease back. */
  const release = Effect.suspend(() =>
    kept.position === null ? Effect.void : Effect.ignore(bus.release(kept.position.chain, kept.lease.owner))
  )
  return { source, release }
}
