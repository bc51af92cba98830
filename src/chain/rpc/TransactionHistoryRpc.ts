import { type Config, Effect, Layer, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { Address } from "../../domain/Address.ts"
import type { Signature } from "../../domain/Signature.ts"
import { blockCommitment } from "../Commitment.ts"
import { NodeChoice } from "./NodeChoice.ts"
import { decodeAnswer, makeRpcCall, unexpected } from "./rpcHttp.ts"
import { type RpcOptions, rpcSettings } from "./rpcSettings.ts"
import { failingOver } from "./SolanaRpcHttp.ts"
import { type HistoryRequest, ListedTransaction, TransactionHistory } from "./TransactionHistory.ts"

const LIST = "getSignaturesForAddress"
const GENESIS = "getGenesisHash"
const decodeList = decodeAnswer(LIST, Schema.Array(ListedTransaction))
const decodeGenesis = decodeAnswer(GENESIS, Address)

/** True when no transaction has a later slot than its predecessor. */
const isNewestFirst = (list: ReadonlyArray<ListedTransaction>): boolean =>
  list.every(({ slot }, index) => index === 0 || slot <= (list[index - 1]?.slot ?? 0))

const make = Effect.fnUntraced(function* (options: RpcOptions) {
  const settings = yield* rpcSettings(options)
  const call = yield* makeRpcCall(settings, failingOver(new NodeChoice(settings.nodes)))
  const commitment = blockCommitment(settings.commitment)

  const list = Effect.fn("TransactionHistory.list")(function* ({ address, before, limit, until }: HistoryRequest) {
    const range = { ...(before !== null && { before }), ...(until !== null && { until }) }
    const found = yield* Effect.flatMap(call(LIST, [address, { commitment, limit, ...range }]), decodeList)
    return found.length <= limit && isNewestFirst(found)
      ? found
      : yield* unexpected(LIST, "transactions out of order or more than the limit")
  })

  return TransactionHistory.of({
    genesis: Effect.flatMap(call(GENESIS, []), decodeGenesis),
    list,
    read: Effect.fn("TransactionHistory.read")((signature: Signature) =>
      call("getTransaction", [signature, { commitment, encoding: "json", maxSupportedTransactionVersion: 0 }])
    )
  })
})

/** Reads from the nodes at `SOLANA_RPC_URL`, or of the options: the first, and the next one whenever it fails. */
export const layer = (
  options: RpcOptions = {}
): Layer.Layer<TransactionHistory, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.effect(TransactionHistory, make(options))
