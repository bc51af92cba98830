/** A validator's HTTP methods for blocks and transactions. Every result is JSON text. */
import { Result, Schema } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { Bank, KeptBlock } from "../chain/Bank.ts"
import { invalidParams, type RpcFailure } from "./jsonRpc.ts"
import type { Transaction } from "../chain/Ledger.ts"
import { paramOf, readAddress, readTexts, Unsigned } from "./rpcParams.ts"
import { errorText, type TransactionEncoding, transactionMembers } from "../chain/transactionJson.ts"

type Answer = Result.Result<string, RpcFailure>

/** Commitment levels for blocks. Nodes refuse `processed`. */
const Confirmed = Schema.Literals(["confirmed", "finalized"])

const BlockOptions = Schema.Struct({
  commitment: Schema.optionalKey(Schema.NullishOr(Confirmed)),
  encoding: Schema.optionalKey(Schema.NullishOr(Schema.Literals(["json", "base64", "base58", "binary"]))),
  transactionDetails: Schema.optionalKey(Schema.NullishOr(Schema.Literals(["full", "signatures", "none"]))),
  rewards: Schema.optionalKey(Schema.NullishOr(Schema.Boolean)),
  maxSupportedTransactionVersion: Schema.optionalKey(Schema.NullishOr(Unsigned))
})
const decodeOptions = paramOf(BlockOptions)
const readSlot = paramOf(Unsigned)

const Search = Schema.Struct({
  commitment: Schema.optionalKey(Schema.NullishOr(Confirmed)),
  limit: Schema.optionalKey(Schema.NullishOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })))),
  before: Schema.optionalKey(Schema.NullishOr(Schema.String)),
  until: Schema.optionalKey(Schema.NullishOr(Schema.String)),
  minContextSlot: Schema.optionalKey(Schema.NullishOr(Unsigned))
})
const decodeSearch = paramOf(Search)

const readOptions = (value: unknown): Result.Result<typeof BlockOptions.Type, RpcFailure> =>
  decodeOptions(typeof value === "string" ? { encoding: value } : (value ?? {}))

const unsupportedVersion: RpcFailure = {
  code: -32015,
  message:
    "Transaction version (0) is not supported by the requesting client. Please try the request again with the following " +
    'configuration parameter: "maxSupportedTransactionVersion": 0'
}

const firstKept = (bank: Bank): number => {
  for (const { slot } of bank.blocks()) {
    return slot
  }
  return bank.newest().slot
}

/** The block of a slot, or the error of a node that does not have it. */
const findBlock = (bank: Bank, slot: number): Result.Result<KeptBlock, RpcFailure> => {
  const block = bank.block(slot)
  if (block !== undefined) {
    return Result.succeed(block)
  }
  const first = firstKept(bank)
  if (slot > bank.newest().slot) {
    return Result.fail({ code: -32004, message: `Block not available for slot ${slot}` })
  }
  if (slot < first) {
    const message = `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`
    return Result.fail({ code: -32001, message })
  }
  const message = `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`
  return Result.fail({ code: -32007, message })
}

const isUnsupported = (
  { receipt }: Transaction,
  { maxSupportedTransactionVersion }: typeof BlockOptions.Type
): boolean => receipt.message.version === 0 && typeof maxSupportedTransactionVersion !== "number"

const detailsText = (block: KeptBlock, wanted: typeof BlockOptions.Type): Result.Result<string, RpcFailure> => {
  const { transactionDetails, maxSupportedTransactionVersion } = wanted
  if (transactionDetails === "none") {
    return Result.succeed("")
  }
  if (transactionDetails === "signatures") {
    return Result.succeed(`,"signatures":${JSON.stringify(block.transactions.map(({ signature }) => signature))}`)
  }
  if (block.transactions.some((transaction) => isUnsupported(transaction, wanted))) {
    return Result.fail(unsupportedVersion)
  }
  const options = { versions: typeof maxSupportedTransactionVersion === "number", rewards: wanted.rewards !== false }
  const encoding: TransactionEncoding = wanted.encoding ?? "json"
  const all = block.transactions.map((transaction) => `{${transactionMembers(transaction, encoding, options)}}`)
  return Result.succeed(`,"transactions":[${all.join(",")}]`)
}

/** A block with the requested details of its transactions. */
export const getBlock = (
  bank: Bank,
  [slotParam, config]: ReadonlyArray<unknown>,
  timeOf: (block: KeptBlock) => number = ({ unixTimestamp }) => unixTimestamp
): Answer =>
  Result.gen(function* () {
    const slot = yield* readSlot(slotParam)
    const wanted = yield* readOptions(config)
    const block = yield* findBlock(bank, slot)
    bank.noteRead(slot)
    const details = yield* detailsText(block, wanted)
    const rewards = wanted.rewards === false ? "" : ',"rewards":[]'
    return (
      `{"blockHeight":${block.height},"blockTime":${timeOf(block)},"blockhash":"${block.blockhash}",` +
      `"parentSlot":${block.parent},"previousBlockhash":"${block.parentBlockhash}"${rewards}${details}}`
    )
  })

const MOST_SLOTS = 500_000

/** The slots between two slots that have a block, both ends included. */
export const getBlocks = (bank: Bank, [fromParam, toParam]: ReadonlyArray<unknown>): Answer =>
  Result.gen(function* () {
    const from = yield* readSlot(fromParam)
    const isOpen = toParam === undefined || toParam === null || typeof toParam === "object"
    const to = isOpen ? bank.newest().slot : yield* readSlot(toParam)
    if (to - from > MOST_SLOTS) {
      return yield* Result.fail(invalidParams(`Slot range too large; max ${MOST_SLOTS}`))
    }
    const slots = Array.from(bank.blocks(), ({ slot }) => slot).filter((slot) => slot >= from && slot <= to)
    return `[${slots.join(",")}]`
  })

/** The first slots with a block from a slot on, up to the requested number. */
export const getBlocksWithLimit = (bank: Bank, [fromParam, limitParam]: ReadonlyArray<unknown>): Answer =>
  Result.gen(function* () {
    const from = yield* readSlot(fromParam)
    const limit = yield* readSlot(limitParam)
    if (limit > MOST_SLOTS) {
      return yield* Result.fail(invalidParams(`Limit too large; max ${MOST_SLOTS}`))
    }
    const slots = Array.from(bank.blocks(), ({ slot }) => slot).filter((slot) => slot >= from)
    return `[${slots.slice(0, limit).join(",")}]`
  })

/** The oldest block that is still there. */
export const getFirstAvailableBlock = (bank: Bank): Answer => Result.succeed(String(firstKept(bank)))

/** The time of a block, in seconds since the Unix epoch. */
export const getBlockTime = (
  bank: Bank,
  [slotParam]: ReadonlyArray<unknown>,
  timeOf: (block: KeptBlock) => number = ({ unixTimestamp }) => unixTimestamp
): Answer =>
  Result.flatMap(readSlot(slotParam), (slot) => Result.map(findBlock(bank, slot), (block) => String(timeOf(block))))

/** A transaction by its signature; null when it is unknown. */
export const getTransaction = (bank: Bank, [signature, config]: ReadonlyArray<unknown>): Answer =>
  Result.gen(function* () {
    if (typeof signature !== "string") {
      return yield* Result.fail(invalidParams("`params` should have at least 1 argument(s)"))
    }
    const wanted = yield* readOptions(config)
    const found = bank.ledger.find(signature)
    if (found === undefined) {
      return "null"
    }
    if (isUnsupported(found, wanted)) {
      return yield* Result.fail(unsupportedVersion)
    }
    const options = { versions: typeof wanted.maxSupportedTransactionVersion === "number", rewards: true }
    const members = transactionMembers(found, wanted.encoding ?? "json", options)
    return `{"blockTime":${found.blockTime},${members},"slot":${found.slot},"transactionIndex":${found.index}}`
  })

const statusText = ({ slot, receipt }: Transaction): string => {
  const error = errorText(receipt.error)
  const status = receipt.error === null ? '{"Ok":null}' : `{"Err":${error}}`
  return `{"confirmationStatus":"finalized","confirmations":null,"err":${error},"slot":${slot},"status":${status}}`
}

/** The status of each signature. The caller wraps the list in a context. */
export const signatureStatuses = (bank: Bank, signatures: unknown): Answer =>
  Result.map(readTexts(signatures, 256), (list) => {
    const values = list.map((signature) => {
      const found = bank.ledger.find(signature)
      return found === undefined ? "null" : statusText(found)
    })
    return `[${values.join(",")}]`
  })

const mentions = ({ receipt }: Transaction, address: Address): boolean => receipt.message.keys.includes(address)

/** The transactions that mention an address, newest first. */
export const getSignaturesForAddress = (bank: Bank, [address, config]: ReadonlyArray<unknown>): Answer =>
  Result.gen(function* () {
    const wanted = yield* readAddress(address)
    const { before, until, limit } = yield* decodeSearch(config ?? {})
    const all = Array.from(bank.blocks())
      .toReversed()
      .flatMap(({ transactions }) => transactions.toReversed())
    const placeOf = (signature: string | null | undefined) =>
      signature === null || signature === undefined ? -1 : all.findIndex((one) => one.signature === signature)
    const end = placeOf(until)
    const found = all
      .slice(placeOf(before) + 1, end === -1 ? undefined : end)
      .filter((transaction) => mentions(transaction, wanted))
      .slice(0, limit ?? 1000)
    const texts = found.map(
      ({ blockTime, receipt, signature, slot }) =>
        `{"blockTime":${blockTime},"confirmationStatus":"finalized","err":${errorText(receipt.error)},"memo":null,` +
        `"signature":"${signature}","slot":${slot}}`
    )
    return `[${texts.join(",")}]`
  })
