/** One connection's life: follow what is wanted, read it, and give up when the node falls silent. */
import { Clock, Duration, Effect, Metric, Random, type Scope } from "effect"
import type { Socket } from "effect/socket"
import { ChainUnavailable } from "./ChainFeed.ts"
import type { ChainState } from "./ChainState.ts"
import type { RpcSettings } from "../rpc/rpcSettings.ts"
import type { SolanaRpc } from "../rpc/SolanaRpc.ts"
import { openSubscriptions, type Subscriptions } from "./subscriptions.ts"

/** How long nothing may arrive before what has arrived counts as all of its slot. */
const QUIET = Duration.millis(20)
/** How long the first read of a connection waits to hear which slot its writes begin at. */
const FIRST_WRITE = Duration.seconds(1)
/** Before what failed is tried again on the same connection. */
const PAUSE_MS = 1000

const malformedCount = Metric.counter("chain_malformed", {
  description: "Accounts and notifications that made no sense.",
  incremental: true
})
const overflowCount = Metric.counter("chain_overflows", {
  description: "How often the reader of the chain was too slow and was told everything anew.",
  incremental: true
})

const report = Effect.fnUntraced(function* (state: ChainState) {
  const { malformed, overflows } = state.takeTroubles()
  if (malformed > 0) {
    yield* Metric.update(malformedCount, malformed)
    yield* Effect.logWarning("The node sent what makes no sense", { count: malformed })
  }
  if (overflows > 0) {
    yield* Metric.update(overflowCount, overflows)
    yield* Effect.logWarning("The reader of the chain is too slow and was told everything anew")
  }
})

/** Reads what has to be read and is followed; false when something could not be. */
const readUnread = Effect.fnUntraced(
  function* (state: ChainState, rpc: SolanaRpc["Service"], node: Subscriptions) {
    const unread = Array.from(state.unread()).filter(([address]) => node.isFollowed(address))
    if (unread.length === 0) {
      return true
    }
    const asked = new Map(unread)
    const { states, malformed } = yield* rpc.getMultipleAccounts(Array.from(asked.keys()), {
      minContextSlot: state.committedSlot === 0 ? undefined : state.committedSlot
    })
    state.answer(asked, states, malformed.length)
    return malformed.length === 0
  },
  Effect.catchTag("ChainUnavailable", ({ reason, detail }) =>
    Effect.as(Effect.logWarning("Accounts could not be read", { reason, detail }), false)
  )
)

/** Does what is wanted, whenever it changes. Accounts are followed before they are read, so that no write is missed. */
const tend = Effect.fnUntraced(function* (state: ChainState, rpc: SolanaRpc["Service"], node: Subscriptions) {
  let first = true
  while (true) {
    yield* state.changed.await
    state.changed.closeUnsafe()
    yield* node.unfollow(Array.from(node.followed()).filter((address) => !state.isFollowed(address)))
    const refused = yield* node.follow(state.followed().filter((address) => !node.isFollowed(address)))
    if (first) {
      first = false
      yield* state.clockHeard.await.pipe(Effect.timeoutOption(FIRST_WRITE))
    }
    const complete = yield* readUnread(state, rpc, node)
    yield* report(state)
    if (refused.length > 0) {
      yield* Effect.logWarning("The node refused to follow accounts", { count: refused.length })
    }
    if (refused.length > 0 || !complete) {
      yield* Effect.sleep(Duration.millis(PAUSE_MS * (yield* Random.nextBetween(0.5, 1.5))))
      state.changed.openUnsafe()
    }
  }
})

/** Fails when no new slot has been heard for too long. */
const watch = Effect.fnUntraced(function* (state: ChainState, watchdog: Duration.Duration) {
  const sinceMs = yield* Clock.currentTimeMillis
  const limitMs = Duration.toMillis(watchdog)
  while (true) {
    const silentMs = state.silentMs(sinceMs)
    if (silentMs >= limitMs) {
      return yield* new ChainUnavailable({ reason: "timeout", detail: `no slot in ${Duration.format(watchdog)}` })
    }
    yield* Effect.sleep(Duration.millis(limitMs - silentMs))
  }
})

/** Follows the chain until the connection is lost, which is its only end. */
export const followChain = Effect.fnUntraced(
  function* (
    state: ChainState,
    rpc: SolanaRpc["Service"],
    settings: RpcSettings
  ): Effect.fn.Return<never, ChainUnavailable, Scope.Scope | Socket.WebSocketConstructor> {
    const node = yield* openSubscriptions(settings, state)
    state.connect()
    return yield* Effect.raceAllFirst([node.closed, watch(state, settings.watchdog), tend(state, rpc, node)])
  },
  (effect, state) =>
    Effect.ensuring(
      effect,
      Effect.sync(() => state.disconnect())
    )
)

/** Tells what has arrived once nothing more does, for nodes that do not say when a slot has ended. */
export const settleWhenQuiet = Effect.fnUntraced(function* (state: ChainState) {
  while (true) {
    yield* state.arrived.await
    state.arrived.closeUnsafe()
    let heard = -1
    while (heard !== state.arrivals) {
      heard = state.arrivals
      yield* Effect.sleep(QUIET)
    }
    state.settle(Infinity)
  }
})
