/** Decides whether a node may be used, by its chain and its slot. */
import { Effect, Option } from "effect"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { ChainState } from "./ChainState.ts"
import type { NodeChoice } from "../rpc/NodeChoice.ts"
import { genesisOf, LAG_SLOTS } from "../rpc/nodeLag.ts"
import type { RpcNode } from "../rpc/rpcSettings.ts"
import type { SolanaRpc } from "../rpc/SolanaRpc.ts"

/** Fails when the node may not be used for the known chain. A node that does not state its slot is admitted. */
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
  if (verdict === "replaced") {
    yield* Effect.logWarning("The node serves another chain: the account state is reset", { node: host, genesis })
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
