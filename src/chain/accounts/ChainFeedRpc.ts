import { type Config, Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import type { Socket } from "effect/socket"
import { AccountRelay } from "./AccountRelay.ts"
import type { NodeChoice } from "../rpc/NodeChoice.ts"
import { type RpcOptions, rpcSettings } from "../rpc/rpcSettings.ts"
import { ChainFeed } from "../ChainFeed.ts"
import { makeChainFeed } from "./makeChainFeed.ts"
import { spreadSubscriptions } from "./spreadSubscriptions.ts"
import type { WriteSource } from "./WriteSource.ts"

/** Writes from WebSockets of the same node that accounts are read from. */
const nodeWrites = (choice: NodeChoice): WriteSource<Socket.WebSocketConstructor> => ({
  open: ({ wsUrl }, state, { commitment, subscriptions, timeout }) =>
    spreadSubscriptions({ wsUrl, timeout, commitment, perSocket: subscriptions }, state),
  others: (node) => choice.nodes.filter((other) => other !== node),
  host: ({ host }) => host,
  leave: (node) => choice.leave(node)
})

/**
 * Follows the nodes at `SOLANA_RPC_URL` and `SOLANA_WS_URL`, or the nodes of the options: one node at a time, the next
 * one when it fails. Builds at once, and connects as soon as a node can be reached.
 */
export const layer = (
  options: RpcOptions = {}
): Layer.Layer<ChainFeed, Config.ConfigError, HttpClient.HttpClient | Socket.WebSocketConstructor> =>
  Layer.effect(
    ChainFeed,
    Effect.gen(function* () {
      const relay = (yield* AccountRelay)?.writes
      return yield* makeChainFeed(yield* rpcSettings(options), nodeWrites, { relay })
    })
  )
