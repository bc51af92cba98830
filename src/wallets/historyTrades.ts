/** The trades of one wallet in a past transaction, priced by the SOL price of its time. Pure. */
import type { Address } from "../domain/Address.ts"
import type { Rational } from "../domain/rational.ts"
import { SolPrice } from "../market/model/SolPrice.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import { tapeTradesOf } from "../market/model/tapeTrades.ts"
import { tapeTransfersOf } from "../market/model/tapeTransfers.ts"
import { balanceChangesOf } from "../chain/decoding/balanceChanges.ts"
import { type DecodedTrades, decodeTrades } from "../chain/decoding/decodeTrades.ts"
import { walletMovesOf } from "../chain/decoding/walletMoves.ts"
import { walletTransfersOf } from "../chain/decoding/walletTransfers.ts"
import type { Transaction } from "../chain/decoding/transaction.ts"

/** The place of the newest transaction in its block, when the node does not state it. */
const LAST_PLACE = 1_000_000

/** Trades of SOL within this many slots price a transaction: five minutes at 400 ms. */
export const PRICED_SLOTS = 750
/** How many trades of SOL give a price. */
export const PRICED_BY = 64

/** A decoded transaction that has trades of the wallet, or transfers. */
export interface DecodedHistory extends DecodedTrades {
  readonly slot: number
  readonly timeMs: number
  readonly transfers: ReadonlyArray<TapeTrade>
}

/**
 * The trades and transfers of a transaction; null when the wallet has none in it. `rank` counts the wallet's
 * transactions in the slot from the newest, and orders them when the node does not state their place.
 */
export const decodedHistory = (transaction: Transaction, wallet: Address, rank: number): DecodedHistory | null => {
  const { blockTime, slot } = transaction
  const indexInBlock = transaction.indexInBlock ?? LAST_PLACE - rank
  const decoded = decodeTrades({ ...transaction, indexInBlock })
  if (blockTime === null) {
    return null
  }
  const changes = balanceChangesOf(transaction, decoded).filter(({ owner }) => owner === wallet)
  const moves = walletMovesOf(transaction, decoded, changes)
  const timeMs = blockTime * 1000
  return moves.length > 0 || decoded.nets.some((net) => net.wallet === wallet)
    ? {
        ...decoded,
        slot,
        timeMs,
        transfers: tapeTransfersOf(
          {
            index: indexInBlock,
            moves,
            signature: transaction.signature,
            transfers: moves.length === 0 ? [] : walletTransfersOf(transaction, decoded)
          },
          { slot, timeMs }
        )
      }
    : null
}

/**
 * Micro-dollars for a lamport at a time, from trades of SOL against dollars around that time, in any order; null when
 * unknown.
 */
export const solPriceBy = (swaps: ReadonlyArray<TapeTrade>, timeMs: number): Rational | null => {
  const price = new SolPrice()
  price.recall(swaps)
  return price.at(timeMs, null)
}

/** The wallet's own trades and transfers. Without a price of SOL, only trades against dollars have a value. */
export const historyTradesOf = (
  decoded: DecodedHistory,
  wallet: Address,
  microPerLamport: Rational | null
): ReadonlyArray<TapeTrade> => [
  ...tapeTradesOf(decoded, { timeMs: decoded.timeMs, microPerLamport }).filter(
    (trade) => trade.role !== "pool" && trade.wallet === wallet
  ),
  ...decoded.transfers
]
