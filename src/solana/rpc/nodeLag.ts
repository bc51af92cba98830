/** The lag of a node behind the others, which its own connection does not show. */
import { Duration, Effect } from "effect"
import { ChainUnavailable } from "../accounts/ChainFeed.ts"
import type { NodeChoice } from "./NodeChoice.ts"
import type { RpcNode } from "./rpcSettings.ts"
import type { SolanaRpc } from "./SolanaRpc.ts"

/** A node further behind than this is not used while there is another. */
export const LAG_SLOTS = 16
/** The interval at which the slots of the other nodes are read. */
export const COMPARED_EVERY: Duration.Duration = Duration.seconds(2)
const ANSWER_LIMIT = Duration.seconds(1)

/** The hash of a node's chain; null when the node answers without it, as one that does not offer the method. */
export const genesisOf = (
  rpc: Pick<SolanaRpc["Service"], "getGenesisHash">
): Effect.Effect<string | null, ChainUnavailable> =>
  rpc.getGenesisHash().pipe(
    Effect.catchIf(
      ({ reason }) => reason === "invalid",
      () => Effect.succeed(null)
    )
  )

/** The slot of a node of the known chain; 0 for one of another chain, or without an answer in time. */
const slotOf = (choice: NodeChoice, rpc: SolanaRpc["Service"]): Effect.Effect<number> =>
  genesisOf(rpc).pipe(
    Effect.flatMap((genesis) => (choice.isKnown(genesis) ? rpc.getSlot() : Effect.succeed(0))),
    Effect.timeoutOrElse({ duration: ANSWER_LIMIT, orElse: () => Effect.succeed(0) }),
    Effect.orElseSucceed(() => 0)
  )

/** Fails when one of the other nodes is so many slots of the known chain ahead of this host. */
export const compareWithOthers = Effect.fnUntraced(function* (
  choice: NodeChoice,
  rpcOf: (node: RpcNode) => SolanaRpc["Service"],
  others: ReadonlyArray<RpcNode>,
  { host, slot }: { readonly host: string; readonly slot: () => number }
): Effect.fn.Return<void, ChainUnavailable> {
  const slots = yield* Effect.forEach(others, (other) => slotOf(choice, rpcOf(other)), { concurrency: "unbounded" })
  const newest = Math.max(0, ...slots)
  if (slot() + LAG_SLOTS < newest) {
    const detail = `${host} is at slot ${slot()}, behind ${newest}`
    return yield* new ChainUnavailable({ reason: "unreachable", detail })
  }
})
