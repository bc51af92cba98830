import { type Config, Effect, Layer, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { Address } from "../../domain/Address.ts"
import type { Signature } from "../../domain/Signature.ts"
import { ChainUnavailable } from "../accounts/ChainFeed.ts"
import { blockCommitment } from "../Commitment.ts"
import { NodeChoice } from "./NodeChoice.ts"
import { makeRpcCall } from "./rpcHttp.ts"
import { type RpcOptions, rpcSettings } from "./rpcSettings.ts"
import { failingOver } from "./SolanaRpcHttp.ts"
import { type HistoryRequest, ListedTransaction, TransactionHistory } from "./TransactionHistory.ts"

const decodeList = Schema.decodeUnknownEffect(Schema.Array(ListedTransaction))
const decodeGenesis = Schema.decodeUnknownEffect(Address)

const invalid = (method: string, detail = "an unexpected result") =>
  new ChainUnavailable({ reason: "invalid", detail: `${method}: ${detail}` })

/** True where no transaction is in a later slot than the one before it. */
const isNewestFirst = (list: ReadonlyArray<ListedTransaction>): boolean =>
  list.every(({ slot }, index) => index === 0 || slot <= (list[index - 1]?.slot ?? 0))

const make = Effect.fnUntraced(function* (options: RpcOptions) {
  const settings = yield* rpcSettings(options)
  const call = yield* makeRpcCall(settings, failingOver(new NodeChoice(settings.nodes)))
  const commitment = blockCommitment(settings.commitment)

  const list = Effect.fn("TransactionHistory.list")(function* ({ address, before, limit, until }: HistoryRequest) {
    const method = "getSignaturesForAddress"
    const range = { ...(before !== null && { before }), ...(until !== null && { until }) }
    const answer = yield* call(method, [address, { commitment, limit, ...range }])
    const found = yield* Effect.mapError(decodeList(answer), () => invalid(method))
    return found.length <= limit && isNewestFirst(found)
      ? found
      : yield* invalid(method, "transactions out of order or more than the limit")
  })

  return TransactionHistory.of({
    genesis: Effect.flatMap(call("getGenesisHash", []), (answer) =>
      Effect.mapError(decodeGenesis(answer), () => invalid("getGenesisHash"))
    ),
    list,
    read: Effect.fn("TransactionHistory.read")((signature: Signature) =>
      call("getTransaction", [signature, { commitment, encoding: "json", maxSupportedTransactionVersion: 0 }])
    )
  })
})

/** Reads from the nodes at `SOLANA_RPC_URL`, or those the options name: the first, and the next one whenever it fails. */
export const layer = (
  options: RpcOptions = {}
): Layer.Layer<TransactionHistory, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.effect(TransactionHistory, make(options))
