/**
 * The interface of a swap decoder: which instructions are swaps, through which pools they go, and which amounts the
 * program's events state.
 */
import type { Address } from "../../domain/Address.ts"

/** One pool that a swap instruction goes through. */
export interface Hop {
  readonly pool: Address
  /**
   * The pool's two token accounts. If the quote side is in lamports, the first holds the tokens and the second
   * nothing. Null when only the token movements show them; the trader then pays first.
   */
  readonly vaults: readonly [Address, Address] | null
  /**
   * Set when the quote side is in lamports. The balances of trader and fee recipient then change without an
   * instruction.
   */
  readonly native?: { readonly trader: Address; readonly feeRecipient: Address | null }
  /** The wallet that trades in place of a pool. It authorizes the payment to the trader. */
  readonly maker?: Address
  /** Account of a referrer who gets a share of the pool's fee; absent when the instruction names none. */
  readonly referral?: Address
  /** True when the accounts alone do not prove the hop. The hop then counts only if tokens moved through it. */
  readonly perhaps?: boolean
}

/**
 * Amounts of one hop, as the program's event states them. `amountIn` is what the pool received, after a transfer fee
 * unless `reportsSent`. `amountOut` is what the pool paid, before a transfer fee.
 */
export interface SwapReport {
  readonly amountIn: bigint
  readonly amountOut: bigint
  /** Lamports that the trader paid or received, including all fees; null when the event does not state them. */
  readonly traderLamports: bigint | null
  /** True for the second part of a swap, at another price. The previous event reports the first part. */
  readonly continues?: true
}

/** An instruction that adds liquidity to a pool or takes liquidity from it. */
export interface LiquidityCall {
  readonly pool: Address
  /** The pool's token accounts that the instruction names: two, or one for a deposit of one mint. */
  readonly vaults: ReadonlyArray<Address>
  /** True when the instruction creates the pool. */
  readonly opens: boolean
  /** True when what the vaults pay includes the fees that the position has earned. */
  readonly paysFees: boolean
}

/** Decodes the swaps of one program. All members are pure. */
export interface SwapDecoder {
  /** Venue label of the pools, the same as in quotes. */
  readonly dex: string
  readonly programId: Address
  /** False for a program that is charted and never quoted; true by default. */
  readonly quotable?: boolean
  /** The pools that this instruction swaps through, in order. Empty when the instruction is no swap. */
  readonly hops: (data: Uint8Array, accounts: ReadonlyArray<Address>) => ReadonlyArray<Hop>
  /**
   * How many bytes identify an instruction: 8 by default, as in Anchor programs. Only for naming instructions that are
   * unknown.
   */
  readonly tagBytes?: number
  /**
   * The pool whose liquidity this instruction changes; null for any other instruction. Absent for programs without
   * providers, and for programs whose providers are not read.
   */
  readonly liquidity?: (data: Uint8Array, accounts: ReadonlyArray<Address>) => LiquidityCall | null
  /** Instructions that take one mint and give another without a swap, as when liquidity is rebalanced. */
  readonly exchanges?: ReadonlyArray<bigint>
  /**
   * Reads an event that the program sends to itself; null when it is no swap. `body` starts after the two
   * discriminators.
   */
  readonly selfCall?: (event: bigint, body: Uint8Array) => SwapReport | null
  /** Reads the base64 payload of a log line; null when it is no swap. */
  readonly logged?: (payload: Uint8Array) => SwapReport | null
  /** True when the event's input is what the trader sent, before a transfer fee. */
  readonly reportsSent?: boolean
  /**
   * True when the event's amounts are the trade, because token movements include fees. Otherwise the event only
   * confirms the movements.
   */
  readonly reportDecides?: boolean
}
