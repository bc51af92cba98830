/** Swap instructions of Meteora's DAMM v2, DLMM and bonding curve. */
import { Address, addressToBytes } from "../../domain/Address.ts"
import { eventAuthority } from "../../programs/layout/anchorEvents.ts"
import { readAddress, readI32 } from "../../programs/layout/bytes.ts"
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { utf8 } from "../../programs/layout/pack.ts"
import { meteoraDammV2 } from "../../programs/meteora/dammV2.ts"
import { dammV2SwapAccounts } from "../../programs/meteora/dammV2Instructions.ts"
import { dammV2At, dammV2PoolAuthority } from "../../programs/meteora/dammV2State.ts"
import { meteoraDbc } from "../../programs/meteora/dbc.ts"
import { dbcSwapAccounts } from "../../programs/meteora/dbcInstructions.ts"
import { DBC_CONFIG_LENGTH, dbcConfigAt, dbcPoolAt, dbcPoolAuthority } from "../../programs/meteora/dbcState.ts"
import { encodeSwap } from "../../programs/meteora/discriminators.ts"
import { meteoraDlmm } from "../../programs/meteora/dlmm.ts"
import { binArrayAddress, binArrayIndexOf } from "../../programs/meteora/dlmmBins.ts"
import { binArraysAhead } from "../../programs/meteora/dlmmBitmap.ts"
import { dlmmSwap2Accounts, encodeDlmmSwap } from "../../programs/meteora/dlmmInstructions.ts"
import { dlmmPairAt } from "../../programs/meteora/dlmmPair.ts"
import type { DeriveAddress } from "../../programs/interface/Program.ts"
import { memoProgram, reads, signs, writes } from "../../programs/transactions/Call.ts"
import { sidesAt, type Sides, type Site, tokenProgramOf, type Venue } from "./swapVenue.ts"

/** When a pool limits the rate of swaps, DAMM v2 and the curve look here for another swap in the transaction. */
const INSTRUCTIONS_SYSVAR = reads(Address.make("Sysvar1nstructions1111111111111111111111111"))

const dammV2Sides = sidesAt(dammV2At)

export const dammV2Venue: Venue = {
  program: meteoraDammV2,
  swapNeeds: () => [],
  sides: ({ pool }) => dammV2Sides(pool),
  vaultOwner: ({ derive }) => dammV2PoolAuthority(derive),
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
        INSTRUCTIONS_SYSVAR
      ],
      data: encodeSwap(amount, 0n)
    }
  }
}

const configOf = ({ pool }: Site): Address => readAddress(pool.data, dbcPoolAt.config)

/** The quote mint is in the config. */
const dbcSides = (site: Site): Sides | null => {
  const config = site.accounts(configOf(site))
  const { data } = site.pool
  return !config || config.data.length < DBC_CONFIG_LENGTH
    ? null
    : {
        mintA: readAddress(data, dbcPoolAt.baseMint),
        mintB: readAddress(config.data, dbcConfigAt.quoteMint),
        vaultA: readAddress(data, dbcPoolAt.baseVault),
        vaultB: readAddress(data, dbcPoolAt.quoteVault)
      }
}

export const dbcVenue: Venue = {
  program: meteoraDbc,
  swapNeeds: () => [],
  sides: dbcSides,
  vaultOwner: ({ derive }) => dbcPoolAuthority(derive),
  swap: (site, { amount, from, to, trader }) => {
    const { derive, pool } = site
    const sides = dbcSides(site)
    if (sides === null) {
      return null
    }
    const { programId } = meteoraDbc
    return {
      accounts: [
        ...inAccountOrder(dbcSwapAccounts, {
          poolAuthority: reads(dbcPoolAuthority(derive)),
          config: reads(configOf(site)),
          pool: writes(pool.address),
          inputTokenAccount: writes(from),
          outputTokenAccount: writes(to),
          baseVault: writes(sides.vaultA),
          quoteVault: writes(sides.vaultB),
          baseMint: reads(sides.mintA),
          quoteMint: reads(sides.mintB),
          payer: signs(trader),
          tokenBaseProgram: tokenProgramOf(site, sides.mintA),
          tokenQuoteProgram: tokenProgramOf(site, sides.mintB),
          referralTokenAccount: reads(programId),
          eventAuthority: reads(eventAuthority(derive, programId)),
          program: reads(programId)
        }),
        INSTRUCTIONS_SYSVAR
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

export const dlmmVenue: Venue = {
  program: meteoraDlmm,
  swapNeeds: ({ derive, pool }) => [readAddress(pool.data, dlmmPairAt.oracle), dlmmExtension(pool.address, derive)],
  sides: ({ pool }) => dlmmSides(pool),
  vaultOwner: ({ pool }) => pool.address,
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
