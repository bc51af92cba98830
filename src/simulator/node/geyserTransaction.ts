/** Transactions and blocks of the simulated chain as Geyser messages. */
import { type Address, addressToBytes } from "../../domain/Address.ts"
import { fromBase58 } from "../../domain/base58.ts"
import type { KeptBlock } from "../chain/Bank.ts"
import type { Call } from "../../programs/transactions/Call.ts"
import type { Transaction } from "../chain/Ledger.ts"
import type { TokenBalance, TransactionError } from "../chain/Receipt.ts"
import { logsOf, ran } from "../chain/transactionJson.ts"
import type {
  GeyserBlockMeta,
  GeyserInstruction,
  GeyserMeta,
  GeyserTokenBalance,
  GeyserTransaction
} from "../../chain/geyser/geyserUpdates.ts"

type IndexOf = (address: Address) => number

const instructionOf = ({ accounts, data, program }: Call, indexOf: IndexOf): GeyserInstruction => ({
  programIdIndex: indexOf(program),
  accounts: Uint8Array.from(accounts, ({ address }) => indexOf(address)),
  data
})

const innerOf = ({ steps }: Call, indexOf: IndexOf, height: number): ReadonlyArray<GeyserInstruction> =>
  steps.flatMap((step) =>
    typeof step === "string"
      ? []
      : [{ ...instructionOf(step, indexOf), stackHeight: height }, ...innerOf(step, indexOf, height + 1)]
  )

const balanceOf = ({ amount, decimals, index, mint, owner, program }: TokenBalance): GeyserTokenBalance => ({
  accountIndex: index,
  mint,
  owner,
  programId: program,
  uiTokenAmount: { amount: String(amount), decimals }
})

/** An instruction error with a program's error code, in the validator's binary form. */
const errorBytes = ({ code, index }: TransactionError): Uint8Array => {
  const bytes = Buffer.alloc(13)
  bytes.writeUInt32LE(8, 0)
  bytes.writeUInt8(index, 4)
  bytes.writeUInt32LE(25, 5)
  bytes.writeUInt32LE(code, 9)
  return bytes
}

const bytesOf = (text: string): Uint8Array => fromBase58(text) ?? new Uint8Array(0)

const metaOf = ({ receipt }: Transaction, indexOf: IndexOf): GeyserMeta => {
  const { error, fee, lamports, message, tokens } = receipt
  const loadedAt = message.keys.length - message.loadedWritable - message.loadedReadonly
  const loaded = message.keys.slice(loadedAt).map(addressToBytes)
  return {
    ...(error !== null && { err: { err: errorBytes(error) } }),
    fee: String(fee),
    preBalances: lamports.before.map(String),
    postBalances: lamports.after.map(String),
    innerInstructions: ran(receipt).flatMap((call, index) => {
      const instructions = innerOf(call, indexOf, 2)
      return instructions.length === 0 ? [] : [{ index, instructions }]
    }),
    logMessages: logsOf(receipt),
    preTokenBalances: tokens.before.map(balanceOf),
    postTokenBalances: tokens.after.map(balanceOf),
    loadedWritableAddresses: loaded.slice(0, message.loadedWritable),
    loadedReadonlyAddresses: loaded.slice(message.loadedWritable)
  }
}

/** A transaction and its outcome. */
export const geyserTransaction = (transaction: Transaction): GeyserTransaction => {
  const { index, receipt, signature, signatures } = transaction
  const { keys, loadedReadonly, loadedWritable } = receipt.message
  const places = new Map(keys.map((key, place) => [key, place]))
  const indexOf = (address: Address) => places.get(address) ?? 0
  return {
    signature: bytesOf(signature),
    isVote: false,
    index: String(index),
    transaction: {
      signatures: signatures.map(bytesOf),
      message: {
        accountKeys: keys.slice(0, keys.length - loadedWritable - loadedReadonly).map(addressToBytes),
        instructions: receipt.calls.map((call) => instructionOf(call, indexOf))
      }
    },
    meta: metaOf(transaction, indexOf)
  }
}

/** The block meta of a block. */
export const geyserBlockMeta = ({
  blockhash,
  parent,
  parentBlockhash,
  slot,
  transactions,
  unixTimestamp
}: KeptBlock): GeyserBlockMeta => ({
  slot: String(slot),
  parentSlot: String(parent),
  blockhash,
  parentBlockhash,
  blockTime: { timestamp: String(unixTimestamp) },
  executedTransactionCount: String(transactions.length)
})
