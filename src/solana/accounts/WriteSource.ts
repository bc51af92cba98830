import type { Effect, Scope } from "effect"
import type { RpcNode, RpcSettings } from "../rpc/rpcSettings.ts"
import type { ChainUnavailable } from "./ChainFeed.ts"
import type { ChainState } from "./ChainState.ts"
import type { Subscriptions } from "./subscriptions.ts"

/** The source of the writes of followed accounts, beside the node that accounts are read from. */
export interface WriteSource<R> {
  /** Opens a connection, with the state as its listener. */
  readonly open: (
    node: RpcNode,
    state: ChainState,
    settings: RpcSettings
  ) => Effect.Effect<Subscriptions, ChainUnavailable, Scope.Scope | R>
  /** Nodes whose slots show that the connection lags; none where it is the only one. */
  readonly others: (node: RpcNode) => ReadonlyArray<RpcNode>
  /** Host of the connection beside this node, for logs and probes. */
  readonly host: (node: RpcNode) => string
  /** The connection failed: the next one is tried. */
  readonly leave: (node: RpcNode) => void
}

/** The loss of a connection: of the stream of writes, or of the node that accounts are read from. */
export interface LostConnection {
  readonly of: "writes" | "reads"
  readonly error: ChainUnavailable
}
