/** Builds swap instructions of the programs that can be proven. They need only the pool's accounts. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address, addressToBytes } from "../../domain/Address.ts"
import { MAX_U64 } from "../../domain/Amount.ts"
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { eventAuthority } from "../../programs/layout/anchorEvents.ts"
import { readAddress, readI32, readU16 } from "../../programs/layout/bytes.ts"
import { utf8 } from "../../programs/layout/pack.ts"
import { meteoraDammV2 } from "../../programs/meteora/dammV2.ts"
import { dammV2SwapAccounts } from "../../programs/meteora/dammV2Instructions.ts"
import { dammV2At, dammV2PoolAuthority } from "../../programs/meteora/dammV2State.ts"
import { encodeSwap } from "../../programs/meteora/discriminators.ts"
import { meteoraDlmm } from "../../programs/meteora/dlmm.ts"
import { binArrayAddress, binArrayIndexOf } from "../../programs/meteora/dlmmBins.ts"
import { binArraysAhead } from "../../programs/meteora/dlmmBitmap.ts"
import { dlmmSwap2Accounts, encodeDlmmSwap } from "../../programs/meteora/dlmmInstructions.ts"
import { dlmmPairAt } from "../../programs/meteora/dlmmPair.ts"
import { whirlpool } from "../../programs/orca/whirlpool.ts"
import {
  encodeWhirlpoolSwap,
  encodeWhirlpoolSwapOut,
  whirlpoolSwapV2Accounts
} from "../../programs/orca/whirlpoolInstructions.ts"
import {
  arraySequence,
  oracleAddress,
  whirlpoolArrayAddress,
  whirlpoolOffsets
} from "../../programs/orca/whirlpoolLayout.ts"
import type { Accounts, DeriveAddress, Program } from "../../programs/interface/Program.ts"
import { type AccountRef, type Call, memoProgram, reads, signs, writes } from "../../programs/transactions/Call.ts"

/** A pool with all accounts that its price and its swaps need. */
export interface Site {
  readonly pool: OnChainAccount
  readonly accounts: Accounts
  readonly derive: DeriveAddress
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

/** A program whose swaps can be executed here. */
export interface Venue {
  readonly program: Program
  /** Accounts that a swap needs and the price does not. */
  readonly swapNeeds: (pool: OnChainAccount, derive: DeriveAddress) => ReadonlyArray<Address>
  readonly sides: (pool: OnChainAccount) => {
    readonly mintA: Address
    readonly mintB: Address
    readonly vaultA: Address
    readonly vaultB: Address
  }
  /**
   * True when the pool is at the address that the program derives, so that the program can sign for its vaults.
   * Absent when the program signs in another way.
   */
  readonly isAtItsAddress?: (pool: OnChainAccount, derive: DeriveAddress) => boolean
  readonly swap: (site: Site, order: Order) => Pick<Call, "accounts" | "data">
}

const sidesAt =
  (at: { readonly mintA: number; readonly mintB: number; readonly vaultA: number; readonly vaultB: number }) =>
  ({ data }: OnChainAccount) => ({
    mintA: readAddress(data, at.mintA),
    mintB: readAddress(data, at.mintB),
    vaultA: readAddress(data, at.vaultA),
    vaultB: readAddress(data, at.vaultB)
  })

const tokenProgramOf = ({ accounts }: Site, mint: Address): AccountRef => {
  const account = accounts(mint)
  if (!account) {
    throw new Error(`mint ${mint} has not been read`)
  }
  return reads(account.owner)
}

const whirlpoolSides = sidesAt(whirlpoolOffsets)

const whirlpoolVenue: Venue = {
  program: whirlpool,
  swapNeeds: ({ address }, derive) => [oracleAddress(derive, address)],
  sides: whirlpoolSides,
  isAtItsAddress: ({ address, data }, derive) => {
    const { config, feeTierIndex, mintA, mintB } = whirlpoolOffsets
    const keys = [config, mintA, mintB].map((at) => data.subarray(at, at + 32))
    return (
      derive(whirlpool.programId, [utf8("whirlpool"), ...keys, data.subarray(feeTierIndex, feeTierIndex + 2)]) ===
      address
    )
  },
  swap: (site, { aToB, amount, exactOut, from, to, trader }) => {
    const { derive, pool } = site
    const { mintA, mintB, vaultA, vaultB } = whirlpoolSides(pool)
    const [ownerA, ownerB] = aToB ? [from, to] : [to, from]
    const spacing = readU16(pool.data, whirlpoolOffsets.tickSpacing)
    const starts = arraySequence(readI32(pool.data, whirlpoolOffsets.tick), spacing, aToB)
    const last = starts.at(-1) ?? 0
    // The instruction names three arrays. When fewer lie ahead, the last one is repeated.
    const tickArray = (index: number) => writes(whirlpoolArrayAddress(derive, pool.address, starts[index] ?? last))
    return {
      accounts: inAccountOrder(whirlpoolSwapV2Accounts, {
        tokenProgramA: tokenProgramOf(site, mintA),
        tokenProgramB: tokenProgramOf(site, mintB),
        memoProgram,
        tokenAuthority: signs(trader),
        whirlpool: writes(pool.address),
        tokenMintA: reads(mintA),
        tokenMintB: reads(mintB),
        tokenOwnerAccountA: writes(ownerA),
        tokenVaultA: writes(vaultA),
        tokenOwnerAccountB: writes(ownerB),
        tokenVaultB: writes(vaultB),
        tickArray0: tickArray(0),
        tickArray1: tickArray(1),
        tickArray2: tickArray(2),
        oracle: writes(oracleAddress(derive, pool.address))
      }),
      data: exactOut
        ? encodeWhirlpoolSwapOut({ second: true, amountOut: amount, maximumIn: MAX_U64, aToB })
        : encodeWhirlpoolSwap({ second: true, amountIn: amount, minimumOut: 0n, aToB })
    }
  }
}

/** When a pool limits the rate of swaps, DAMM v2 looks here for a second swap in the same transaction. */
const INSTRUCTIONS_SYSVAR = Address.make("Sysvar1nstructions1111111111111111111111111")

const dammV2Sides = sidesAt(dammV2At)

const dammV2Venue: Venue = {
  program: meteoraDammV2,
  swapNeeds: () => [],
  sides: dammV2Sides,
  swap: (site, { amount, from, to, trader }) => {
    const { derive, pool } = site
    const { mintA, mintB, vaultA, vaultB } = dammV2Sides(pool)
    const { programId } = meteoraDammV2
    return {
      accounts: [
        ...inAccountOrder(dammV2SwapAccounts, {
          poolAuthority: reads(dammV2PoolAuthority(derive)),
          pool: writes(pool.address),
          inputTokenAccount: writes(from),
          outputTokenAccount: writes(to),
          tokenAVault: writes(vaultA),
          tokenBVault: writes(vaultB),
          tokenAMint: reads(mintA),
          tokenBMint: reads(mintB),
          payer: signs(trader),
          tokenAProgram: tokenProgramOf(site, mintA),
          tokenBProgram: tokenProgramOf(site, mintB),
          referralTokenAccount: reads(programId),
          eventAuthority: reads(eventAuthority(derive, programId)),
          program: reads(programId)
        }),
        reads(INSTRUCTIONS_SYSVAR)
      ],
      data: encodeSwap(amount, 0n)
    }
  }
}

const dlmmSides = sidesAt({
  mintA: dlmmPairAt.mintX,
  mintB: dlmmPairAt.mintY,
  vaultA: dlmmPairAt.reserveX,
  vaultB: dlmmPairAt.reserveY
})

/** How many bin arrays a swap names: as many as the price reads. */
const BIN_ARRAYS = 4

const dlmmExtension = (address: Address, derive: DeriveAddress): Address =>
  derive(meteoraDlmm.programId, [utf8("bitmap"), addressToBytes(address)])

const dlmmArrays = ({ accounts, derive, pool }: Site, down: boolean): ReadonlyArray<Address> => {
  const extension = accounts(dlmmExtension(pool.address, derive))
  const from = binArrayIndexOf(readI32(pool.data, dlmmPairAt.activeId))
  const { indexes } = binArraysAhead(pool.data, extension?.data ?? null, from, down, BIN_ARRAYS)
  return indexes.map((index) => binArrayAddress(derive, addressToBytes(pool.address), index))
}

const dlmmVenue: Venue = {
  program: meteoraDlmm,
  swapNeeds: (pool, derive) => [readAddress(pool.data, dlmmPairAt.oracle), dlmmExtension(pool.address, derive)],
  sides: dlmmSides,
  swap: (site, { aToB, amount, from, to, trader }) => {
    const { accounts, derive, pool } = site
    const { mintA, mintB, vaultA, vaultB } = dlmmSides(pool)
    const { programId } = meteoraDlmm
    const extension = dlmmExtension(pool.address, derive)
    return {
      accounts: [
        ...inAccountOrder(dlmmSwap2Accounts, {
          lbPair: writes(pool.address),
          binArrayBitmapExtension: reads(accounts(extension) ? extension : programId),
          reserveX: writes(vaultA),
          reserveY: writes(vaultB),
          userTokenIn: writes(from),
          userTokenOut: writes(to),
          tokenXMint: reads(mintA),
          tokenYMint: reads(mintB),
          oracle: writes(readAddress(pool.data, dlmmPairAt.oracle)),
          hostFeeIn: reads(programId),
          user: signs(trader),
          tokenXProgram: tokenProgramOf(site, mintA),
          tokenYProgram: tokenProgramOf(site, mintB),
          memoProgram,
          eventAuthority: reads(eventAuthority(derive, programId)),
          program: reads(programId)
        }),
        ...dlmmArrays(site, aToB).map(writes)
      ],
      data: encodeDlmmSwap(true, amount, 0n)
    }
  }
}

/** The programs whose swaps can be executed. The other programs have no instruction builder here yet. */
export const venues: ReadonlyArray<Venue> = [whirlpoolVenue, dlmmVenue, dammV2Venue]
