/** A feed of simulated nodes, over real sockets. The chains of the nodes advance together. */
import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { Context, Duration, Effect, Layer, Ref, References } from "effect"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import { readFeed, until } from "./accounts.ts"

const START_MS = 1_790_000_000_000

/** A simulated node. Nodes with the same seed and start have the same chain as long as they make the same slots. */
export const simulatedNode = (seed = "nodes", startUnixMs = START_MS) =>
  Effect.map(Layer.build(Simulator.layer({ seed, speed: 0, swapsPerSecond: 60, startUnixMs })), (built) =>
    Context.get(built, Simulator)
  )

type Node = Simulator["Service"]

const sockets = Layer.mergeAll(
  NodeHttpClient.layerUndici,
  NodeSocket.layerWebSocketConstructor,
  Layer.succeed(References.MinimumLogLevel, "None")
)

/** Makes a slot on each of these nodes every 100 ms. */
export const advancing = Effect.fnUntraced(function* (nodes: ReadonlyArray<Node>) {
  const moving = yield* Ref.make(nodes)
  yield* Ref.get(moving).pipe(
    Effect.flatMap(Effect.forEach((node) => node.advance(1))),
    Effect.andThen(Effect.sleep("100 millis")),
    Effect.forever,
    Effect.forkScoped
  )
  return moving
})

/** A live feed of the pools' accounts on these nodes, in order of preference. */
export const liveFeed = Effect.fnUntraced(function* (nodes: ReadonlyArray<Node>, watchdog = Duration.seconds(10)) {
  const options = {
    rpcUrl: nodes.map(({ rpcUrl }) => rpcUrl).join(","),
    wsUrl: nodes.map(({ wsUrl }) => wsUrl).join(","),
    watchdog
  }
  const built = yield* Layer.build(ChainFeedRpc.layer(options).pipe(Layer.provide(sockets)))
  const feed = Context.get(built, ChainFeed)
  const reader = yield* readFeed(feed)
  const pools = nodes[0]?.pools().map(({ address }) => address) ?? []
  yield* feed.watch(pools)
  yield* until("the feed is live", () => feed.freshness().state === "live" && reader.known.size === pools.length)
  return { feed, reader, pools }
})

/** Host and port of a node, as the feed names it. */
export const hostOf = ({ rpcUrl }: Node): string => new URL(rpcUrl).host
