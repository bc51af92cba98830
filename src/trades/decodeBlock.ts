/** From the result of `getBlock` to a block of trades. Pure; it runs in the thread that reads blocks. */
import { Result } from "effect"
import type { Launch } from "../domain/market/Launch.ts"
import { balanceChangesOf } from "./balanceChanges.ts"
import { decodeTrades } from "./decode.ts"
import { makeHoldings } from "./blocks/holdings.ts"
import { launchesOf } from "./launches.ts"
import { movesOf } from "./moves.ts"
import { makeSupplyChanges } from "./blocks/supplyChanges.ts"
import { readBlock } from "./transaction.ts"
import type { BlockTransaction, TradeBlock } from "./blocks/TradeBlock.ts"
import { transfersOf } from "./transfers.ts"

/** The module that the thread which reads blocks runs. */
export const blockWorker: URL = new URL("./blockWorker.ts", import.meta.url)

/** The module that the thread which reads a Geyser runs. */
export const geyserWorker: URL = new URL("./blocks/geyserWorker.ts", import.meta.url)

/** The block; null when the result is not one. Transactions that only paid their fee, as failed ones do, keep their balance change. */
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
  let malformed = 0
  for (const [place, entry] of transactions.entries()) {
    if (Result.isFailure(entry)) {
      malformed += 1
      continue
    }
    const transaction = entry.success
    const index = transaction.indexInBlock ?? place
    const trades = decodeTrades(transaction)
    const { legs, nets, unresolved } = trades
    const transfers = transfersOf(transaction, trades)
    const changes = balanceChangesOf(transaction, trades)
    const moves = movesOf(transaction, trades, changes)
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
    // Those of a block that was read in part would be wrong.
    ...(malformed === 0 && { holdings: holdings.all() }),
    malformed
  }
}
