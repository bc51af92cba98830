import { createHash } from "node:crypto"
import type { Address, Mint } from "../../domain/Address.ts"
import { toBase58 } from "../../domain/base58.ts"
import type { Receipt } from "./Receipt.ts"

/** One swap of a transaction. Amounts are what left and reached the trader's accounts. */
export interface RecordedSwap {
  readonly program: Address
  readonly pool: Address
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amountIn: bigint
  readonly amountOut: bigint
}

/** One action of a wallet, with its swaps in order: an arbitrage has two, a trade one or two, anything else none. */
export interface Deed {
  readonly kind: "trade" | "transfer" | "launch" | "graduation" | "liquidity" | "burn" | "authority" | "failed"
  readonly wallet: Address
  /** Lamports paid to the validator. */
  readonly fee: bigint
  /** Lamports paid to the front end that the wallet trades through. */
  readonly frontEndFee: bigint
  readonly swaps: ReadonlyArray<RecordedSwap>
  readonly receipt: Receipt
}

/** A deed with its place on the chain. */
export interface Transaction extends Deed {
  /** Base58 of 64 bytes. */
  readonly signature: string
  /** One for each signer; the first is `signature`. */
  readonly signatures: ReadonlyArray<string>
  readonly slot: number
  /** Position in the block, from 0. */
  readonly index: number
  /** Seconds since the Unix epoch. */
  readonly blockTime: number
}

/** Stores the transactions of the slots that a node keeps. */
export interface Ledger {
  readonly record: (slot: number, blockTime: number, deeds: ReadonlyArray<Deed>) => ReadonlyArray<Transaction>
  readonly forget: (transactions: ReadonlyArray<Transaction>) => void
  readonly find: (signature: string) => Transaction | undefined
  /** How many transactions were ever recorded, including removed ones. */
  readonly count: () => number
}

/** The signature of a signer, derived from the seed, and the slot and the position of the transaction. */
export const signatureOf = (seed: string, slot: number, index: number, signer: number): string =>
  toBase58(createHash("sha512").update(`${seed}:${slot}:${index}:${signer}`).digest())

/** An empty ledger. */
export const makeLedger = (seed: string): Ledger => {
  const bySignature = new Map<string, Transaction>()
  let count = 0

  const record = (slot: number, blockTime: number, deeds: ReadonlyArray<Deed>): ReadonlyArray<Transaction> => {
    const transactions = deeds.map((deed, index) => {
      const signatures = Array.from({ length: deed.receipt.message.signers }, (_, signer) =>
        signatureOf(seed, slot, index, signer)
      )
      return { ...deed, signature: signatures[0] ?? "", signatures, slot, index, blockTime }
    })
    for (const transaction of transactions) {
      bySignature.set(transaction.signature, transaction)
    }
    count += transactions.length
    return transactions
  }

  return {
    record,
    forget: (transactions) => transactions.forEach(({ signature }) => bySignature.delete(signature)),
    find: (signature) => bySignature.get(signature),
    count: () => count
  }
}
