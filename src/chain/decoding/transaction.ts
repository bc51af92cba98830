/** Reads transactions from a node's answers, in one shape for both encodings. Swaps are not decoded here. */
import { Result, Schema } from "effect"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import type { Quantity } from "../../api/schemas/Trade.ts"
import type { Signature } from "../../domain/Signature.ts"
import { type Instruction, readInstructions } from "./instructions.ts"
import { type Fields, isCount, isFields, isAddressText, isSignatureText, isTexts, lamportsFrom } from "./jsonFields.ts"
import { type LogStep, stepsIn } from "./logSteps.ts"
import { readTokenAccounts, type TokenAccount } from "./tokenAccounts.ts"
import type { TokenPayment } from "./tokenTransfers.ts"

/** A transaction of a block. Failed transactions are included, because they paid their fee. */
export interface Transaction {
  readonly signature: Signature
  readonly slot: number
  /** Seconds since the Unix epoch; null when the node does not state it. */
  readonly blockTime: number | null
  /** Position among the transactions of its block; null when the node does not state it. */
  readonly indexInBlock: number | null
  /** The error as the node spells it; null for a transaction that succeeded. */
  readonly error: unknown
  readonly feeLamports: bigint
  /** Every account; accounts from lookup tables come last. The first account pays the fee. */
  readonly keys: ReadonlyArray<Address>
  /** How many of the first keys are signers. */
  readonly signers: number
  /** By index of the key. Null when a JSON number cannot hold the balance, or the node does not state it. */
  readonly lamportsBefore: ReadonlyArray<bigint | null>
  readonly lamportsAfter: ReadonlyArray<bigint | null>
  readonly tokenAccounts: ReadonlyMap<Address, TokenAccount>
  /** Outer and inner instructions, in the order in which they ran. */
  readonly instructions: ReadonlyArray<Instruction>
  /** The calls, ends of calls and events of its log, in order. Null when the node does not keep it. */
  readonly log: ReadonlyArray<LogStep> | null
}

/** The node's answer is not a transaction in a known form. `detail` names the malformed part. */
export class MalformedTransaction extends Schema.TaggedError<MalformedTransaction>()("MalformedTransaction", {
  detail: Schema.String
}) {}

/** What a block states about its transactions. */
export interface Surroundings {
  readonly slot: number
  readonly blockTime: number | null
  readonly indexInBlock: number | null
}

/** Every account of the transaction, by index; null when malformed. */
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
  // The parsed encoding already lists the loaded addresses among the keys.
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
    // Few transactions are asked for their log.
    get log() {
      return logs === null ? null : stepsIn(logs)
    }
  })
}

/**
 * Reads a transaction of a block, in encoding `json` or `jsonParsed`. Fails with the malformed part, and when the node
 * does not state the outcome (`meta` is null).
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

/** Reads the answer of `getTransaction`. */
export const readTransaction = (answer: unknown): Result.Result<Transaction, MalformedTransaction> => {
  if (!isFields(answer) || !isCount(answer["slot"])) {
    return malformed("no slot")
  }
  const { slot, blockTime, transactionIndex } = answer
  const indexInBlock = isCount(transactionIndex) ? transactionIndex : null
  return readEntry(answer, { slot, blockTime: timeOf(blockTime), indexInBlock })
}

/** A block whose transactions are not read yet. */
export interface BlockEntries {
  readonly slot: number
  readonly parentSlot: number
  readonly blockTime: number | null
  /** In order, as the node states them. */
  readonly entries: ReadonlyArray<unknown>
}

/** The position that the entry states, as in blocks whose votes are left out; otherwise its place in the list. */
const positionOf = (entry: unknown, place: number): number =>
  isFields(entry) && isCount(entry["index"]) ? entry["index"] : place

/**
 * Reads the answer of `getBlock` with full transaction details; null when it is not one. The answer does not contain the
 * slot, so the caller passes the slot of the request.
 */
export const readBlock = (slot: number, answer: unknown): BlockEntries | null => {
  if (!isFields(answer) || !Array.isArray(answer["transactions"]) || !isCount(answer["parentSlot"])) {
    return null
  }
  const { parentSlot, transactions } = answer
  return { slot, parentSlot, blockTime: timeOf(answer["blockTime"]), entries: transactions }
}

/** Reads the transaction at a place of its block. */
export const readPlaced = (
  { blockTime, slot }: Omit<Surroundings, "indexInBlock">,
  entry: unknown,
  place: number
): Result.Result<Transaction, MalformedTransaction> =>
  readEntry(entry, { slot, blockTime, indexInBlock: positionOf(entry, place) })

/**
 * The transactions of a block in order, each read when it is asked for: a block has megabytes, and nobody needs two of its
 * transactions at once. A malformed transaction does not affect the others.
 */
export function* transactionsOf({
  entries,
  ...block
}: BlockEntries): Generator<Result.Result<Transaction, MalformedTransaction>> {
  for (const [place, entry] of entries.entries()) {
    yield readPlaced(block, entry, place)
  }
}

/** Decimals of a mint: 9 for SOL, else as stated for any account that holds it; null when none states them. */
const decimalsOf = (transaction: Transaction, mint: Mint): number | null => {
  if (mint === SOL) {
    return 9
  }
  for (const account of transaction.tokenAccounts.values()) {
    if (account.mint === mint && account.decimals !== null) {
      return account.decimals
    }
  }
  return null
}

/** An amount of a mint with the decimals that the transaction states. */
export const quantityOf = (transaction: Transaction, mint: Mint, amount: bigint): Quantity => ({
  mint,
  amount,
  decimals: decimalsOf(transaction, mint)
})

/** The mint of a token payment, as its instruction or else its accounts name it; undefined when neither does. */
export const mintOf = ({ tokenAccounts }: Transaction, { destination, mint, source }: TokenPayment): Mint | undefined =>
  mint ?? tokenAccounts.get(source)?.mint ?? tokenAccounts.get(destination)?.mint

/** True when the wallet signed the transaction. */
export const isSigner = ({ keys, signers }: Transaction, wallet: Address): boolean => {
  const at = keys.indexOf(wallet)
  return at !== -1 && at < signers
}
