/** How far a node lags behind the other nodes. Its own connection does not show that. */
import { Duration, Effect } from "effect"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { NodeChoice } from "./NodeChoice.ts"
import type { RpcNode } from "./rpcSettings.ts"
import type { SolanaRpc } from "./SolanaRpc.ts"

/** A node that lags by more slots than this is not used while there is another node. */
export const LAG_SLOTS = 16
/** How often the slots of the other nodes are read. */
export const COMPARED_EVERY: Duration.Duration = Duration.seconds(2)
const ANSWER_LIMIT = Duration.seconds(1)

/** The genesis hash of a node's chain; null when the node answers without one, for lack of the method. */
export const genesisOf = (
  rpc: Pick<SolanaRpc["Service"], "getGenesisHash">
): Effect.Effect<string | null, ChainUnavailable> =>
  rpc.getGenesisHash().pipe(
    Effect.catchIf(
      ({ reason }) => reason === "invalid",
      () => Effect.succeed(null)
    )
  )

/** The slot of a node; 0 when the node serves another chain or does not answer in time. */
const slotOf = (choice: NodeChoice, rpc: SolanaRpc["Service"]): Effect.Effect<number> =>
  genesisOf(rpc).pipe(
    Effect.flatMap((genesis) => (choice.isKnown(genesis) ? rpc.getSlot() : Effect.succeed(0))),
    Effect.timeoutOrElse({ duration: ANSWER_LIMIT, orElse: () => Effect.succeed(0) }),
    Effect.orElseSucceed(() => 0)
  )

/** The slot of a node, without a look at its chain; infinite when it does not answer in time, which other calls notice. */
export const ownSlot = (rpc: Pick<SolanaRpc["Service"], "getSlot">): Effect.Effect<number> =>
  rpc.getSlot().pipe(
    Effect.timeoutOrElse({ duration: ANSWER_LIMIT, orElse: () => Effect.succeed(Number.POSITIVE_INFINITY) }),
    Effect.orElseSucceed(() => Number.POSITIVE_INFINITY)
  )

/**
 * Fails when another node of the known chain is more than `LAG_SLOTS` ahead of this host. Its slot is read last, so
 * that slow answers of the others do not count against it.
 */
export const compareWithOthers = Effect.fnUntraced(function* (
  choice: NodeChoice,
  rpcOf: (node: RpcNode) => SolanaRpc["Service"],
  others: ReadonlyArray<RpcNode>,
  { host, slot }: { readonly host: string; readonly slot: Effect.Effect<number> }
): Effect.fn.Return<void, ChainUnavailable> {
  const slots = yield* Effect.forEach(others, (other) => slotOf(choice, rpcOf(other)), { concurrency: "unbounded" })
  const newest = Math.max(0, ...slots)
  const own = yield* slot
  if (own + LAG_SLOTS < newest) {
    const detail = `${host} is at slot ${own}, behind ${newest}`
    return yield* new ChainUnavailable({ reason: "unreachable", detail })
  }
})
