/** Decodes transactions, one at a time, and puts them together to a block of trades. Pure; runs off the main thread. */
import { Result } from "effect"
import type { Launch } from "../../api/schemas/Launch.ts"
import type { LiquidityChange } from "../../api/schemas/LiquidityEvent.ts"
import type { WalletOpening } from "../../api/schemas/WalletOpening.ts"
import type { SupplyChange } from "../../api/schemas/SupplyChange.ts"
import { balanceChangesOf } from "./balanceChanges.ts"
import { decodeTrades } from "./decodeTrades.ts"
import { type HoldingChange, holdingChangesOf, makeHoldings } from "./holdings.ts"
import { launchesOf } from "./launches.ts"
import { PackedTransactions } from "./PackedTransactions.ts"
import { poolSwapsOf } from "./poolSwaps.ts"
import { RowWriter } from "./rowWriter.ts"
import { sumChecks, type SwapCheck } from "./swapChecks.ts"
import { liquidityChangesOf } from "./liquidityChanges.ts"
import { walletOpeningsOf } from "./walletOpenings.ts"
import { walletMovesOf } from "./walletMoves.ts"
import { makeSupplyChanges, supplyChangesOf } from "./supplyChanges.ts"
import { type MalformedTransaction, readBlock, readPlaced, type Transaction, transactionsOf } from "./transaction.ts"
import type { BlockTransaction, TradeBlock } from "./TradeBlock.ts"
import { walletTransfersOf } from "./walletTransfers.ts"

/** What a block sums over its transactions. */
export interface Findings {
  readonly launches: ReadonlyArray<Launch>
  readonly supply: ReadonlyArray<SupplyChange>
  readonly liquidity: ReadonlyArray<LiquidityChange>
  readonly openings: ReadonlyArray<WalletOpening>
  readonly holdings: ReadonlyArray<HoldingChange>
  readonly checks: ReadonlyArray<SwapCheck>
}

/** What a block keeps of one of its transactions, and what it sums. */
export interface DecodedTransaction {
  readonly found: Findings
  /** Null when nothing moved. */
  readonly kept: BlockTransaction | null
}

const NO_CHECKS: ReadonlyArray<SwapCheck> = []

/** Decodes a transaction at its position. A transaction that only paid its fee keeps its balance change. */
export const decodeTransaction = (transaction: Transaction, index: number): DecodedTransaction => {
  const swaps = transaction.error === null ? poolSwapsOf(transaction) : undefined
  const trades = decodeTrades(transaction, swaps)
  const { legs, nets, unresolved } = trades
  const transfers = walletTransfersOf(transaction, trades)
  const changes = balanceChangesOf(transaction, trades)
  const moves = walletMovesOf(transaction, trades, changes)
  const isEmpty = legs.length + nets.length + unresolved + transfers.length + changes.length === 0
  return {
    kept: isEmpty
      ? null
      : { signature: transaction.signature, index, legs, nets, transfers, changes, moves, unresolved },
    found: {
      launches: launchesOf(transaction),
      supply: supplyChangesOf(transaction),
      liquidity: liquidityChangesOf(transaction, index),
      openings: walletOpeningsOf(transaction, index),
      holdings: holdingChangesOf(transaction),
      checks: swaps?.checks ?? NO_CHECKS
    }
  }
}

/** The place of a block in the chain. */
export interface BlockPlace {
  readonly slot: number
  readonly parentSlot: number
  /** Seconds since the Unix epoch; null when it is not known. */
  readonly blockTime: number | null
}

/** Everything of a block but its transactions, from what was found in them, in order. Null stands for a malformed one. */
export const headOf = (
  { blockTime, parentSlot, slot }: BlockPlace,
  transactions: Iterable<Findings | null>
): Omit<TradeBlock, "transactions"> => {
  const launches: Array<Launch> = []
  const supply = makeSupplyChanges()
  const liquidity: Array<LiquidityChange> = []
  const openings: Array<WalletOpening> = []
  const holdings = makeHoldings()
  const checks: Array<SwapCheck> = []
  let malformed = 0
  for (const found of transactions) {
    if (found === null) {
      malformed += 1
      continue
    }
    launches.push(...found.launches)
    supply.add(found.supply)
    liquidity.push(...found.liquidity)
    openings.push(...found.openings)
    holdings.add(found.holdings)
    checks.push(...found.checks)
  }
  return {
    slot,
    parentSlot,
    blockTimeMs: blockTime === null ? null : blockTime * 1000,
    launches,
    supply: supply.all(),
    liquidity,
    openings,
    // The holdings of a block that was only read in part would be wrong.
    ...(malformed === 0 && { holdings: holdings.all() }),
    checks: sumChecks(checks),
    malformed
  }
}

/** Puts a block together from its transactions, in order. Null stands for one that is malformed. */
export const blockOf = (place: BlockPlace, transactions: ReadonlyArray<DecodedTransaction | null>): TradeBlock => ({
  ...headOf(
    place,
    transactions.map((transaction) => transaction?.found ?? null)
  ),
  transactions: transactions.flatMap((transaction) => transaction?.kept ?? [])
})

/** Decodes a transaction of a block; null for a malformed one. */
const decodedRead = (
  read: Result.Result<Transaction, MalformedTransaction>,
  place: number
): DecodedTransaction | null =>
  Result.isFailure(read) ? null : decodeTransaction(read.success, read.success.indexInBlock ?? place)

/** Decodes the result of `getBlock`; null when it is not a block. */
export const decodeBlock = (slot: number, answer: unknown): TradeBlock | null => {
  const block = readBlock(slot, answer)
  return block === null ? null : blockOf(block, Array.from(transactionsOf(block), decodedRead))
}

/**
 * Packs decoded transactions, one at a time and in order, so that no more than one of them is there as objects. Their
 * time is the time of their block, which comes last.
 */
export class BlockRows {
  readonly #writer = new RowWriter("block")
  readonly #rows: Array<number> = []
  readonly #found: Array<Findings | null> = []

  /** Adds a transaction; null stands for a malformed one. */
  add(decoded: DecodedTransaction | null): void {
    this.#found.push(decoded?.found ?? null)
    if (decoded !== null && decoded.kept !== null) {
      this.#rows.push(this.#writer.add(decoded.kept))
    }
  }

  /** The block of these transactions. */
  block(place: BlockPlace): TradeBlock {
    return {
      ...headOf(place, this.#found),
      transactions: new PackedTransactions(this.#writer.block(this.#rows, place.blockTime))
    }
  }
}

/** Decodes and packs the result of `getBlock` while its transactions arrive. */
export class AnswerRows {
  readonly #slot: number
  readonly #rows = new BlockRows()
  #next = 0

  constructor(slot: number) {
    this.#slot = slot
  }

  /** Adds the next transaction, as the node states it. */
  add(entry: unknown): void {
    const place = this.#next++
    this.#rows.add(decodedRead(readPlaced({ slot: this.#slot, blockTime: null }, entry, place), place))
  }

  /** The block. `rest` is the result without the transactions that were added. Null when it is not a block. */
  end(rest: unknown): TradeBlock | null {
    const block = readBlock(this.#slot, rest)
    if (block === null) {
      return null
    }
    block.entries.forEach((entry) => this.add(entry))
    return this.#rows.block(block)
  }
}

/** Decodes and packs the result of `getBlock`; null when it is not a block. */
export const decodeToRows = (slot: number, answer: unknown): TradeBlock | null => new AnswerRows(slot).end(answer)
