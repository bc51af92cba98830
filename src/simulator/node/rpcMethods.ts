/** A validator's HTTP methods that read. Every result is JSON text, read at the newest finished slot. */
import { Result } from "effect"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address, SOL } from "../../domain/Address.ts"
import { fits, sliceOf, tooLongForBase58 } from "./accountJson.ts"
import { type Bank, type KeptBlock, SLOTS_PER_EPOCH } from "../chain/Bank.ts"
import {
  getBlock,
  getBlocks,
  getBlocksWithLimit,
  getBlockTime,
  getFirstAvailableBlock,
  getSignaturesForAddress,
  getTransaction,
  signatureStatuses
} from "./blockMethods.ts"
import type { BlockFault } from "./blockFaults.ts"
import { invalidParams, methodNotFound, type RpcCall, type RpcFailure } from "./jsonRpc.ts"
import { matchesFilter, readAddress, readOptions, readTexts, readTokenFilter, type RpcOptions } from "./rpcParams.ts"
import { balanceOf, holdsTokens, mintOf, ownerOf, uiAmountText } from "../chain/tokens.ts"

const API_VERSION = "3.1.0"

/** The bank, and how responses are made from it. Faults may corrupt them. */
export interface NodeState {
  readonly seed: string
  readonly bank: Bank
  /** Called at each read of accounts. */
  readonly noteRead: () => void
  /** The block time that the node reports, in seconds since the Unix epoch. A fault may falsify it. */
  readonly timeOfBlock: (block: KeptBlock) => number
  /** The fault of the response to a call; null when the response is right. */
  readonly faultOf: (call: RpcCall) => BlockFault | null
  readonly encode: (account: OnChainAccount, encoding: RpcOptions["encoding"], slice: RpcOptions["slice"]) => string
}

type Answer = Result.Result<string, RpcFailure>
type Method = (state: NodeState, params: ReadonlyArray<unknown>) => Answer

/** Wraps a result read at the newest slot in a context with that slot. */
const withContext = ({ bank }: NodeState, value: string): string =>
  `{"context":{"apiVersion":"${API_VERSION}","slot":${bank.newest().slot}},"value":${value}}`

const options = ({ bank }: NodeState, value: unknown) => readOptions(value, bank.newest().slot)

const encoded = (state: NodeState, account: OnChainAccount | undefined, wanted: RpcOptions): Answer => {
  if (account === undefined) {
    return Result.succeed("null")
  }
  return fits(sliceOf(account.data, wanted.slice), wanted.encoding)
    ? Result.succeed(state.encode(account, wanted.encoding, wanted.slice))
    : Result.fail(tooLongForBase58)
}

const getAccountInfo: Method = (state, [address, config]) =>
  Result.gen(function* () {
    const wanted = yield* options(state, config)
    const account = state.bank.get(yield* readAddress(address))
    return withContext(state, yield* encoded(state, account, wanted))
  })

const getMultipleAccounts: Method = (state, [addresses, config]) =>
  Result.gen(function* () {
    const wanted = yield* options(state, config)
    const values: Array<string> = []
    for (const text of yield* readTexts(addresses, 100)) {
      values.push(yield* encoded(state, state.bank.get(yield* readAddress(text)), wanted))
    }
    return withContext(state, `[${values.join(",")}]`)
  })

const getProgramAccounts: Method = (state, [program, config]) =>
  Result.gen(function* () {
    const wanted = yield* options(state, config)
    const values: Array<string> = []
    for (const account of state.bank.ownedBy(yield* readAddress(program))) {
      if (matchesFilter(account.data, wanted.filter)) {
        values.push(`{"account":${yield* encoded(state, account, wanted)},"pubkey":"${account.address}"}`)
      }
    }
    const list = `[${values.join(",")}]`
    return wanted.withContext ? withContext(state, list) : list
  })

const getBalance: Method = (state, [address, config]) =>
  Result.gen(function* () {
    yield* options(state, config)
    const account = state.bank.get(yield* readAddress(address))
    return withContext(state, String(account?.lamports ?? 0n))
  })

const isTokenProgram = (owner: Address): boolean => owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM

const getTokenAccountBalance: Method = (state, [address, config]) =>
  Result.gen(function* () {
    yield* options(state, config)
    const account = state.bank.get(yield* readAddress(address))
    if (account === undefined) {
      return yield* Result.fail(invalidParams("Invalid param: could not find account"))
    }
    const mint =
      isTokenProgram(account.owner) && account.data.length >= 165 ? state.bank.get(mintOf(account)) : undefined
    if (mint === undefined) {
      return yield* Result.fail(invalidParams("Invalid param: not a Token account"))
    }
    const decimals = mint.address === SOL ? 9 : (mint.data[44] ?? 0)
    const amount = balanceOf(account)
    const text = uiAmountText(amount, decimals)
    return withContext(
      state,
      `{"amount":"${amount}","decimals":${decimals},"uiAmount":${Number(text)},"uiAmountString":"${text}"}`
    )
  })

/** A wallet's token accounts by mint or by token program, as a validator with an account index lists them. */
const getTokenAccountsByOwner: Method = (state, [owner, filter, config]) =>
  Result.gen(function* () {
    const wanted = yield* options(state, config)
    const wallet = yield* readAddress(owner)
    const { mint, program } = yield* readTokenFilter(filter)
    const programs = program === null ? [TOKEN_PROGRAM, TOKEN_2022_PROGRAM] : [program]
    if (!programs.every(isTokenProgram)) {
      return yield* Result.fail(invalidParams("Invalid param: unrecognized Token program id"))
    }
    const values: Array<string> = []
    for (const account of programs.flatMap((each) => Array.from(state.bank.ownedBy(each)))) {
      if (holdsTokens(account) && ownerOf(account) === wallet && (mint === null || mintOf(account) === mint)) {
        values.push(`{"account":${yield* encoded(state, account, wanted)},"pubkey":"${account.address}"}`)
      }
    }
    return withContext(state, `[${values.join(",")}]`)
  })

const getSignatureStatuses: Method = (state, [signatures, config]) =>
  Result.gen(function* () {
    yield* options(state, config)
    return withContext(state, yield* signatureStatuses(state.bank, signatures))
  })

const getLatestBlockhash: Method = (state, [config]) =>
  Result.map(options(state, config), () => {
    const { blockhash, height } = state.bank.newest()
    return withContext(state, `{"blockhash":"${blockhash}","lastValidBlockHeight":${height + 150}}`)
  })

const getEpochInfo: Method = (state, [config]) =>
  Result.map(options(state, config), () => {
    const { slot, height } = state.bank.newest()
    const epoch = Math.floor(slot / SLOTS_PER_EPOCH)
    return (
      `{"absoluteSlot":${slot},"blockHeight":${height},"epoch":${epoch},"slotIndex":${slot % SLOTS_PER_EPOCH},` +
      `"slotsInEpoch":${SLOTS_PER_EPOCH},"transactionCount":${state.bank.ledger.count()}}`
    )
  })

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["getHealth", () => Result.succeed('"ok"')],
  ["getVersion", () => Result.succeed(`{"feature-set":3604001754,"solana-core":"${API_VERSION}"}`)],
  ["getGenesisHash", ({ bank }) => Result.succeed(`"${bank.genesisHash}"`)],
  ["getSlot", (state, [config]) => Result.map(options(state, config), () => String(state.bank.newest().slot))],
  ["getBlockHeight", (state, [config]) => Result.map(options(state, config), () => String(state.bank.newest().height))],
  ["getEpochInfo", getEpochInfo],
  ["getLatestBlockhash", getLatestBlockhash],
  ["getAccountInfo", getAccountInfo],
  ["getMultipleAccounts", getMultipleAccounts],
  ["getProgramAccounts", getProgramAccounts],
  ["getBalance", getBalance],
  ["getTokenAccountBalance", getTokenAccountBalance],
  ["getTokenAccountsByOwner", getTokenAccountsByOwner],
  ["getSignatureStatuses", getSignatureStatuses],
  ["getBlock", ({ bank, timeOfBlock }, params) => getBlock(bank, params, timeOfBlock)],
  ["getBlocks", ({ bank }, params) => getBlocks(bank, params)],
  ["getBlocksWithLimit", ({ bank }, params) => getBlocksWithLimit(bank, params)],
  ["getBlockTime", ({ bank, timeOfBlock }, params) => getBlockTime(bank, params, timeOfBlock)],
  ["getFirstAvailableBlock", ({ bank }) => getFirstAvailableBlock(bank)],
  ["getTransaction", ({ bank }, params) => getTransaction(bank, params)],
  ["getSignaturesForAddress", ({ bank }, params) => getSignaturesForAddress(bank, params)]
])

/** The methods that clients use to read the accounts they follow. */
export const accountReads: ReadonlySet<string> = new Set([
  "getProgramAccounts",
  "getMultipleAccounts",
  "getAccountInfo"
])

/** Calls one method. Unsupported methods fail as on a validator. */
export const answer = (state: NodeState, method: string, params: ReadonlyArray<unknown>): Answer =>
  methods.get(method)?.(state, params) ?? Result.fail(methodNotFound)
