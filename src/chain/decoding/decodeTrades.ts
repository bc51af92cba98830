/** Decodes a transaction into its trades. Pure. Takes a few microseconds more than reading the JSON. */
import type { Leg, NetTrade, Occurrence, TransferFees } from "../../api/schemas/Trade.ts"
import { netTradesOf } from "./netTrades.ts"
import { fillsOf } from "./orders.ts"
import { type PoolSwap, type PoolSwaps, poolSwapsOf } from "./poolSwaps.ts"
import { sidesOf } from "./sides.ts"
import { quantityOf, type Transaction } from "./transaction.ts"
import { swapOwnersOf } from "./swapOwners.ts"

/**
 * The trades of one transaction, in two views of the same swaps. `legs` has every pool swap once, for pools and
 * candles. `nets` has the total that each wallet gave and got, for wallets. Use one view or the other, never the sum.
 */
export interface DecodedTrades {
  readonly legs: ReadonlyArray<Leg>
  readonly nets: ReadonlyArray<NetTrade>
  /** How many swap instructions of known programs could not be resolved on both sides. They are in neither list. */
  readonly unresolved: number
}

const NOTHING: DecodedTrades = { legs: [], nets: [], unresolved: 0 }

const NOWHERE = { outer: 0, inner: null }

/** The position of an instruction in the chain. */
export const occurrenceIn =
  ({ signature, slot, blockTime, indexInBlock, feeLamports }: Transaction) =>
  ({ outer, inner }: { readonly outer: number; readonly inner: number | null }): Occurrence => ({
    signature,
    slot,
    blockTime,
    indexInBlock,
    outer,
    inner,
    feeLamports
  })

const transferFeesOf = (side: Leg["side"], { feeIn, feeOut }: PoolSwap): TransferFees | null =>
  feeIn === 0n && feeOut === 0n
    ? null
    : side === "buy"
      ? { token: feeOut, quote: feeIn }
      : { token: feeIn, quote: feeOut }

/**
 * The trades of a transaction. A failed transaction has none, because nothing it did took effect. `found` are its pool
 * swaps, if the caller has them.
 */
export const decodeTrades = (transaction: Transaction, found?: PoolSwaps): DecodedTrades => {
  if (transaction.error !== null) {
    return NOTHING
  }
  const { swaps, unresolved } = found ?? poolSwapsOf(transaction)
  const fills = fillsOf(transaction)
  const wallets = swapOwnersOf(transaction, swaps, fills)
  const occurrence = occurrenceIn(transaction)
  const legs: Array<Leg> = []
  for (const [index, swap] of swaps.entries()) {
    const { outer, inner } = transaction.instructions[swap.at] ?? NOWHERE
    const sides = sidesOf(
      quantityOf(transaction, swap.inputMint, swap.amountIn),
      quantityOf(transaction, swap.outputMint, swap.amountOut)
    )
    legs.push({
      ...occurrence({ outer, inner }),
      side: sides.side,
      token: sides.token,
      quote: sides.quote,
      index,
      wallet: wallets[index] ?? swap.pool,
      pool: swap.pool,
      dex: swap.dex,
      confirmed: swap.confirmed,
      transferFees: transferFeesOf(sides.side, swap)
    })
  }
  const nets = netTradesOf(transaction, swaps, legs, fills, occurrence)
  return legs.length === 0 && nets.length === 0 && unresolved === 0 ? NOTHING : { legs, nets, unresolved }
}
