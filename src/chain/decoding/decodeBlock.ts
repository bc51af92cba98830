/** Decodes the result of `getBlock` into a block of trades. Pure; runs in the thread that reads blocks. */
import { Result } from "effect"
import type { Launch } from "../../api/schemas/Launch.ts"
import { balanceChangesOf } from "./balanceChanges.ts"
import { decodeTrades } from "./decodeTrades.ts"
import { makeHoldings } from "./holdings.ts"
import { launchesOf } from "./launches.ts"
import { poolSwapsOf } from "./poolSwaps.ts"
import { sumChecks, type SwapCheck } from "./swapChecks.ts"
import { walletMovesOf } from "./walletMoves.ts"
import { makeSupplyChanges } from "./supplyChanges.ts"
import { readBlock } from "./transaction.ts"
import type { BlockTransaction, TradeBlock } from "./TradeBlock.ts"
import { walletTransfersOf } from "./walletTransfers.ts"

/** Decodes a block; null when the result is not one. A transaction that only paid its fee keeps its balance change. */
export const decodeBlock = (slot: number, answer: unknown): TradeBlock | null => {
  const read = readBlock(slot, answer)
  if (Result.isFailure(read)) {
    return null
  }
  const { parentSlot, blockTime, transactions } = read.success
  const kept: Array<BlockTransaction> = []
  const launches: Array<Launch> = []
  const supply = makeSupplyChanges()
  const holdings = makeHoldings()
  const checks: Array<SwapCheck> = []
  let malformed = 0
  for (const [place, entry] of transactions.entries()) {
    if (Result.isFailure(entry)) {
      malformed += 1
      continue
    }
    const transaction = entry.success
    const index = transaction.indexInBlock ?? place
    const found = transaction.error === null ? poolSwapsOf(transaction) : undefined
    checks.push(...(found?.checks ?? []))
    const trades = decodeTrades(transaction, found)
    const { legs, nets, unresolved } = trades
    const transfers = walletTransfersOf(transaction, trades)
    const changes = balanceChangesOf(transaction, trades)
    const moves = walletMovesOf(transaction, trades, changes)
    launches.push(...launchesOf(transaction))
    supply.add(transaction)
    holdings.add(transaction)
    if (legs.length + nets.length + unresolved + transfers.length + changes.length > 0) {
      kept.push({ signature: transaction.signature, index, legs, nets, transfers, changes, moves, unresolved })
    }
  }
  const blockTimeMs = blockTime === null ? null : blockTime * 1000
  return {
    slot,
    parentSlot,
    blockTimeMs,
    transactions: kept,
    launches,
    supply: supply.all(),
    // The holdings of a block that was only read in part would be wrong.
    ...(malformed === 0 && { holdings: holdings.all() }),
    checks: sumChecks(checks),
    malformed
  }
}
