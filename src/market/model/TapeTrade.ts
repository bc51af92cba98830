import type { Address, Mint } from "../../domain/Address.ts"
import type { HeldSpan, Quantity } from "../../api/schemas/Trade.ts"

/**
 * The use of a trade. `pool`: one swap of one pool, for prices, volumes and venues. `wallet`: the net result of a whole
 * route, for the sums of its wallet. `both`: a route through one pool whose swap and net result are equal. `transfer`:
 * no trade, but units that came to a wallet or left it in another way; kept beside the trades, for positions only.
 */
export type Role = "pool" | "wallet" | "both" | "transfer"

/** One executed swap as the market structures take it, priced where a price was known. */
export interface TapeTrade {
  readonly role: Role
  readonly signature: string
  readonly slot: number
  /** Place among the trades of its slot. Slot and index together order trades. */
  readonly index: number
  /** Block time, in milliseconds since the Unix epoch. */
  readonly timeMs: number
  /** The owner of the position, never a router. */
  readonly wallet: Address
  readonly mint: Mint
  readonly side: "buy" | "sell"
  /** Units of the mint that changed hands; at most u64. */
  readonly amount: bigint
  /** Null when unknown. */
  readonly decimals: number | null
  /** The other side in lamports; null when it was not SOL. */
  readonly lamports: bigint | null
  /**
   * The other side of a swap of two tokens. The recorded price of one of them gives the value. Left out when SOL or a
   * dollar gives the value.
   */
  readonly otherToken?: Quantity | undefined
  /** Nano-dollars for one SOL in the trade's block, when neither side is SOL; null otherwise or when unknown. */
  readonly solUsdNanos: bigint | null
  /** USD per whole token; null when unknown. For charts only: no sum is made from it. */
  readonly priceUsd: number | null
  /** Nano-dollars that changed hands, below 2^64; null when unknown. */
  readonly volumeUsdNanos: bigint | null
  /**
   * Nano-dollars that the wallet paid a front end beside the trade; null when unknown, left out when nothing was paid.
   * Never on a trade of role `pool`.
   */
  readonly feeUsdNanos?: bigint | null | undefined
  /** The same fee in lamports; left out unless all of it was paid in SOL. */
  readonly feeLamports?: bigint | undefined
  /**
   * The priority fee in lamports that the wallet paid, on its first trade of the transaction; left out when unknown.
   * Never on a trade of role `pool`.
   */
  readonly priorityLamports?: bigint | undefined
  /**
   * Tips in lamports that the wallet paid to block builders beside the trade; left out when nothing was paid or
   * `priorityLamports` is left out.
   */
  readonly tipLamports?: bigint | undefined
  /**
   * Units of the mint that the wallet's accounts held before and after the whole transaction; left out when unknown.
   * Never on a trade of role `pool`.
   */
  readonly held?: HeldSpan | undefined
  /**
   * The owner of the account at the other end of a transfer; left out when the transaction shows none or several. Only on
   * trades of role `transfer`.
   */
  readonly counterparty?: Address | undefined
  readonly pool: Address | null
  /** The venue's label; null when unknown. */
  readonly dex: string | null
  /** Key of the launchpad whose curve traded; null for other trades. */
  readonly launchpad: string | null
}
