/** A transaction of a node's answer, in one shape for both encodings, swaps not yet decoded. */
import { Result, Schema } from "effect"
import type { Address, Mint } from "../domain/Address.ts"
import type { Signature } from "../domain/Signature.ts"
import { type Instruction, readInstructions } from "./instructions.ts"
import { type Fields, isCount, isFields, isAddressText, isSignatureText, isTexts, lamportsFrom } from "./json.ts"
import { readTokenAccounts, type TokenAccount } from "./tokenAccounts.ts"

/** A transaction that is in a block. Failed ones are here too: they paid their fee. */
export interface Transaction {
  readonly signature: Signature
  readonly slot: number
  /** Seconds since the Unix epoch; null when the node does not state it. */
  readonly blockTime: number | null
  /** Position among the transactions of its block; null when the node does not state it. */
  readonly indexInBlock: number | null
  /** The error as the node spells it; null for a transaction that took effect. */
  readonly error: unknown
  readonly feeLamports: bigint
  /** Every account, those from lookup tables last. The first pays the fee. */
  readonly keys: ReadonlyArray<Address>
  /** Count of signers, the first of the keys. */
  readonly signers: number
  /** By key; null where a JSON number cannot hold the balance, or the node does not state it. */
  readonly lamportsBefore: ReadonlyArray<bigint | null>
  readonly lamportsAfter: ReadonlyArray<bigint | null>
  readonly tokenAccounts: ReadonlyMap<Address, TokenAccount>
  /** Outer and inner, in the order in which they ran. */
  readonly instructions: ReadonlyArray<Instruction>
  /** Null when the node does not keep them. */
  readonly logs: ReadonlyArray<string> | null
}

/** The node's answer is not a transaction in a known form; `detail` names the part. */
export class MalformedTransaction extends Schema.TaggedError<MalformedTransaction>()("MalformedTransaction", {
  detail: Schema.String
}) {}

/** Properties of a transaction that its block states. */
export interface Surroundings {
  readonly slot: number
  readonly blockTime: number | null
  readonly indexInBlock: number | null
}

/** Every account of the transaction in the order of its indexes; null when malformed. */
const readKeys = (message: Fields, meta: Fields): ReadonlyArray<Address> | null => {
  const listed: unknown = message["accountKeys"]
  if (!Array.isArray(listed)) {
    return null
  }
  const keys: Array<Address> = []
  for (const entry of listed) {
    const key: unknown = isFields(entry) ? entry["pubkey"] : entry
    if (!isAddressText(key)) {
      return null
    }
    keys.push(key)
  }
  // The parsed encoding lists the loaded addresses among the keys already.
  const loaded = isFields(listed[0]) ? null : meta["loadedAddresses"]
  if (!isFields(loaded)) {
    return keys
  }
  for (const list of [loaded["writable"], loaded["readonly"]]) {
    if (!isTexts(list) || !list.every(isAddressText)) {
      return null
    }
    keys.push(...list)
  }
  return keys
}

const readLamports = (list: unknown, keys: number): ReadonlyArray<bigint | null> | null =>
  Array.isArray(list) && list.length === keys ? list.map(lamportsFrom) : null

const malformed = (detail: string): Result.Result<never, MalformedTransaction> =>
  Result.fail(new MalformedTransaction({ detail }))

const readParts = (
  message: Fields,
  meta: Fields,
  known: Surroundings & Pick<Transaction, "signature" | "signers">
): Result.Result<Transaction, MalformedTransaction> => {
  const keys = readKeys(message, meta)
  if (keys === null || keys.length < known.signers) {
    return malformed("account keys")
  }
  const feeLamports = lamportsFrom(meta["fee"])
  const lamportsBefore = readLamports(meta["preBalances"], keys.length)
  const lamportsAfter = readLamports(meta["postBalances"], keys.length)
  if (feeLamports === null || lamportsBefore === null || lamportsAfter === null) {
    return malformed("fee or balances")
  }
  const instructions = readInstructions(message["instructions"], meta["innerInstructions"] ?? [], keys)
  if (instructions === null) {
    return malformed("instructions")
  }
  const tokenAccounts = readTokenAccounts(meta, keys, instructions)
  if (tokenAccounts === null) {
    return malformed("token balances")
  }
  const logs = meta["logMessages"] ?? null
  if (logs !== null && !isTexts(logs)) {
    return malformed("logs")
  }
  return Result.succeed({
    ...known,
    error: meta["err"] ?? null,
    feeLamports,
    keys,
    lamportsBefore,
    lamportsAfter,
    tokenAccounts,
    instructions,
    logs
  })
}

/**
 * A transaction of a block, in encoding `json` or `jsonParsed`. Fails with what is malformed, and for one whose outcome
 * the node does not state (`meta` is null).
 */
export const readEntry = (
  entry: unknown,
  surroundings: Surroundings
): Result.Result<Transaction, MalformedTransaction> => {
  if (!isFields(entry) || !isFields(entry["transaction"])) {
    return malformed("not a transaction")
  }
  const { message, signatures } = entry["transaction"]
  const { meta } = entry
  const signature: unknown = Array.isArray(signatures) ? signatures[0] : undefined
  if (!isFields(message) || !Array.isArray(signatures) || !isSignatureText(signature)) {
    return malformed("message or signatures")
  }
  const signing = { signature, signers: signatures.length }
  return isFields(meta) ? readParts(message, meta, { ...surroundings, ...signing }) : malformed("no meta")
}

const timeOf = (value: unknown): number | null => (Number.isSafeInteger(value) ? Number(value) : null)

/** The answer of `getTransaction`. */
export const readTransaction = (answer: unknown): Result.Result<Transaction, MalformedTransaction> => {
  if (!isFields(answer) || !isCount(answer["slot"])) {
    return malformed("no slot")
  }
  const { slot, blockTime, transactionIndex } = answer
  const indexInBlock = isCount(transactionIndex) ? transactionIndex : null
  return readEntry(answer, { slot, blockTime: timeOf(blockTime), indexInBlock })
}

/** A block's transactions in order. One that is malformed does not take the others with it. */
export interface Block {
  readonly slot: number
  readonly parentSlot: number
  readonly blockTime: number | null
  readonly transactions: ReadonlyArray<Result.Result<Transaction, MalformedTransaction>>
}

/** The position that an entry states, as in blocks without their votes; else its place in the list. */
const positionOf = (entry: unknown, place: number): number =>
  isFields(entry) && isCount(entry["index"]) ? entry["index"] : place

/** The answer of `getBlock` with full transaction details. The slot is the one of the request: the answer does not contain it. */
export const readBlock = (slot: number, answer: unknown): Result.Result<Block, MalformedTransaction> => {
  if (!isFields(answer) || !Array.isArray(answer["transactions"]) || !isCount(answer["parentSlot"])) {
    return malformed("not a block")
  }
  const { parentSlot, transactions } = answer
  const blockTime = timeOf(answer["blockTime"])
  return Result.succeed({
    slot,
    parentSlot,
    blockTime,
    transactions: transactions.map((entry, place) =>
      readEntry(entry, { slot, blockTime, indexInBlock: positionOf(entry, place) })
    )
  })
}

/** Decimals of a mint, from any account that holds it; null when none states them. */
export const decimalsOf = (transaction: Transaction, mint: Mint): number | null => {
  for (const account of transaction.tokenAccounts.values()) {
    if (account.mint === mint && account.decimals !== null) {
      return account.decimals
    }
  }
  return null
}
