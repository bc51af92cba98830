/** A feed of a scripted node, over real sockets. */
import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { Duration, Effect, Layer, References } from "effect"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import type { RpcOptions } from "../../../src/chain/rpc/rpcSettings.ts"
import { type FakeNode, startNode } from "../../support/FakeNode.ts"
import { at, clockOf, holding, readFeed, type Reader, until } from "./accounts.ts"

// The feed logs warnings about what these tests do to it.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")

const sockets = Layer.mergeAll(NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor, quiet)

/** A feed of the node. It does not reconnect after a silence, which would repair the faults under test. */
export const feedOf = ({ rpcUrl, wsUrl }: FakeNode, options: RpcOptions = {}) =>
  ChainFeedRpc.layer({ rpcUrl, wsUrl, watchdog: Duration.minutes(1), ...options }).pipe(Layer.provide(sockets))

/** A node whose chain has these accounts and a clock, at slot 100. */
export const nodeWith = Effect.fnUntraced(function* (accounts: ReadonlyArray<OnChainAccount>) {
  const node = yield* startNode
  node.put(clockOf(7, 1_700_000_000), ...accounts)
  return node
})

export const A = at(1)
export const B = at(2)
export const C = at(3)

/** A node, its feed, and a reader of the feed. */
export interface Scene {
  readonly node: FakeNode
  readonly feed: ChainFeed["Service"]
  readonly reader: Reader
}

/** A feed that watches A and B and has emitted their first states. */
export const scene = <A1, E, R>(
  body: (scene: Scene) => Effect.Effect<A1, E, R>,
  options: RpcOptions = {},
  prepare: (node: FakeNode) => void = () => {}
) =>
  Effect.gen(function* () {
    const node = yield* nodeWith([holding(A, [0]), holding(B, [0])])
    prepare(node)
    return yield* Effect.gen(function* () {
      const feed = yield* ChainFeed
      const reader = yield* readFeed(feed)
      yield* feed.watch([A, B])
      yield* until("A and B are emitted", () => reader.known.size === 2)
      return yield* body({ node, feed, reader })
    }).pipe(Effect.provide(feedOf(node, options)))
  })

/** An account as a node spells it. */
export const json = ({ owner, lamports, data }: OnChainAccount) => ({
  owner,
  lamports: Number(lamports),
  data: [Buffer.from(data).toString("base64"), "base64"],
  space: data.length
})
