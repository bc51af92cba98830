/** Reads the accounts over HTTP while they cannot be followed. Quotes then go on with the state of one slot. */
import { Duration, Effect } from "effect"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { ChainState } from "./ChainState.ts"
import { admitNode } from "./NodeGate.ts"
import { readAtOneSlot } from "./readAtOneSlot.ts"
import type { NodeChoice } from "../rpc/NodeChoice.ts"
import type { RpcNode } from "../rpc/rpcSettings.ts"
import type { SolanaRpc } from "../rpc/SolanaRpc.ts"

/** How often to check whether polling is needed. */
const TICK = Duration.millis(250)
/** The shortest pause between two polls. After a longer poll the pause is as long as the poll. */
const PAUSE = Duration.seconds(1)

/** The nodes to poll. */
export interface PolledNodes {
  readonly choice: NodeChoice
  readonly rpcOf: (node: RpcNode) => SolanaRpc["Service"]
  /** Runs when a node is first read in an outage. */
  readonly onUse: (node: RpcNode) => Effect.Effect<void>
}

/** Reads every followed account at one slot. */
const poll = Effect.fnUntraced(function* (state: ChainState, rpc: SolanaRpc["Service"]) {
  const { malformed, slot, states } = yield* readAtOneSlot(rpc, state.own(), state.committedSlot)
  if (malformed.values().some((address) => state.isKnown(address))) {
    return yield* new ChainUnavailable({ reason: "invalid", detail: "a known account in an invalid form" })
  }
  state.adopt(slot, states)
})

/** Polls one node until the accounts are followed again, or the node fails. */
const pollNode = Effect.fnUntraced(function* (state: ChainState, nodes: PolledNodes, node: RpcNode) {
  const rpc = nodes.rpcOf(node)
  yield* admitNode(state, nodes.choice, node, rpc)
  yield* nodes.onUse(node)
  while (state.needsPolling()) {
    const [took] = yield* Effect.timed(poll(state, rpc))
    yield* Effect.sleep(Duration.max(PAUSE, took))
  }
})

/** Polls while the accounts are not followed, one node after the other. */
export const pollWhileAway = Effect.fnUntraced(function* (
  state: ChainState,
  nodes: PolledNodes
): Effect.fn.Return<never> {
  const all = nodes.choice.nodes
  let at = 0
  while (true) {
    yield* Effect.sleep(TICK)
    if (!state.needsPolling()) {
      at = Math.max(0, all.indexOf(nodes.choice.current))
      continue
    }
    const node = all[at % all.length] ?? all[0]
    yield* pollNode(state, nodes, node).pipe(
      Effect.catch(({ detail, reason }) => {
        at += 1
        return Effect.logWarning("The accounts could not be polled", { node: node.host, reason, detail }).pipe(
          Effect.andThen(at % all.length === 0 ? Effect.sleep(PAUSE) : Effect.void)
        )
      })
    )
  }
})
