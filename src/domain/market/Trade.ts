/** Facts of the chain: no price of another market, no estimate. */
import { Schema } from "effect"
import type { Address, Mint } from "../Address.ts"
import type { Signature } from "../Signature.ts"

/** So much of one mint. */
export interface Quantity {
  readonly mint: Mint
  /** Atomic units. */
  readonly amount: bigint
  /** Null when the transaction does not contain it. */
  readonly decimals: number | null
}

/** Units of one mint over the accounts of one wallet that a transaction names, before and after it. */
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
  /** Position inside of it; null for the top-level instruction itself. */
  readonly inner: number | null
  /** Network fee of the whole transaction. */
  readonly feeLamports: bigint
}

/**
 * One swap from the side of the token, which is the mint that is neither SOL nor a dollar. Where both sides or neither are,
 * a dollar is the quote before SOL, and between two others the mint that was given is the quote.
 */
export interface Trade extends Occurrence {
  /** Owner of the tokens: not a keeper, a router or the fee payer. */
  readonly wallet: Address
  readonly side: "buy" | "sell"
  readonly token: Quantity
  readonly quote: Quantity
}

/** Units that the mints of a swap withheld as transfer fees, of the token and of the quote. */
export interface TransferFees {
  readonly token: bigint
  readonly quote: bigint
}

/**
 * One pool swap, for pools, candles and prices: the amount that the pool received, after a transfer fee, for the amount that
 * it paid, before one. Fees that a program takes beside its price, and a referrer's share, are not in it. The wallet sent
 * the input and its transfer fee, and received the output less its own: `walletAmounts`. `index` counts the legs of the
 * transaction.
 */
export interface Leg extends Trade {
  readonly index: number
  readonly pool: Address
  /** Venue label. */
  readonly dex: string
  /** True when the program's own event has the same amounts; null without an event. */
  readonly confirmed: boolean | null
  /** Null where neither mint takes a transfer fee. */
  readonly transferFees: TransferFees | null
}

/** The amounts of a leg that left and reached the wallet. */
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

/** A payment beside a trade, to neither a pool nor the wallet itself. Rent is none: it returns. */
export interface TradeFee extends Quantity {
  /** Of a wallet's or terminal's front end, or a tip to a block builder. */
  readonly kind: "front-end" | "tip"
  /** Owner of the account that was paid. */
  readonly recipient: Address
  /** True when the amounts of the trade contain it: it was paid inside of the trade's own instruction. */
  readonly included: boolean
  /** Position of the payment, as of the trade. */
  readonly outer: number
  readonly inner: number | null
}

/**
 * Amounts that one wallet gave and received in one top-level instruction, or in the fill of one order, all fees included:
 * one per route of any number of legs, several only for unconnected swaps side by side. For wallets; adding it to the
 * legs counts twice. `index` counts net trades of the transaction.
 */
export interface NetTrade extends Trade {
  readonly index: number
  /** Indexes of the legs it is made of; empty when the route took only pools of programs that are not decoded. */
  readonly legs: ReadonlyArray<number>
  /** The pool, where a single one made the whole exchange; null otherwise. */
  readonly pool: Address | null
  /** Venue of that pool, else the aggregator that routed the swap; null for other programs. */
  readonly dex: string | null
  /** Units of both mints that the wallet held; null for SOL and dollars, and where the transaction names none of its accounts. */
  readonly held: { readonly token: HeldSpan | null; readonly quote: HeldSpan | null }
  /** Fees beside the swap, each with the last net trade that it can belong to. */
  readonly fees: ReadonlyArray<TradeFee>
  /**
   * The part of the network fee beyond the price of its signatures, with the first net trade of the wallet that paid it;
   * zero with any other. Null when the count of signatures is unknown.
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
  /** Lamports rather than tokens; the mint then is SOL. */
  readonly native: boolean
}

/** Cause of a balance change, as far as the transaction shows it. */
export type BalanceCause = "trade" | "transfer" | "fee" | "mint" | "burn" | "unknown"

/** Holding of a mint before and after a transaction, over all token accounts of the wallet that the transaction names. */
export interface BalanceChange {
  readonly owner: Address
  readonly mint: Mint
  readonly before: bigint
  readonly after: bigint
  readonly delta: bigint
  readonly decimals: number | null
  /** Lamports rather than tokens; the mint then is SOL. */
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
