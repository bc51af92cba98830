import type { Launch } from "../../domain/market/Launch.ts"
import type { SupplyChange } from "../../domain/market/SupplyChange.ts"
import type { BalanceChange, Leg, NetTrade, Transfer } from "../../domain/market/Trade.ts"
import type { Signature } from "../../domain/Signature.ts"
import type { BlockHoldings } from "./holdings.ts"
import type { BlockHead } from "../../solana/blocks/BlockFeed.ts"

/** The decoded parts of one successful transaction, where it has any, or the fee of a failed one. */
export interface BlockTransaction {
  readonly signature: Signature
  /** Position in the block, from 0. */
  readonly index: number
  readonly legs: ReadonlyArray<Leg>
  readonly nets: ReadonlyArray<NetTrade>
  readonly transfers: ReadonlyArray<Transfer>
  readonly changes: ReadonlyArray<BalanceChange>
  /** The changes of wallets in a mint without a net trade of it, beside those of SOL and dollars. */
  readonly moves: ReadonlyArray<BalanceChange>
  /** Swap instructions of which one side is unknown. */
  readonly unresolved: number
}

/** A block with its trades, transfers, balance changes, launches and changes of supply. */
export interface TradeBlock extends BlockHead {
  /** In the order of the block. They may be packed: each iteration decodes them anew, so iterate once, with `visitInParts`. */
  readonly transactions: Iterable<BlockTransaction>
  readonly launches: ReadonlyArray<Launch>
  /** Mints whose supply the block changed. */
  readonly supply: ReadonlyArray<SupplyChange>
  /** Changes of token holdings; absent when transactions could not be decoded. */
  readonly holdings?: BlockHoldings | undefined
  /** Transactions that could not be decoded. */
  readonly malformed: number
}
