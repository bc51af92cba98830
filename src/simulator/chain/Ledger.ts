import { createHash } from "node:crypto"
import type { Address, Mint } from "../../domain/Address.ts"
import { toBase58 } from "../../domain/base58.ts"
import type { Receipt } from "./Receipt.ts"

/** One swap inside a transaction, in what left and reached the trader's accounts. */
export interface RecordedSwap {
  readonly program: Address
  readonly pool: Address
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amountIn: bigint
  readonly amountOut: bigint
}

/** What a wallet did: its swaps, in order. An arbitrage has two, a plain trade one, all other deeds none. */
export interface Deed {
  readonly kind: "trade" | "transfer" | "launch" | "graduation" | "failed"
  readonly wallet: Address
  /** Lamports paid to the validator. */
  readonly fee: bigint
  readonly swaps: ReadonlyArray<RecordedSwap>
  readonly receipt: Receipt
}

/** A deed with its place on the chain. */
export interface Transaction extends Deed {
  /** Base58 of 64 bytes. */
  readonly signature: string
  /** One for each signer, the first included. */
  readonly signatures: ReadonlyArray<string>
  readonly slot: number
  /** Its position in the block, from 0. */
  readonly index: number
  /** Seconds since the Unix epoch. */
  readonly blockTime: number
}

/** The transactions of the slots that a node still has. */
export interface Ledger {
  readonly record: (slot: number, blockTime: number, deeds: ReadonlyArray<Deed>) => ReadonlyArray<Transaction>
  /** Forgets the transactions of a slot. */
  readonly forget: (slot: number) => void
  readonly find: (signature: string) => Transaction | undefined
  readonly inSlot: (slot: number) => ReadonlyArray<Transaction>
  /** How many there have ever been. */
  readonly count: () => number
}

/** A ledger that remembers transactions until it is told to forget them. */
export const makeLedger = (seed: string): Ledger => {
  const bySignature = new Map<string, Transaction>()
  const bySlot = new Map<number, ReadonlyArray<Transaction>>()
  let count = 0

  const forget = (slot: number): void => {
    for (const { signature } of bySlot.get(slot) ?? []) {
      bySignature.delete(signature)
    }
    bySlot.delete(slot)
  }

  const record = (slot: number, blockTime: number, deeds: ReadonlyArray<Deed>): ReadonlyArray<Transaction> => {
    const transactions = deeds.map((deed, index) => {
      const signatures = Array.from({ length: deed.receipt.message.signers }, (_, signer) =>
        toBase58(createHash("sha512").update(`${seed}:${slot}:${index}:${signer}`).digest())
      )
      return { ...deed, signature: signatures[0] ?? "", signatures, slot, index, blockTime }
    })
    for (const transaction of transactions) {
      bySignature.set(transaction.signature, transaction)
    }
    bySlot.set(slot, transactions)
    count += transactions.length
    return transactions
  }

  return {
    record,
    forget,
    find: (signature) => bySignature.get(signature),
    inSlot: (slot) => bySlot.get(slot) ?? [],
    count: () => count
  }
}
