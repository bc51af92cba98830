import { type Config, Effect, Layer, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { Address } from "../../domain/Address.ts"
import { blockCommitment } from "../Commitment.ts"
import { NodeChoice } from "./NodeChoice.ts"
import { decodeAnswer, makeRpcCall, unexpected } from "./rpcHttp.ts"
import { type RpcOptions, rpcSettings } from "./rpcSettings.ts"
import { failingOver } from "./SolanaRpcHttp.ts"
import { type OwnedRequest, TokenAccounts } from "./TokenAccounts.ts"

const METHOD = "getTokenAccountsByOwner"

const decode = decodeAnswer(
  METHOD,
  Schema.Struct({
    context: Schema.Struct({ slot: Schema.Int }),
    value: Schema.Array(
      Schema.Struct({
        pubkey: Address,
        account: Schema.Struct({ data: Schema.Tuple([Schema.String, Schema.Literal("base64")]) })
      })
    )
  })
)

/** JSON numbers are exact up to 2^53 - 1, about 9 million SOL. A greater balance fails as invalid instead of being rounded. */
const decodeBalance = decodeAnswer(
  "getBalance",
  Schema.Struct({ context: Schema.Struct({ slot: Schema.Int }), value: Schema.Int })
)

const make = Effect.fnUntraced(function* (options: RpcOptions) {
  const settings = yield* rpcSettings(options)
  const call = yield* makeRpcCall(settings, failingOver(new NodeChoice(settings.nodes)))
  const commitment = blockCommitment(settings.commitment)

  const ofOwner = Effect.fn("TokenAccounts.ofOwner")(function* ({ length, maxBytes, owner, program }: OwnedRequest) {
    const config = { commitment, encoding: "base64", dataSlice: { offset: 0, length } }
    const { context, value } = yield* Effect.flatMap(
      call(METHOD, [owner, { programId: program }, config], undefined, maxBytes),
      decode
    )
    const accounts = value.map(({ account }) => new Uint8Array(Buffer.from(account.data[0], "base64")))
    const isWhole = accounts.every((data) => data.length === length)
    return isWhole && new Set(value.map(({ pubkey }) => pubkey)).size === value.length
      ? { slot: context.slot, accounts }
      : yield* unexpected(METHOD, "accounts that are cut off or listed twice")
  })

  const lamportsOf = Effect.fn("TokenAccounts.lamportsOf")(function* (owner: Address) {
    const { context, value } = yield* Effect.flatMap(call("getBalance", [owner, { commitment }]), decodeBalance)
    return { slot: context.slot, lamports: BigInt(value) }
  })

  return TokenAccounts.of({ ofOwner, lamportsOf })
})

/** Reads from the nodes at `SOLANA_RPC_URL`, or of the options: the first, and the next one whenever it fails. */
export const layer = (
  options: RpcOptions = {}
): Layer.Layer<TokenAccounts, Config.ConfigError, HttpClient.HttpClient> => Layer.effect(TokenAccounts, make(options))
