/** Turns messages of a stream into parts of slots, and a whole slot into the answer of `getBlock`. Pure. */
import { toBase58 } from "../../domain/base58.ts"
import {
  countOf,
  type GeyserInstruction,
  type GeyserMeta,
  type GeyserTokenBalance,
  type GeyserTransaction,
  type GeyserUpdate
} from "./geyserUpdates.ts"
import type { SlotPart, WholeSlot } from "./SlotAssembly.ts"

/** The part of a slot in a message; null for other messages. */
export const partOf = ({
  blockMeta,
  transaction,
  transactionStatus
}: GeyserUpdate): SlotPart<GeyserTransaction> | null => {
  if (transaction?.transaction !== undefined) {
    const { slot, transaction: info } = transaction
    // A server that ignores the filter sends votes too.
    return {
      _tag: "transaction",
      slot: countOf(slot),
      index: countOf(info.index),
      transaction: info.isVote === true ? null : info
    }
  }
  if (transactionStatus !== undefined) {
    const { index, slot } = transactionStatus
    return { _tag: "transaction", slot: countOf(slot), index: countOf(index), transaction: null }
  }
  if (blockMeta === undefined) {
    return null
  }
  const { blockTime, executedTransactionCount, parentSlot, slot } = blockMeta
  const head = {
    slot: countOf(slot),
    parentSlot: countOf(parentSlot),
    blockTime: blockTime === undefined ? null : countOf(blockTime.timestamp),
    executed: countOf(executedTransactionCount)
  }
  return { _tag: "head", head }
}

/** A confirmed slot and its parent; null for other messages. */
export const linkOf = (
  { blockMeta, slot }: GeyserUpdate,
  commitment: number
): { slot: number; parentSlot: number | null } | null => {
  if (blockMeta !== undefined) {
    return { slot: countOf(blockMeta.slot), parentSlot: countOf(blockMeta.parentSlot) }
  }
  if (slot?.status !== commitment) {
    return null
  }
  return { slot: countOf(slot.slot), parentSlot: slot.parent === undefined ? null : countOf(slot.parent) }
}

/** How many keys are cached: those of a minute on a busy chain. */
const MOST_KEYS = 20_000

/** Base58 of account keys, cached because the same keys come again and again. */
const makeKeyTexts = () => {
  const texts = new Map<string, string>()
  return (key: Uint8Array): string => {
    const name = Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1")
    const known = texts.get(name)
    if (known !== undefined) {
      return known
    }
    if (texts.size >= MOST_KEYS) {
      texts.clear()
    }
    const text = toBase58(key)
    texts.set(name, text)
    return text
  }
}

const keyText = makeKeyTexts()

const NO_BYTES = new Uint8Array(0)

const instructionOf = ({ accounts, data, programIdIndex, stackHeight }: GeyserInstruction) => ({
  programIdIndex: programIdIndex ?? 0,
  // Bytes, not texts. Readers of instructions take either, and would decode texts again.
  accounts: accounts ?? NO_BYTES,
  data: data ?? NO_BYTES,
  ...(stackHeight !== undefined && { stackHeight })
})

const balanceOf = ({ accountIndex, mint, owner, programId, uiTokenAmount }: GeyserTokenBalance) => ({
  accountIndex: accountIndex ?? 0,
  mint,
  // On the wire an absent text is empty.
  ...(owner !== undefined && owner !== "" && { owner }),
  ...(programId !== undefined && programId !== "" && { programId }),
  uiTokenAmount: { amount: uiTokenAmount?.amount, decimals: uiTokenAmount?.decimals ?? 0 }
})

const metaOf = (meta: GeyserMeta) => ({
  // Decoders only look whether there is an error, so its binary form is not decoded.
  err: meta.err === undefined ? null : Buffer.from(meta.err.err ?? NO_BYTES).toString("base64"),
  fee: meta.fee ?? "0",
  preBalances: meta.preBalances,
  postBalances: meta.postBalances,
  innerInstructions: meta.innerInstructions.map(({ index, instructions }) => ({
    index: index ?? 0,
    instructions: instructions.map(instructionOf)
  })),
  logMessages: meta.logMessagesNone === true ? null : meta.logMessages,
  preTokenBalances: meta.preTokenBalances.map(balanceOf),
  postTokenBalances: meta.postTokenBalances.map(balanceOf),
  loadedAddresses: {
    writable: meta.loadedWritableAddresses.map(keyText),
    readonly: meta.loadedReadonlyAddresses.map(keyText)
  }
})

/** A transaction as in the answer of `getBlock`. It states its position, because votes are left out. */
const entryOf = (index: number, { meta, transaction }: GeyserTransaction) => ({
  index,
  meta: meta === undefined ? null : metaOf(meta),
  transaction: {
    signatures: (transaction?.signatures ?? []).map(toBase58),
    message: {
      accountKeys: (transaction?.message?.accountKeys ?? []).map(keyText),
      instructions: (transaction?.message?.instructions ?? []).map(instructionOf)
    }
  }
})

/** The slot as the answer of `getBlock` in encoding `json`, as far as decoders read it. Instructions are bytes. */
export const blockAnswer = ({ head: { blockTime, parentSlot }, transactions }: WholeSlot<GeyserTransaction>) => ({
  parentSlot,
  blockTime,
  transactions: transactions.map(([index, transaction]) => entryOf(index, transaction))
})
