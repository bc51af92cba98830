/**
 * The interface of an AMM program: filters that find its pools, the accounts that price one, and the decoded pool.
 * A new venue is one folder with a `Program` and a `SwapDecoder` in it and one line in `registry.ts`.
 */
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address, Mint } from "../../domain/Address.ts"

/**
 * Accounts read so far. `undefined` is "not read yet"; `null` is "read, and it does not exist":
 * a tick array that does not exist holds no liquidity.
 */
export type Accounts = (address: Address) => OnChainAccount | null | undefined

/** Derives a program address from seeds. A parameter, so that callers can cache the hashing. */
export type DeriveAddress = (programId: Address, seeds: ReadonlyArray<Uint8Array>) => Address

/** One condition of `getProgramAccounts`: these bytes at this offset. */
export interface MemoryMatch {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** Outcome of a quote. */
export type Ending =
  /** The whole input was taken at these amounts, as the program would. */
  | "filled"
  /** Liquidity ran out first. `amountIn` is the most that the pool takes, and `amountOut` its output for that. */
  | "exhausted"
  /** The program itself would refuse this swap (output of zero, trading closed at this clock, price limit). */
  | "refused"

/** A quoted swap. Amounts leave and reach the trader's token accounts, so transfer fees are included. */
export interface Swap {
  readonly ending: Ending
  /** Units of the input mint taken, fees included. */
  readonly amountIn: bigint
  /** Units of the output mint received, after every fee. Zero when refused. */
  readonly amountOut: bigint
}

/** A swap that the program refuses. */
export const refused: Swap = { ending: "refused", amountIn: 0n, amountOut: 0n }

/** Out per in, as an exact fraction of atomic units. */
export interface Rate {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** An input that carries the price of a pool to a target. */
export interface PriceMove {
  /** Units of the input mint, all fees included, rounded so that the price does not pass the target. */
  readonly amountIn: bigint
  /** False when the accounts in memory end before the target. `amountIn` then reaches their end. */
  readonly complete: boolean
}

/** The LP tokens of a pool. */
export interface LpTokens {
  readonly mint: Mint
  /** Issued for deposits and not redeemed, by the pool's own count. Tokens that their holders burn still count. */
  readonly issued: bigint
}

/** A pool decoded at one moment, ready to be priced without I/O and without allocation per tick. */
export interface Pool {
  readonly address: Address
  /** Venue label, the same word on the wire, in filters and in logs. */
  readonly dex: string
  readonly mintA: Mint
  readonly mintB: Mint
  /** Newest slot among the accounts it was decoded from. */
  readonly slot: number
  /**
   * Units of A and of B: the balances of the vaults, less the fees that the pool account counts as owed to protocol,
   * fund, partner or creator. Absent while a vault has not been read.
   */
  readonly reserves?: readonly [bigint, bigint]
  /** Its LP tokens, if it has an LP mint and some are issued. */
  readonly lp?: LpTokens
  /** How far a bonding curve is towards its end, from 0 to 1. Only for curves whose end is known. */
  readonly graduation?: Rate
  /**
   * Exact-input quote: to the unit what the program would pay at this clock. `aToB` true sells mintA for mintB.
   * `amountIn` is positive and at most u64.
   */
  readonly swap: (aToB: boolean, amountIn: bigint, clock: ChainClock) => Swap
  /** Exact-output quote: the input for `amountOut`. Only if the program offers it. */
  readonly swapExactOut?: (aToB: boolean, amountOut: bigint, clock: ChainClock) => Swap
  /** Out per in of a vanishingly small swap, after fees: the price that impact is measured against. */
  readonly marginalRate: (aToB: boolean, clock: ChainClock) => Rate
  /** Share of a vanishingly small swap that the pool keeps. Transfer fees of the mints are not included. */
  readonly feeRate?: (aToB: boolean, clock: ChainClock) => Rate
  /**
   * The input that moves the price of the sold mint to this share (below one) of its current value. The price is taken
   * before fees and along the pool's curve: fees that stay in the pool do not count as movement.
   */
  readonly inputTo?: (aToB: boolean, share: Rate, clock: ChainClock) => PriceMove
}

/** The reason why a pool cannot be priced. */
export interface Unpriceable {
  readonly reason:
    /** The pool uses a mode, status or program version this engine does not implement; `detail` names it. */
    | "unsupported"
    /** The program has closed this pool for swaps (paused, migrated, completed). */
    | "closed"
    /** An account it needs has not been read yet. */
    | "incomplete"
    /** The bytes are not an account of the program. */
    | "malformed"
  readonly detail: string
  /** The mints of A and B, if the account names both although it is not priced. */
  readonly mints?: readonly [Mint, Mint]
  /** As in `Pool`, if the account states it although it is not priced. */
  readonly graduation?: Rate
}

/** One AMM program. All members are pure. */
export interface Program {
  /** Venue label of its pools. */
  readonly dex: string
  readonly programId: Address
  /** One filter list per side: `getProgramAccounts` with either finds pools that trade `mint`. */
  readonly poolsOf: (mint: Mint) => ReadonlyArray<{
    readonly dataSize?: number
    readonly matches: ReadonlyArray<MemoryMatch>
  }>
  /** Addresses of pools whose account does not name the mint, so that the filters cannot find them. */
  readonly poolAddressesOf?: (mint: Mint, derive: DeriveAddress) => ReadonlyArray<Address>
  /** Vaults that the pool account names, with their mints. Absent when it does not name both. */
  readonly vaultsOf?: (pool: OnChainAccount) => ReadonlyArray<{ readonly mint: Mint; readonly vault: Address }>
  /** True for a pool of this program (owner and discriminator), not a config or a tick array. */
  readonly isPool: (account: OnChainAccount) => boolean
  /**
   * Addresses that the price depends on besides the pool, mints and vaults included, given the accounts read so far.
   * Called again after every write until it names nothing new. The list may change as the price moves. `foundBy` is the
   * mint given to `poolAddressesOf`, if that found the pool.
   */
  readonly needs: (
    pool: OnChainAccount,
    accounts: Accounts,
    derive: DeriveAddress,
    foundBy?: Mint
  ) => ReadonlyArray<Address>
  /** The priced pool, or the reason why it cannot be priced. `foundBy` as above. */
  readonly decode: (
    pool: OnChainAccount,
    accounts: Accounts,
    derive: DeriveAddress,
    foundBy?: Mint
  ) => Pool | Unpriceable
}

/** True when decoding gave a reason instead of a pool. */
export const isUnpriceable = (decoded: Pool | Unpriceable): decoded is Unpriceable => "reason" in decoded
