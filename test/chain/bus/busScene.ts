/** Feeds of several processes over one bus, next to a scripted node. */
import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { Context, Duration, Effect, Exit, Fiber, Layer, References, Scope } from "effect"
import { ACCOUNT_BOUNDS, AccountBus } from "../../../src/storage/bus/AccountBus.ts"
import * as MemoryAccountBus from "../../support/memoryAccountBus.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import { AccountRelay } from "../../../src/chain/accounts/AccountRelay.ts"
import * as ChainFeedBus from "../../../src/chain/bus/ChainFeedBus.ts"
import * as PublishAccounts from "../../../src/chain/bus/publishAccounts.ts"
import { type FakeNode, startNode } from "../../support/FakeNode.ts"
import { at, clockOf, holding, readFeed, until } from "../accounts/accounts.ts"
import { GENESIS } from "../accounts/memoryNodes.ts"

// The feeds log warnings about what these tests do to them.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")
const services = Layer.mergeAll(NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor, quiet)

export const A = at(1)
export const B = at(2)
export const C = at(3)

/** Name of the writes on the bus. */
export const CHAIN = PublishAccounts.chainName(GENESIS, "confirmed")

/** A bus in memory. Its leases end after a while without a renewal. */
export const memoryBus = (leaseMs = ACCOUNT_BOUNDS.leaseMs) => MemoryAccountBus.layer({ ...ACCOUNT_BOUNDS, leaseMs })

/** A node at slot 100 that keeps writing its clock. */
export const startChain = Effect.fnUntraced(function* (accounts: ReadonlyArray<OnChainAccount>) {
  const node = yield* Effect.orDie(startNode)
  node.genesis = GENESIS
  node.put(clockOf(7, 1_700_000_000), ...accounts)
  yield* Effect.sync(() => node.write(node.slot, clockOf(7, 1_700_000_000, node.slot))).pipe(
    Effect.andThen(Effect.sleep("40 millis")),
    Effect.forever,
    Effect.forkScoped
  )
  return node
})

type Bus = AccountBus["Service"]

/** A process that reads the node and fills the bus. */
export const startLeader = Effect.fnUntraced(function* ({ rpcUrl, wsUrl }: FakeNode, bus: Bus) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const relayed = PublishAccounts.layer("confirmed").pipe(Layer.provide(Layer.succeed(AccountBus, bus)))
  const layer = ChainFeedRpc.layer({ rpcUrl, wsUrl, watchdog: Duration.minutes(1) }).pipe(
    Layer.provideMerge(Layer.fresh(relayed)),
    Layer.provide(services)
  )
  const context = yield* Effect.orDie(Scope.provide(Layer.build(Layer.fresh(layer)), scope))
  const relay = Context.get(context, AccountRelay)
  const leading = yield* Effect.forkIn(relay === null ? Effect.never : relay.lead(GENESIS), scope)
  return {
    feed: Context.get(context, ChainFeed),
    /** Ends when the bus refuses an append. */
    overtaken: Effect.flip(Fiber.join(leading)),
    end: Scope.close(scope, Exit.void)
  }
})

/** The feed of a process that follows the bus. */
export const followerOf = ({ rpcUrl }: FakeNode, bus: Layer.Layer<AccountBus>, log: Layer.Layer<never> = quiet) =>
  Layer.fresh(ChainFeedBus.layer("bus", { rpcUrl, watchdog: Duration.minutes(1) })).pipe(
    Layer.provide([bus, NodeHttpClient.layerUndici, log])
  )

/** A process that follows the bus and watches these accounts. */
export const startFollower = Effect.fnUntraced(function* (
  node: FakeNode,
  bus: Bus,
  watched: ReadonlyArray<OnChainAccount["address"]>,
  log: Layer.Layer<never> = quiet
) {
  const feed = Context.get(yield* Layer.build(followerOf(node, Layer.succeed(AccountBus, bus), log)), ChainFeed)
  const reader = yield* readFeed(feed)
  yield* feed.watch(watched)
  yield* until("the accounts are emitted", () => reader.known.size === watched.length)
  return { feed, reader }
})

/** A node, the bus, and a process that fills it. */
export const scene = <E, R>(
  body: (scene: {
    readonly node: FakeNode
    readonly bus: Bus
    readonly leader: Effect.Success<ReturnType<typeof startLeader>>
  }) => Effect.Effect<void, E, R>,
  bus: Layer.Layer<AccountBus> = memoryBus(),
  change: (bus: Bus) => Partial<Bus> = () => ({})
) =>
  Effect.gen(function* () {
    const node = yield* startChain([holding(A, [0]), holding(B, [0]), holding(C, [0])])
    yield* Effect.gen(function* () {
      const own = Context.get(yield* Layer.build(bus), AccountBus)
      const leader = yield* startLeader(node, AccountBus.of({ ...own, ...change(own) }))
      yield* body({ node, bus: own, leader })
      // The node waits for its connections to end.
    }).pipe(Effect.scoped)
  }).pipe(Effect.scoped)
