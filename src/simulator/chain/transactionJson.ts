/** Transactions in a validator's JSON. It is built as text, because JavaScript numbers cannot hold every balance. */
import { toBase58 } from "../../domain/base58.ts"
import type { Address } from "../../domain/Address.ts"
import { type Call, unitsOf } from "../../programs/transactions/Call.ts"
import type { Transaction } from "./Ledger.ts"
import type { Message, TableLookup } from "../../programs/transactions/message.ts"
import type { Receipt, TokenBalance, TransactionError } from "./Receipt.ts"
import { uiAmountText } from "./tokens.ts"
import { wireOf } from "../../programs/transactions/wire.ts"

export type TransactionEncoding = "json" | "base64" | "base58" | "binary"

const list = (items: ReadonlyArray<string | number | bigint>): string => `[${items.join(",")}]`
const texts = (items: ReadonlyArray<string>): string => JSON.stringify(items)

/** A transaction's error as JSON. */
export const errorText = (error: TransactionError | null): string =>
  error === null ? "null" : `{"InstructionError":[${error.index},{"Custom":${error.code}}]}`

const statusText = (error: TransactionError | null): string =>
  error === null ? '{"Ok":null}' : `{"Err":${errorText(error)}}`

type IndexOf = (address: Address) => number

const callText = ({ accounts, data, program }: Call, indexOf: IndexOf, height: number): string =>
  `{"accounts":${list(accounts.map(({ address }) => indexOf(address)))},"data":"${toBase58(data)}",` +
  `"programIdIndex":${indexOf(program)},"stackHeight":${height}}`

const innerTexts = ({ steps }: Call, indexOf: IndexOf, height: number): ReadonlyArray<string> =>
  steps.flatMap((step) =>
    typeof step === "string" ? [] : [callText(step, indexOf, height), ...innerTexts(step, indexOf, height + 1)]
  )

/** The calls that ran. In a failed transaction, these are the calls up to and including the failing one. */
export const ran = ({ calls, error }: Receipt): ReadonlyArray<Call> =>
  error === null ? calls : calls.slice(0, error.index + 1)

const innerGroups = (receipt: Receipt, indexOf: IndexOf): string =>
  list(
    ran(receipt).flatMap((call, index) => {
      const inner = innerTexts(call, indexOf, 2)
      return inner.length === 0 ? [] : [`{"index":${index},"instructions":${list(inner)}}`]
    })
  )

const logLines = (call: Call, depth: number, left: number, code: number | null): ReadonlyArray<string> => {
  const { program, steps, native } = call
  let rest = left
  const lines = steps.flatMap((step) => {
    if (typeof step === "string") {
      return [step]
    }
    const inner = logLines(step, depth + 1, rest, null)
    rest -= unitsOf(step)
    return inner
  })
  const used = `Program ${program} consumed ${unitsOf(call)} of ${left} compute units`
  const ending = code === null ? "success" : `failed: custom program error: 0x${code.toString(16)}`
  return [
    `Program ${program} invoke [${depth}]`,
    ...lines,
    ...(native === true ? [] : [used]),
    `Program ${program} ${ending}`
  ]
}

/** The lines of the log. `logsSubscribe` sends the same lines. */
export const logsOf = (receipt: Receipt): ReadonlyArray<string> => {
  const { error, unitLimit } = receipt
  let left = unitLimit
  return ran(receipt).flatMap((call, index) => {
    const lines = logLines(call, 1, left, error !== null && error.index === index ? error.code : null)
    left -= unitsOf(call)
    return lines
  })
}

const balanceText = ({ index, mint, owner, program, amount, decimals }: TokenBalance): string => {
  const text = uiAmountText(amount, decimals)
  const number = amount === 0n ? "null" : String(Number(text))
  return (
    `{"accountIndex":${index},"mint":"${mint}","owner":"${owner}","programId":"${program}",` +
    `"uiTokenAmount":{"amount":"${amount}","decimals":${decimals},"uiAmount":${number},"uiAmountString":"${text}"}}`
  )
}

const loadedText = ({ keys, loadedWritable, loadedReadonly }: Message): string => {
  const loadedAt = keys.length - loadedWritable - loadedReadonly
  const writable = keys.slice(loadedAt, loadedAt + loadedWritable)
  return `{"readonly":${texts(keys.slice(loadedAt + loadedWritable))},"writable":${texts(writable)}}`
}

const metaText = (receipt: Receipt, indexOf: IndexOf, rewards: boolean): string => {
  const { message, error, fee, lamports, tokens } = receipt
  const units = ran(receipt).reduce((sum, call) => sum + unitsOf(call), 0)
  return (
    `{"computeUnitsConsumed":${units},"err":${errorText(error)},"fee":${fee},` +
    `"innerInstructions":${innerGroups(receipt, indexOf)},"loadedAddresses":${loadedText(message)},` +
    `"logMessages":${texts(logsOf(receipt))},"postBalances":${list(lamports.after)},` +
    `"postTokenBalances":${list(tokens.after.map(balanceText))},"preBalances":${list(lamports.before)},` +
    `"preTokenBalances":${list(tokens.before.map(balanceText))},${rewards ? '"rewards":[],' : ""}` +
    `"status":${statusText(error)}}`
  )
}

const lookupText = ({ table, writable, readonly }: TableLookup): string =>
  `{"accountKey":"${table}","readonlyIndexes":${list(readonly)},"writableIndexes":${list(writable)}}`

const messageText = ({ message, calls, blockhash }: Receipt, indexOf: IndexOf): string => {
  const { keys, signers, readonlySigners, readonlyOthers, lookups, loadedWritable, loadedReadonly } = message
  const named = keys.slice(0, keys.length - loadedWritable - loadedReadonly)
  const tables = message.version === 0 ? `"addressTableLookups":${list(lookups.map(lookupText))},` : ""
  return (
    `{"accountKeys":${texts(named)},${tables}"header":{"numReadonlySignedAccounts":${readonlySigners},` +
    `"numReadonlyUnsignedAccounts":${readonlyOthers},"numRequiredSignatures":${signers}},` +
    `"instructions":${list(calls.map((call) => callText(call, indexOf, 1)))},"recentBlockhash":"${blockhash}"}`
  )
}

const bodyText = ({ receipt, signatures }: Transaction, encoding: TransactionEncoding, indexOf: IndexOf): string => {
  switch (encoding) {
    case "json":
      return `{"message":${messageText(receipt, indexOf)},"signatures":${texts(signatures)}}`
    case "base64":
      return `["${Buffer.from(wireOf(receipt, signatures)).toString("base64")}","base64"]`
    case "base58":
      return `["${toBase58(wireOf(receipt, signatures))}","base58"]`
    case "binary":
      return `"${toBase58(wireOf(receipt, signatures))}"`
  }
}

/** The members of a transaction object. They are the same in blocks and in `getTransaction`. */
export const transactionMembers = (
  transaction: Transaction,
  encoding: TransactionEncoding,
  options: { readonly versions: boolean; readonly rewards: boolean }
): string => {
  const { receipt } = transaction
  const places = new Map(receipt.message.keys.map((key, index) => [key, index]))
  const indexOf = (address: Address) => places.get(address) ?? 0
  const { version } = receipt.message
  const versionText = options.versions ? `,"version":${version === 0 ? "0" : '"legacy"'}` : ""
  return (
    `"meta":${metaText(receipt, indexOf, options.rewards)},` +
    `"transaction":${bodyText(transaction, encoding, indexOf)}${versionText}`
  )
}
