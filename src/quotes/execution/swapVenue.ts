/** What a swap instruction is built from, and the parts that several programs share. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { readAddress } from "../../programs/layout/bytes.ts"
import type { Accounts, DeriveAddress, Program } from "../../programs/interface/Program.ts"
import { type AccountRef, type Call, reads } from "../../programs/transactions/Call.ts"

/** A pool with the accounts read so far. */
export interface Site {
  readonly pool: OnChainAccount
  readonly accounts: Accounts
  readonly derive: DeriveAddress
  /** The coin of a bonding curve whose account does not name it. */
  readonly foundBy?: Mint | undefined
}

/** One swap between two of the trader's token accounts. */
export interface Order {
  readonly aToB: boolean
  /** Units of the input, or of the output for an exact-output swap. */
  readonly amount: bigint
  readonly exactOut: boolean
  readonly trader: Address
  readonly from: Address
  readonly to: Address
}

/** The mints of a pool and where it holds them. */
export interface Sides {
  readonly mintA: Mint
  readonly mintB: Mint
  readonly vaultA: Address
  /** The pool itself where it holds lamports. */
  readonly vaultB: Address
}

/** An instruction that swaps. */
export interface SwapCall extends Pick<Call, "accounts" | "data"> {
  /**
   * For a swap that moves lamports instead of wrapped SOL: accounts that the program may create at the trader's
   * expense. Their lamports are not part of the price.
   */
  readonly opens?: ReadonlyArray<Address>
}

/** A program whose swaps can be executed here. */
export interface Venue {
  readonly program: Program
  /** Accounts that a swap needs and the price does not, given the accounts read so far. */
  readonly swapNeeds: (site: Site) => ReadonlyArray<Address>
  /** Null while an account that names them has not been read. */
  readonly sides: (site: Site) => Sides | null
  /** Who owns the vaults. The program signs as this address. */
  readonly vaultOwner: (site: Site) => Address
  /** Why the program cannot swap in this pool, or not with this instruction; null when it can. */
  readonly obstacle?: (site: Site) => string | null
  /** The instruction. Null when the program has none for such an order, or while an account has not been read. */
  readonly swap: (site: Site, order: Order) => SwapCall | null
}

/** Reads both mints and vaults at these offsets of the pool account. */
export const sidesAt =
  (at: { readonly mintA: number; readonly mintB: number; readonly vaultA: number; readonly vaultB: number }) =>
  ({ data }: OnChainAccount): Sides => ({
    mintA: readAddress(data, at.mintA),
    mintB: readAddress(data, at.mintB),
    vaultA: readAddress(data, at.vaultA),
    vaultB: readAddress(data, at.vaultB)
  })

/** The token program of a mint. Throws while the mint has not been read. */
export const tokenProgramOf = ({ accounts }: Pick<Site, "accounts">, mint: Address): AccountRef => {
  const account = accounts(mint)
  if (!account) {
    throw new Error(`mint ${mint} has not been read`)
  }
  return reads(account.owner)
}

/** The sides by direction: what the trader pays in, and what the pool pays out. */
export const directed = ({ mintA, mintB, vaultA, vaultB }: Sides, aToB: boolean) =>
  aToB
    ? { mintIn: mintA, mintOut: mintB, vaultIn: vaultA, vaultOut: vaultB }
    : { mintIn: mintB, mintOut: mintA, vaultIn: vaultB, vaultOut: vaultA }
