import type { Effect, Scope } from "effect"
import type { RpcNode, RpcSettings } from "../rpc/rpcSettings.ts"
import type { ChainUnavailable } from "../ChainUnavailable.ts"
import type { ChainState } from "./ChainState.ts"
import type { Subscriptions } from "./subscriptions.ts"

/** Where the writes of followed accounts come from. The accounts themselves are read from a node. */
export interface WriteSource<R> {
  /** Opens a connection. The state listens to it. */
  readonly open: (
    node: RpcNode,
    state: ChainState,
    settings: RpcSettings
  ) => Effect.Effect<Subscriptions, ChainUnavailable, Scope.Scope | R>
  /** Nodes whose slots show that the connection lags; none where there is no other node. */
  readonly others: (node: RpcNode) => ReadonlyArray<RpcNode>
  /** Host of the connection that belongs to this node, for logs and probes. */
  readonly host: (node: RpcNode) => string
  /** Goes on to the next connection after a failure. */
  readonly leave: (node: RpcNode) => void
}

/** The loss of a connection: of the stream of writes, or of the node that accounts are read from. */
export interface LostConnection {
  readonly of: "writes" | "reads"
  readonly error: ChainUnavailable
}
