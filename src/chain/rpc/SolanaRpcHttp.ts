import { Array, type Config, Effect, Layer, Result, Schema } from "effect"
import type { HttpClient } from "effect/http"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address } from "../../domain/Address.ts"
import { accountFromJson, Slot } from "./accountJson.ts"
import type { AccountState } from "../AccountState.ts"
import type { ProgramQuery } from "../ChainFeed.ts"
import type { ChainUnavailable } from "../ChainUnavailable.ts"
import { NodeChoice } from "./NodeChoice.ts"
import { type CallTarget, decodeAnswer, makeRpcCall, unexpected } from "./rpcHttp.ts"
import { type RpcOptions, type RpcSettings, rpcSettings } from "./rpcSettings.ts"
import { blockCommitment } from "../Commitment.ts"
import { type AccountsRead, type ReadOptions, SolanaRpc } from "./SolanaRpc.ts"

/** The most accounts of one request. */
const CHUNK = 100
/** Concurrent requests of one read. A long list of accounts leaves room for other reads. */
const CHUNKS_AT_A_TIME = 4

const withContext = <S extends Schema.Constraint>(value: S) =>
  Schema.Struct({ context: Schema.Struct({ slot: Slot }), value })

const OneAccount = withContext(Schema.Unknown)
const ManyAccounts = withContext(Schema.Array(Schema.Unknown))
const ProgramAccounts = withContext(Schema.Array(Schema.Struct({ pubkey: Address, account: Schema.Unknown })))

/** The filters of a query in the form that a node takes. */
export const filtersOf = ({ dataSize, matches }: ProgramQuery): ReadonlyArray<unknown> => [
  ...(dataSize === undefined ? [] : [{ dataSize }]),
  ...matches.map(({ offset, bytes }) => ({
    memcmp: { offset, bytes: Buffer.from(bytes).toString("base64"), encoding: "base64" }
  }))
]

export const makeSolanaRpc = Effect.fnUntraced(function* (settings: RpcSettings, target: CallTarget) {
  const call = yield* makeRpcCall(settings, target)
  const { commitment } = settings
  const reading = (options?: ReadOptions) => ({ commitment, encoding: "base64", ...options })

  const getAccountInfo = Effect.fn("SolanaRpc.getAccountInfo")(function* (address: Address, options?: ReadOptions) {
    const method = "getAccountInfo"
    const { context, value } = yield* call(method, [address, reading(options)]).pipe(
      Effect.flatMap(decodeAnswer(method, OneAccount))
    )
    const read = accountFromJson(address, context.slot, value, options?.dataSlice?.length)
    return yield* Effect.fromResult(Result.mapError(read, (detail) => unexpected(method, detail)))
  })

  const getChunk = Effect.fnUntraced(function* (addresses: ReadonlyArray<Address>, options?: ReadOptions) {
    const method = "getMultipleAccounts"
    const { context, value } = yield* call(method, [addresses, reading(options)]).pipe(
      Effect.flatMap(decodeAnswer(method, ManyAccounts))
    )
    if (value.length !== addresses.length) {
      return yield* unexpected(method, `${value.length} accounts for ${addresses.length} addresses`)
    }
    const length = options?.dataSlice?.length
    return addresses.map((address, index) => ({
      address,
      read: accountFromJson(address, context.slot, value[index], length)
    }))
  })

  const getMultipleAccounts = Effect.fn("SolanaRpc.getMultipleAccounts")(function* (
    addresses: ReadonlyArray<Address>,
    options?: ReadOptions
  ): Effect.fn.Return<AccountsRead, ChainUnavailable> {
    const chunks = yield* Effect.forEach(Array.chunksOf(addresses, CHUNK), (chunk) => getChunk(chunk, options), {
      concurrency: CHUNKS_AT_A_TIME
    })
    const states = new Map<Address, AccountState>()
    const malformed: Array<Address> = []
    for (const { address, read } of chunks.flat()) {
      if (Result.isSuccess(read)) {
        states.set(address, read.success)
      } else {
        malformed.push(address)
      }
    }
    return { states, malformed }
  })

  const getProgramAccounts = Effect.fn("SolanaRpc.getProgramAccounts")(function* (query: ProgramQuery) {
    const method = "getProgramAccounts"
    const options = { ...reading(), withContext: true, filters: filtersOf(query) }
    const { context, value } = yield* call(method, [query.programId, options], settings.scanTimeout).pipe(
      Effect.flatMap(decodeAnswer(method, ProgramAccounts))
    )
    const accounts = new Map<Address, OnChainAccount | null>()
    for (const { pubkey, account } of value) {
      const read = accountFromJson(pubkey, context.slot, account)
      if (Result.isFailure(read)) {
        return yield* unexpected(method, read.failure)
      }
      accounts.set(pubkey, read.success.account)
    }
    return { slot: context.slot, accounts }
  })

  const getSlot = Effect.fn("SolanaRpc.getSlot")(() =>
    call("getSlot", [{ commitment }]).pipe(Effect.flatMap(decodeAnswer("getSlot", Slot)))
  )
  const getBlocksWithLimit = Effect.fn("SolanaRpc.getBlocksWithLimit")(function* (from: number, limit: number) {
    const method = "getBlocksWithLimit"
    const slots = yield* call(method, [from, limit, { commitment: blockCommitment(commitment) }]).pipe(
      Effect.flatMap(decodeAnswer(method, Schema.Array(Slot)))
    )
    if (slots.some((slot, index) => slot < (index === 0 ? from : (slots[index - 1] ?? 0) + 1))) {
      return yield* unexpected(method, "slots out of order")
    }
    return slots
  })
  const getBlockhash = Effect.fn("SolanaRpc.getBlockhash")(function* (slot: number) {
    const options = { transactionDetails: "none", rewards: false, maxSupportedTransactionVersion: 0 }
    const wanted = { ...options, commitment: blockCommitment(commitment) }
    const { blockhash } = yield* call("getBlock", [slot, wanted]).pipe(Effect.flatMap(decodeAnswer("getBlock", Hashed)))
    return blockhash
  })
  const getFirstAvailableBlock = Effect.fn("SolanaRpc.getFirstAvailableBlock")(() =>
    call("getFirstAvailableBlock", []).pipe(Effect.flatMap(decodeAnswer("getFirstAvailableBlock", Slot)))
  )
  const getGenesisHash = Effect.fn("SolanaRpc.getGenesisHash")(() =>
    call("getGenesisHash", []).pipe(Effect.flatMap(decodeAnswer("getGenesisHash", Address)))
  )
  const getHealth = Effect.fn("SolanaRpc.getHealth")(() =>
    call("getHealth", []).pipe(Effect.flatMap(decodeAnswer("getHealth", Schema.Literal("ok"))), Effect.asVoid)
  )

  return SolanaRpc.of({
    getSlot,
    getBlocksWithLimit,
    getBlockhash,
    getFirstAvailableBlock,
    getGenesisHash,
    getHealth,
    getAccountInfo,
    getMultipleAccounts,
    getProgramAccounts
  })
})

/** The part of a block that has its hash. */
const Hashed = Schema.Struct({ blockhash: Schema.String })

/** Sends each attempt to the node in use. A failed attempt chooses the next node. */
export const failingOver = (choice: NodeChoice): CallTarget => ({
  node: () => choice.current,
  hasOthers: choice.hasOthers,
  onFailure: (node) => choice.leave(node)
})

/** Reads from the nodes at `SOLANA_RPC_URL`, or of the options: the first, and the next one whenever it fails. */
export const layer = (options: RpcOptions = {}): Layer.Layer<SolanaRpc, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.effect(
    SolanaRpc,
    Effect.flatMap(
      Effect.suspend(() => rpcSettings(options)),
      (settings) => makeSolanaRpc(settings, failingOver(new NodeChoice(settings.nodes)))
    )
  )
