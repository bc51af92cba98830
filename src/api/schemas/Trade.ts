/** Facts of the chain only. Prices of other markets and estimates are kept elsewhere. */
import { Schema } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { Signature } from "../../domain/Signature.ts"

/** An amount of one mint. */
export interface Quantity {
  readonly mint: Mint
  /** Atomic units. */
  readonly amount: bigint
  /** Null when the transaction does not contain it. */
  readonly decimals: number | null
}

/** Units of one mint in the accounts of one wallet that a transaction names, before and after the transaction. */
export interface HeldSpan {
  readonly before: bigint
  readonly after: bigint
}

/** Position on the chain. */
export interface Occurrence {
  readonly signature: Signature
  readonly slot: number
  /** Seconds since the Unix epoch, as the validators agreed; null when unknown. */
  readonly blockTime: number | null
  /** Position of the transaction in its block; null when unknown. */
  readonly indexInBlock: number | null
  /** Top-level instruction. */
  readonly outer: number
  /** Position inside it; null for the top-level instruction itself. */
  readonly inner: number | null
  /** Network fee of the whole transaction. */
  readonly feeLamports: bigint
}

/**
 * One swap from the token's side. The token is the mint that is neither SOL nor a dollar. Between SOL and a dollar, the
 * dollar is the quote. Between two other mints, the given mint is the quote.
 */
export interface Trade extends Occurrence {
  /** Owner of the tokens, not a keeper, a router or the fee payer. */
  readonly wallet: Address
  readonly side: "buy" | "sell"
  readonly token: Quantity
  readonly quote: Quantity
}

/** Units that the mints of a swap withheld as transfer fees, for token and quote. */
export interface TransferFees {
  readonly token: bigint
  readonly quote: bigint
}

/**
 * One pool swap, for pools, candles and prices. It is the amount that the pool received, after a transfer fee, for the
 * amount that it paid, before one. It leaves out fees that a program takes beside its price, and a referrer's share.
 * The wallet sent the input plus its transfer fee and received the output minus its fee: `walletAmounts`. `index`
 * counts the legs of the transaction.
 */
export interface Leg extends Trade {
  readonly index: number
  readonly pool: Address
  /** Venue label. */
  readonly dex: string
  /** True when the program's own event shows the same amounts; null without an event. */
  readonly confirmed: boolean | null
  /** Null where neither mint takes a transfer fee. */
  readonly transferFees: TransferFees | null
}

/** The amounts of a leg that left the wallet and reached it. */
export const walletAmounts = ({
  side,
  token,
  quote,
  transferFees
}: Leg): { readonly token: bigint; readonly quote: bigint } => {
  const fees = transferFees ?? { token: 0n, quote: 0n }
  return side === "buy"
    ? { token: token.amount - fees.token, quote: quote.amount + fees.quote }
    : { token: token.amount + fees.token, quote: quote.amount - fees.quote }
}

/** A payment beside a trade, to neither a pool nor the wallet itself. Rent does not count, because it returns. */
export interface TradeFee extends Quantity {
  /** To the front end of a wallet or terminal, or as a tip to a block builder. */
  readonly kind: "front-end" | "tip"
  /** Owner of the account that was paid. */
  readonly recipient: Address
  /** True when the amounts of the trade include it, because it was paid inside the trade's own instruction. */
  readonly included: boolean
  /** Position of the payment, like the position of a trade. */
  readonly outer: number
  readonly inner: number | null
}

/**
 * Amounts that one wallet gave and received in one top-level instruction, or in the fill of one order, all fees
 * included. A route has one net trade, whatever its number of legs; several occur only for unconnected swaps side by
 * side. It is for wallets: adding it to the legs would count twice. `index` counts the net trades of the transaction.
 */
export interface NetTrade extends Trade {
  readonly index: number
  /** Indexes of its legs; empty when the route used only pools of programs that are not decoded. */
  readonly legs: ReadonlyArray<number>
  /** The pool when a single pool made the whole exchange; null otherwise. */
  readonly pool: Address | null
  /** Venue of that pool, or the aggregator that routed the swap; null for other programs. */
  readonly dex: string | null
  /**
   * Units of both mints that the wallet held. Null for SOL and dollars, and where the transaction names none of the
   * wallet's accounts.
   */
  readonly held: { readonly token: HeldSpan | null; readonly quote: HeldSpan | null }
  /** Fees beside the swap, each on the last net trade that it can belong to. */
  readonly fees: ReadonlyArray<TradeFee>
  /**
   * The part of the network fee above the price of the signatures. It is on the first net trade of the wallet that paid
   * it, and zero on every other. Null when the number of signatures is unknown.
   */
  readonly priorityLamports: bigint | null
}

/** Tokens or lamports that went from one wallet to another outside of any trade. */
export interface Transfer extends Occurrence {
  readonly from: Address
  readonly to: Address
  readonly mint: Mint
  readonly amount: bigint
  readonly decimals: number | null
  /** True for lamports instead of tokens. The mint is then SOL. */
  readonly native: boolean
}

/** Cause of a balance change, as far as the transaction shows it. */
export type BalanceCause = "trade" | "transfer" | "fee" | "mint" | "burn" | "unknown"

/**
 * Holding of a mint before and after a transaction, over all of the wallet's token accounts that the transaction names.
 */
export interface BalanceChange {
  readonly owner: Address
  readonly mint: Mint
  readonly before: bigint
  readonly after: bigint
  readonly delta: bigint
  readonly decimals: number | null
  /** True for lamports instead of tokens. The mint is then SOL. */
  readonly native: boolean
  readonly cause: BalanceCause
}

/** The trade store does not answer, or no chain has been opened in it. */
export class TradeStoreUnavailable extends Schema.TaggedError<TradeStoreUnavailable>()("TradeStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the trade store does not answer"
  }
}
