/** Decodes transactions, one at a time, and puts them together to a block of trades. Pure; runs off the main thread. */
import { Result } from "effect"
import type { Launch } from "../../api/schemas/Launch.ts"
import type { SupplyChange } from "../../api/schemas/SupplyChange.ts"
import { balanceChangesOf } from "./balanceChanges.ts"
import { decodeTrades } from "./decodeTrades.ts"
import { type HoldingChange, holdingChangesOf, makeHoldings } from "./holdings.ts"
import { launchesOf } from "./launches.ts"
import { poolSwapsOf } from "./poolSwaps.ts"
import { sumChecks, type SwapCheck } from "./swapChecks.ts"
import { walletMovesOf } from "./walletMoves.ts"
import { makeSupplyChanges, supplyChangesOf } from "./supplyChanges.ts"
import { readBlock, type Transaction } from "./transaction.ts"
import type { BlockTransaction, TradeBlock } from "./TradeBlock.ts"
import { walletTransfersOf } from "./walletTransfers.ts"

/** What a block keeps of one of its transactions. */
export interface DecodedTransaction {
  /** Null when nothing moved. */
  readonly kept: BlockTransaction | null
  readonly launches: ReadonlyArray<Launch>
  readonly supply: ReadonlyArray<SupplyChange>
  readonly holdings: ReadonlyArray<HoldingChange>
  readonly checks: ReadonlyArray<SwapCheck>
}

const NO_CHECKS: ReadonlyArray<SwapCheck> = []

/** Decodes a transaction at its position. A transaction that only paid its fee keeps its balance change. */
export const decodeTransaction = (transaction: Transaction, index: number): DecodedTransaction => {
  const found = transaction.error === null ? poolSwapsOf(transaction) : undefined
  const trades = decodeTrades(transaction, found)
  const { legs, nets, unresolved } = trades
  const transfers = walletTransfersOf(transaction, trades)
  const changes = balanceChangesOf(transaction, trades)
  const moves = walletMovesOf(transaction, trades, changes)
  const isEmpty = legs.length + nets.length + unresolved + transfers.length + changes.length === 0
  return {
    kept: isEmpty
      ? null
      : { signature: transaction.signature, index, legs, nets, transfers, changes, moves, unresolved },
    launches: launchesOf(transaction),
    supply: supplyChangesOf(transaction),
    holdings: holdingChangesOf(transaction),
    checks: found?.checks ?? NO_CHECKS
  }
}

/** The place of a block in the chain. */
export interface BlockPlace {
  readonly slot: number
  readonly parentSlot: number
  /** Seconds since the Unix epoch; null when it is not known. */
  readonly blockTime: number | null
}

/** Puts a block together from its transactions, in order. Null stands for one that is malformed. */
export const blockOf = (
  { blockTime, parentSlot, slot }: BlockPlace,
  transactions: Iterable<DecodedTransaction | null>
): TradeBlock => {
  const kept: Array<BlockTransaction> = []
  const launches: Array<Launch> = []
  const supply = makeSupplyChanges()
  const holdings = makeHoldings()
  const checks: Array<SwapCheck> = []
  let malformed = 0
  for (const transaction of transactions) {
    if (transaction === null) {
      malformed += 1
      continue
    }
    if (transaction.kept !== null) {
      kept.push(transaction.kept)
    }
    launches.push(...transaction.launches)
    supply.add(transaction.supply)
    holdings.add(transaction.holdings)
    checks.push(...transaction.checks)
  }
  return {
    slot,
    parentSlot,
    blockTimeMs: blockTime === null ? null : blockTime * 1000,
    transactions: kept,
    launches,
    supply: supply.all(),
    // The holdings of a block that was only read in part would be wrong.
    ...(malformed === 0 && { holdings: holdings.all() }),
    checks: sumChecks(checks),
    malformed
  }
}

/** Decodes the result of `getBlock`; null when it is not a block. */
export const decodeBlock = (slot: number, answer: unknown): TradeBlock | null => {
  const read = readBlock(slot, answer)
  if (Result.isFailure(read)) {
    return null
  }
  const { transactions, ...place } = read.success
  return blockOf(
    place,
    transactions.map((entry, at) =>
      Result.isFailure(entry) ? null : decodeTransaction(entry.success, entry.success.indexInBlock ?? at)
    )
  )
}
