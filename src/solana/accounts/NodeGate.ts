/** The decision to use a node: its chain and its slot are compared with what is known. */
import { Effect, Option } from "effect"
import { ChainUnavailable } from "./ChainFeed.ts"
import type { ChainState } from "./ChainState.ts"
import type { NodeChoice } from "../rpc/NodeChoice.ts"
import { genesisOf, LAG_SLOTS } from "../rpc/nodeLag.ts"
import type { RpcNode } from "../rpc/rpcSettings.ts"
import type { SolanaRpc } from "../rpc/SolanaRpc.ts"

/** Fails with the difference when the node may not be used for the known chain. Its slot is null when it is not known. */
export const admitNode = Effect.fnUntraced(function* (
  state: ChainState,
  choice: NodeChoice,
  node: RpcNode,
  rpc: SolanaRpc["Service"]
): Effect.fn.Return<void, ChainUnavailable> {
  const { host } = node
  const genesis = yield* genesisOf(rpc)
  const verdict = choice.identify(node, genesis)
  if (verdict === "foreign") {
    return yield* new ChainUnavailable({ reason: "unreachable", detail: `${host} serves another chain: ${genesis}` })
  }
  if (verdict === "anew") {
    yield* Effect.logWarning("The node serves another chain: the account state begins anew", { node: host, genesis })
    state.startAnew()
    return
  }
  const known = state.committedSlot
  const slot = Option.getOrNull(yield* Effect.option(rpc.getSlot()))
  if (slot === null || slot + LAG_SLOTS >= known) {
    return
  }
  if (choice.hasOthers) {
    return yield* new ChainUnavailable({ reason: "unreachable", detail: `${host} is at slot ${slot}, behind ${known}` })
  }
  yield* Effect.logWarning("The node lags and is not read until it has caught up", { node: host, slot, known })
})
