import type { Launch } from "../../api/schemas/Launch.ts"
import type { LiquidityChange } from "../../api/schemas/LiquidityEvent.ts"
import type { WalletOpening } from "../../api/schemas/WalletOpening.ts"
import type { SupplyChange } from "../../api/schemas/SupplyChange.ts"
import type { BalanceChange, Leg, NetTrade, Transfer } from "../../api/schemas/Trade.ts"
import type { Signature } from "../../domain/Signature.ts"
import type { BlockHoldings } from "./holdings.ts"
import type { ProgramChecks } from "./swapChecks.ts"
import type { BlockHead } from "../blocks/BlockFeed.ts"

/** What was decoded from a transaction. A failed transaction has only its fee. */
export interface BlockTransaction {
  readonly signature: Signature
  /** Position in the block, from 0. */
  readonly index: number
  readonly legs: ReadonlyArray<Leg>
  readonly nets: ReadonlyArray<NetTrade>
  readonly transfers: ReadonlyArray<Transfer>
  readonly changes: ReadonlyArray<BalanceChange>
  /** Balance changes of wallets in mints that they did not trade, without SOL and dollars. */
  readonly moves: ReadonlyArray<BalanceChange>
  /** How many swap instructions have an unknown side. */
  readonly unresolved: number
}

/** A block with its trades, transfers, balance changes, launches and changes of supply. */
export interface TradeBlock extends BlockHead {
  /** In the order of the block. May be packed, so that each iteration decodes again: use `visitInTurns` once. */
  readonly transactions: Iterable<BlockTransaction>
  readonly launches: ReadonlyArray<Launch>
  /** Mints whose supply the block changed. */
  readonly supply: ReadonlyArray<SupplyChange>
  /** What providers added to pools and took from them, in the order of the block. Absent when the feed does not say. */
  readonly liquidity?: ReadonlyArray<LiquidityChange> | undefined
  /** The transfers that opened the accounts of wallets, in the order of the block. Absent when the feed does not say. */
  readonly openings?: ReadonlyArray<WalletOpening> | undefined
  /** Changes of token holdings; absent when a transaction could not be decoded. */
  readonly holdings?: BlockHoldings | undefined
  /** How well the decoded amounts agree with events and balances, by program. Absent when the feed does not check. */
  readonly checks?: ReadonlyArray<ProgramChecks> | undefined
  /** How many transactions could not be decoded. */
  readonly malformed: number
}
