/** What happened on the chain, as facts: no price of another market, no opinion. */
import { Schema } from "effect"
import type { Address, Mint } from "../Address.ts"
import type { Signature } from "../Signature.ts"

/** So much of one mint. */
export interface Quantity {
  readonly mint: Mint
  /** Atomic units. */
  readonly amount: bigint
  /** Null when nothing in the transaction tells. */
  readonly decimals: number | null
}

/** Where and when it happened. */
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
  /** What the whole transaction paid the network. */
  readonly feeLamports: bigint
}

/**
 * One exchange, told from the side of the token: what is neither SOL nor a dollar. Where both sides or neither are, the
 * dollar counts as money before SOL, and between two others what was given counts as the money.
 */
export interface Trade extends Occurrence {
  /** Whose tokens they were: not a keeper, not a router, not whoever paid the network fee. */
  readonly wallet: Address
  readonly side: "buy" | "sell"
  readonly token: Quantity
  readonly quote: Quantity
}

/**
 * One pool swap, for pools and candles: what moved between the pool and its trader. Fees that a program takes beside its
 * price are not in it. `index` counts the legs of the transaction.
 */
export interface Leg extends Trade {
  readonly index: number
  readonly pool: Address
  /** Venue label. */
  readonly dex: string
  /** Whether the program's own event says the same amounts; null when there is no event. */
  readonly confirmed: boolean | null
}

/**
 * What one wallet gave and got in one top-level instruction, or in the filling of one order, all fees included: one for a
 * route of any number of legs, several only where unconnected exchanges stand side by side. For wallets; adding it to the
 * legs would count twice. `index` counts these in the transaction.
 */
export interface NetTrade extends Trade {
  readonly index: number
  /** Indexes of the legs it is made of; empty when the route took only pools of programs that are not decoded. */
  readonly legs: ReadonlyArray<number>
  /** The pool, where a single one made the whole exchange; null otherwise. */
  readonly pool: Address | null
  readonly dex: string | null
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

/** Why a balance changed, as far as the transaction tells. */
export type BalanceCause = "trade" | "transfer" | "fee" | "mint" | "burn" | "unknown"

/** What a wallet held of a mint before and after a transaction, over all its token accounts that the transaction names. */
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

/** Where trades are kept does not answer, or has not been told of which chain they are. */
export class TradeStoreUnavailable extends Schema.TaggedError<TradeStoreUnavailable>()("TradeStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the trade store does not answer"
  }
}
