/** One connection to the chain: follows and reads accounts, and ends when the node falls silent. */
import { Clock, Duration, Effect, Metric, Random, Ref, type Scope } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { ChainState } from "./ChainState.ts"
import { admitNode } from "./NodeGate.ts"
import type { NodeChoice } from "../rpc/NodeChoice.ts"
import { COMPARED_EVERY, compareWithOthers } from "../rpc/nodeLag.ts"
import type { Patience } from "../rpc/Patience.ts"
import type { RpcNode, RpcSettings } from "../rpc/rpcSettings.ts"
import type { SolanaRpc } from "../rpc/SolanaRpc.ts"
import type { NotFollowed, Subscriptions } from "./subscriptions.ts"
import type { LostConnection, WriteSource } from "./WriteSource.ts"

/** After this long without a message, everything that has arrived counts as the whole slot, unless its report is due. */
const QUIET = Duration.millis(20)
/** The longest wait of the first read for a write of the clock. Shorter when there is another node. */
const FIRST_WRITE = Duration.seconds(1)
const FIRST_WRITE_BESIDE = Duration.millis(500)
/** The pause before a retry on the same connection. */
const PAUSE_MS = 1000
/** Reads that fail for longer than this end the connection when there is another node. */
const FAILING_MS = 1000
/**
 * The watchdog when there is another node. With the pause before the next connection and its first reads, failing over
 * takes three seconds.
 */
const FAIL_OVER = Duration.seconds(2)

const malformedCount = Metric.counter("fathom_chain_malformed_total", {
  description: "Accounts and notifications that could not be decoded.",
  incremental: true
})
const overflowCount = Metric.counter("fathom_chain_overflows_total", {
  description: "Full queues of chain events that were replaced by a snapshot.",
  incremental: true
})

const report = Effect.fnUntraced(function* (state: ChainState) {
  const { malformed, overflows } = state.faults.take()
  if (malformed > 0) {
    yield* Metric.update(malformedCount, malformed)
    yield* Effect.logWarning("The node sent malformed accounts or notifications", { count: malformed })
  }
  if (overflows > 0) {
    yield* Metric.update(overflowCount, overflows)
    yield* Effect.logWarning("The reader of the chain is too slow; a snapshot replaced its events")
  }
})

/** The node to connect to. */
export interface ChosenNode<R> {
  readonly node: RpcNode
  readonly source: WriteSource<R>
  readonly rpc: SolanaRpc["Service"]
  readonly rpcOf: (node: RpcNode) => SolanaRpc["Service"]
  readonly choice: NodeChoice
  /** The deadline of reads when there is another node. */
  readonly patience: Patience
  /** Runs when the node was found to serve the known chain. */
  readonly onUse: Effect.Effect<void>
}

/** Reads the followed accounts that have to be read. False when an account could not be read. */
const readUnread = Effect.fnUntraced(
  function* (state: ChainState, { patience, rpc }: Pick<ChosenNode<never>, "patience" | "rpc">, node: Subscriptions) {
    const unread = Array.from(state.unread()).filter(([address]) => node.isFollowed(address))
    if (unread.length === 0) {
      return true
    }
    const requested = new Map(unread)
    const [took, { states, malformed }] = yield* Effect.timed(
      rpc.getMultipleAccounts(Array.from(requested.keys()), {
        minContextSlot: state.committedSlot === 0 ? undefined : state.committedSlot
      })
    )
    patience.answered(took)
    state.answer(requested, states, malformed.length)
    return malformed.length === 0
  },
  Effect.catchTag("ChainUnavailable", ({ reason, detail }) =>
    Effect.as(Effect.logWarning("Accounts could not be read", { reason, detail }), false)
  )
)

/** True once the node is admitted, false when it does not answer. Fails when another node has to be used. */
const admit = (
  state: ChainState,
  { choice, node, onUse, rpc }: Pick<ChosenNode<never>, "choice" | "node" | "onUse" | "rpc">
) =>
  admitNode(state, choice, node, rpc).pipe(
    Effect.andThen(onUse),
    Effect.as(true),
    Effect.catch((failure) =>
      choice.hasOthers
        ? Effect.fail(failure)
        : Effect.as(Effect.logWarning("The node could not be checked", { detail: failure.detail }), false)
    )
  )

/** Fails when the reads take too long and there is another node. */
const limited =
  ({ choice, patience }: Pick<ChosenNode<never>, "choice" | "patience">) =>
  <A, E, R>(reads: Effect.Effect<A, E, R>): Effect.Effect<A, E | ChainUnavailable, R> =>
    choice.hasOthers
      ? Effect.timeoutOrElse(reads, {
          duration: patience.limit,
          orElse: () => {
            patience.lengthen()
            return Effect.fail(new ChainUnavailable({ reason: "timeout", detail: "accounts were not read in time" }))
          }
        })
      : reads

/** Fails when the reads of this node have failed for long and there is another node. */
const limitFailures = Effect.fnUntraced(function* (
  choice: NodeChoice,
  failing: Ref.Ref<number | null>,
  sinceMs: number
) {
  const first = yield* Ref.updateAndGet(failing, (known) => known ?? sinceMs)
  const nowMs = monotonicMs(yield* Clock.Clock)
  if (choice.hasOthers && first !== null && nowMs - first >= FAILING_MS) {
    return yield* new ChainUnavailable({ reason: "unreachable", detail: "accounts cannot be read" })
  }
})

const lost =
  (of: LostConnection["of"]) =>
  <A, R>(effect: Effect.Effect<A, ChainUnavailable, R>): Effect.Effect<A, LostConnection, R> =>
    Effect.mapError(effect, (error) => ({ of, error }))

/** Logs how many accounts are not followed, whenever that number changes. */
const logNotFollowed = (waitsFor: string | undefined) => {
  let before = ""
  return ({ refused, waiting }: NotFollowed): Effect.Effect<void> => {
    const counts = `${refused.length} ${waiting.length}`
    const isKnown = counts === before
    before = counts
    return isKnown
      ? Effect.void
      : Effect.andThen(
          refused.length === 0
            ? Effect.void
            : Effect.logWarning("The node refused to follow accounts", { count: refused.length }),
          waiting.length === 0
            ? Effect.void
            : Effect.logWarning("Accounts wait to be followed", { count: waiting.length, for: waitsFor })
        )
  }
}

/**
 * Follows, unfollows and reads accounts whenever the wanted accounts change. Accounts are followed before they are
 * read, so that no write is missed.
 */
const maintain = Effect.fnUntraced(function* <R>(state: ChainState, chosen: ChosenNode<R>, node: Subscriptions) {
  const { choice } = chosen
  const failing = yield* Ref.make<number | null>(null)
  let first = true
  let admitted = false
  const logLeft = logNotFollowed(node.waitsFor)
  while (true) {
    yield* state.changed.await
    state.changed.closeUnsafe()
    yield* lost("writes")(node.unfollow(state.toUnfollow(node)))
    const left = yield* lost("writes")(node.follow(state.toFollow(node)))
    state.hasFollowed((address) => node.isFollowed(address))
    const readAtMs = monotonicMs(yield* Clock.Clock)
    admitted = admitted || (yield* lost("reads")(limited(chosen)(admit(state, chosen))))
    if (first) {
      first = false
      const firstWrite = choice.hasOthers ? FIRST_WRITE_BESIDE : FIRST_WRITE
      yield* state.clockHeard.await.pipe(Effect.timeoutOption(firstWrite))
    }
    const complete = admitted && (yield* lost("reads")(limited(chosen)(readUnread(state, chosen, node))))
    yield* complete ? Ref.set(failing, null) : lost("reads")(limitFailures(choice, failing, readAtMs))
    yield* report(state)
    yield* logLeft(left)
    if (left.refused.length + left.waiting.length > 0 || !complete) {
      yield* Effect.sleep(Duration.millis(PAUSE_MS * (yield* Random.nextBetween(0.5, 1.5))))
      state.changed.openUnsafe()
    }
  }
})

/** Fails when no new slot has arrived for too long. */
const watch = Effect.fnUntraced(function* (state: ChainState, watchdog: Duration.Duration) {
  const limitMs = Duration.toMillis(watchdog)
  const check = Effect.suspend(() => {
    const silentMs = state.silentMs()
    if (silentMs < limitMs) {
      return Effect.sleep(Duration.millis(limitMs - silentMs))
    }
    state.heard.fallSilent()
    return Effect.fail(new ChainUnavailable({ reason: "timeout", detail: `no slot in ${Duration.format(watchdog)}` }))
  })
  return yield* Effect.forever(check)
})

/** Fails when another node is far ahead, even though this connection still delivers slots. */
const watchLag = <R>(
  state: ChainState,
  { choice, node, rpcOf, source }: ChosenNode<R>
): Effect.Effect<never, ChainUnavailable> => {
  const others = source.others(node)
  const compared = { host: source.host(node), slot: Effect.sync(() => state.heard.slot) }
  return others.length > 0
    ? Effect.sleep(COMPARED_EVERY).pipe(
        Effect.andThen(compareWithOthers(choice, rpcOf, others, compared)),
        Effect.forever
      )
    : Effect.never
}

/** Follows the chain until the connection is lost. */
export const followChain = Effect.fnUntraced(
  function* <R>(
    state: ChainState,
    chosen: ChosenNode<R>,
    settings: RpcSettings
  ): Effect.fn.Return<never, LostConnection, Scope.Scope | R> {
    const { choice, node, rpc, source } = chosen
    if (choice.hasOthers) {
      // Check before the first notification: a slot of another chain would make every node of the known chain look
      // late.
      yield* lost("reads")(limited(chosen)(admitNode(state, choice, node, rpc)))
    }
    const writes = yield* lost("writes")(source.open(node, state, settings))
    state.connect(writes)
    const hasOthers = source.others(node).length > 0
    const watchdog = hasOthers ? Duration.min(settings.watchdog, FAIL_OVER) : settings.watchdog
    return yield* Effect.raceAllFirst([
      lost("writes")(writes.closed),
      lost("writes")(watch(state, watchdog)),
      lost("writes")(watchLag(state, chosen)),
      maintain(state, chosen, writes)
    ])
  },
  (effect, state) =>
    Effect.ensuring(
      effect,
      Effect.sync(() => state.disconnect())
    )
)

/** Emits the arrived writes once no more arrive. Where the source reports slots, only those of reported slots. */
export const settleWhenQuiet = (state: ChainState): Effect.Effect<never> =>
  Effect.forever(
    Effect.gen(function* () {
      yield* state.arrived.await
      state.arrived.closeUnsafe()
      let seen = -1
      while (seen !== state.arrivals) {
        seen = state.arrivals
        yield* Effect.sleep(QUIET)
      }
      state.settleQuiet()
    })
  )
