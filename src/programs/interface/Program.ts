/**
 * The interface of an AMM program: how to find its pools, which accounts price a pool, and the decoded pool. A new
 * venue is a folder with a `Program` and a `SwapDecoder`, and one line in `registry.ts`.
 */
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address, Mint } from "../../domain/Address.ts"

/**
 * Accounts read so far. `undefined` means "not read yet"; `null` means "read, and it does not exist". A tick array
 * that does not exist holds no liquidity.
 */
export type Accounts = (address: Address) => OnChainAccount | null | undefined

/** Derives a program address from seeds. It is a parameter so that callers can cache the hashing. */
export type DeriveAddress = (programId: Address, seeds: ReadonlyArray<Uint8Array>) => Address

/** A filter of `getProgramAccounts`: these bytes at this offset. */
export interface MemoryMatch {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** How a quoted swap ends. */
export type Ending =
  /** The program would take the whole input at these amounts. */
  | "filled"
  /** Liquidity ran out first. `amountIn` is the most that the pool takes, and `amountOut` is its output for that. */
  | "exhausted"
  /**
   * The program would refuse this swap: its output is zero, trading is closed at this clock, or a price limit is hit.
   */
  | "refused"

/** A quoted swap. Amounts are what leaves and reaches the trader's token accounts, so transfer fees are included. */
export interface Swap {
  readonly ending: Ending
  /** Units of the input mint that are taken, including fees. */
  readonly amountIn: bigint
  /** Units of the output mint that are received, after every fee. Zero when refused. */
  readonly amountOut: bigint
}

/** A swap that the program refuses. */
export const refused: Swap = { ending: "refused", amountIn: 0n, amountOut: 0n }

/** Output per input, as an exact fraction of atomic units. */
export interface Rate {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** The input that moves a pool's price to a target. */
export interface PriceMove {
  /** Units of the input mint, including all fees, rounded so that the price does not pass the target. */
  readonly amountIn: bigint
  /** False when the accounts in memory end before the target. `amountIn` then goes as far as they reach. */
  readonly complete: boolean
}

/** The LP tokens of a pool. */
export interface LpTokens {
  readonly mint: Mint
  /**
   * LP tokens issued for deposits and not redeemed, as the pool counts them. Tokens that holders burn still count.
   */
  readonly issued: bigint
}

/** A decoded pool. It can be priced without I/O and without allocating. */
export interface Pool {
  readonly address: Address
  /** Venue label. The same word is used in responses, filters and logs. */
  readonly dex: string
  readonly mintA: Mint
  readonly mintB: Mint
  /** Newest slot among the accounts that the pool was decoded from. */
  readonly slot: number
  /**
   * Units of A and of B: the vaults' balances, less the fees that the pool account says it owes to protocol, fund,
   * partner or creator. Absent while a vault has not been read.
   */
  readonly reserves?: readonly [bigint, bigint]
  /** The pool's LP tokens, if it has an LP mint and any are issued. */
  readonly lp?: LpTokens
  /** How close a bonding curve is to its end, from 0 to 1. Only for curves with a known end. */
  readonly graduation?: Rate
  /**
   * Exact-input quote: to the unit what the program would pay at this clock. `aToB` true sells mintA for mintB.
   * `amountIn` is positive and at most u64.
   */
  readonly swap: (aToB: boolean, amountIn: bigint, clock: ChainClock) => Swap
  /** Exact-output quote: the input for `amountOut`. Absent when the program has no such swap. */
  readonly swapExactOut?: (aToB: boolean, amountOut: bigint, clock: ChainClock) => Swap
  /** The only direction in which the program has exact-output swaps; absent when it has them in both, or in none. */
  readonly exactOutOnly?: "aToB" | "bToA"
  /** Output per input of an infinitely small swap, after fees. Impact is measured against this price. */
  readonly marginalRate: (aToB: boolean, clock: ChainClock) => Rate
  /** The share of an infinitely small swap that the pool keeps. Transfer fees of the mints are not included. */
  readonly feeRate?: (aToB: boolean, clock: ChainClock) => Rate
  /**
   * The input that moves the price of the sold mint to this share (below one) of its current value. Prices are before
   * fees and along the pool's curve: fees that stay in the pool do not count as movement.
   */
  readonly inputTo?: (aToB: boolean, share: Rate, clock: ChainClock) => PriceMove
}

/** Why a pool cannot be priced. */
export interface Unpriceable {
  readonly reason:
    /** The pool uses a mode, status or program version that this engine does not implement. `detail` names it. */
    | "unsupported"
    /** The program has closed this pool for swaps (paused, migrated, completed). */
    | "closed"
    /** A required account has not been read yet. */
    | "incomplete"
    /** The bytes are not an account of the program. */
    | "malformed"
  readonly detail: string
  /** The mints of A and B, when the account names both even though the pool has no price. */
  readonly mints?: readonly [Mint, Mint]
  /** As in `Pool`, when the account states it even though the pool has no price. */
  readonly graduation?: Rate
}

/** A swap that a program took whole: units that left the trader, and units that reached the trader. */
export interface TakenSwap {
  readonly aToB: boolean
  readonly amountIn: bigint
  readonly amountOut: bigint
}

/** One AMM program. All members are pure. */
export interface Program {
  /** Venue label of the program's pools. */
  readonly dex: string
  readonly programId: Address
  /**
   * True for a program that nothing here computes: its swaps are priced by running its bytes. `needs` then names every
   * account of a swap, and `decode` never gives a pool.
   */
  readonly isExecuted?: true
  /** Filters for `getProgramAccounts`, one list per side. Each finds pools that trade `mint`. */
  readonly poolsOf: (mint: Mint) => ReadonlyArray<{
    readonly dataSize?: number
    readonly matches: ReadonlyArray<MemoryMatch>
  }>
  /** Addresses of pools whose account does not name the mint. The filters cannot find them. */
  readonly poolAddressesOf?: (mint: Mint, derive: DeriveAddress) => ReadonlyArray<Address>
  /** Vaults that the pool account names, with their mints. Absent when it does not name both. */
  readonly vaultsOf?: (pool: OnChainAccount) => ReadonlyArray<{ readonly mint: Mint; readonly vault: Address }>
  /** True for a pool account of this program (by owner and discriminator), false for a config or a tick array. */
  readonly isPool: (account: OnChainAccount) => boolean
  /**
   * Addresses that the price depends on besides the pool, including mints and vaults, given the accounts read so far.
   * Called again after every write until it names nothing new. The list may change as the price moves. `foundBy` is
   * the mint given to `poolAddressesOf`, if that found the pool.
   */
  readonly needs: (
    pool: OnChainAccount,
    accounts: Accounts,
    derive: DeriveAddress,
    foundBy?: Mint
  ) => ReadonlyArray<Address>
  /**
   * True when `needs` names the same addresses for both states of the pool account, as long as the accounts that it reads
   * are the same. It may then read no account but those that it names. Absent: every write may change the needs.
   */
  readonly keepsNeeds?: (before: OnChainAccount, after: OnChainAccount) => boolean
  /** Decodes the pool, or says why it cannot be priced. `foundBy` is as above. */
  readonly decode: (
    pool: OnChainAccount,
    accounts: Accounts,
    derive: DeriveAddress,
    foundBy?: Mint
  ) => Pool | Unpriceable
  /**
   * The pool account and its vaults after a swap that `decode` priced as filled on the same accounts: every byte that a
   * later price depends on. Says why, when the state after a swap of this pool is not known. Absent when it is known for no
   * pool of the program.
   */
  readonly after?: (
    pool: OnChainAccount,
    accounts: Accounts,
    derive: DeriveAddress,
    swap: TakenSwap,
    clock: ChainClock
  ) => ReadonlyArray<OnChainAccount> | Unpriceable
}

/** True when decoding gave a reason instead of a pool. */
export const isUnpriceable = (decoded: Pool | Unpriceable): decoded is Unpriceable => "reason" in decoded
