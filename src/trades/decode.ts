/** From a transaction to its trades. Pure; a few microseconds beyond reading the JSON. */
import { SOL } from "../domain/Address.ts"
import type { Leg, NetTrade, Occurrence, Quantity, TransferFees } from "../domain/market/Trade.ts"
import { netTradesOf } from "./netTrades.ts"
import { fillsOf } from "./orders.ts"
import { type PoolSwap, poolSwapsOf } from "./poolSwaps.ts"
import { sidesOf } from "./sides.ts"
import { decimalsOf, type Transaction } from "./transaction.ts"
import { walletsOf } from "./wallets.ts"

/**
 * The trades of one transaction, twice: `legs` has every pool swap once, for pools and candles; `nets` has what each
 * wallet gave and got once, for wallets. They are two views of the same swaps: use one or the other, never the sum.
 */
export interface DecodedTrades {
  readonly legs: ReadonlyArray<Leg>
  readonly nets: ReadonlyArray<NetTrade>
  /** Count of swap instructions of known programs without both sides resolved. They are in neither list. */
  readonly unresolved: number
}

const NOTHING: DecodedTrades = { legs: [], nets: [], unresolved: 0 }

/** Position in the chain of an instruction of the transaction. */
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

/** The trades of a transaction. One that failed has none: nothing it did took effect. */
export const decodeTrades = (transaction: Transaction): DecodedTrades => {
  if (transaction.error !== null) {
    return NOTHING
  }
  const { swaps, unresolved } = poolSwapsOf(transaction)
  const fills = fillsOf(transaction)
  const wallets = walletsOf(transaction, swaps, fills)
  const occurrence = occurrenceIn(transaction)
  const quantity = (mint: Quantity["mint"], amount: bigint): Quantity => ({
    mint,
    amount,
    decimals: mint === SOL ? 9 : decimalsOf(transaction, mint)
  })
  const legs: Array<Leg> = []
  for (const [index, swap] of swaps.entries()) {
    const { outer = 0, inner = null } = transaction.instructions[swap.at] ?? {}
    const sides = sidesOf(quantity(swap.inputMint, swap.amountIn), quantity(swap.outputMint, swap.amountOut))
    legs.push({
      ...occurrence({ outer, inner }),
      ...sides,
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
