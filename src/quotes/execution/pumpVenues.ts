/**
 * Swap instructions of Pump.fun's curve (v3) and of PumpSwap (v2): pump-public-docs, docs/instructions/TRADE_V3.md and
 * PUMP_SWAP_TRADE_V2.md.
 */
import { Address, addressToBytes, SOL } from "../../domain/Address.ts"
import { MAX_U64 } from "../../domain/Amount.ts"
import { eventAuthority } from "../../programs/layout/anchorEvents.ts"
import { readAddress } from "../../programs/layout/bytes.ts"
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { utf8 } from "../../programs/layout/pack.ts"
import { associatedAddress } from "../../programs/layout/tokenAccount.ts"
import { curveAt, pumpCurve, quoteMintOf } from "../../programs/pump/curve.ts"
import { globalAt, globalOf } from "../../programs/pump/curveFees.ts"
import {
  curveV3Accounts,
  encodeCurveBuyOutV3,
  encodeCurveBuyV3,
  encodeCurveSellV3
} from "../../programs/pump/curveInstructions.ts"
import { feeConfigOf } from "../../programs/pump/fees.ts"
import { globalConfigOf, pumpSwap, pumpSwapConfigAt, pumpSwapPoolAt } from "../../programs/pump/pumpSwap.ts"
import {
  encodePumpSwapBuyOutV2,
  encodePumpSwapBuyV2,
  encodePumpSwapSellV2,
  pumpSwapV2Accounts
} from "../../programs/pump/pumpSwapInstructions.ts"
import { pays, reads, writes } from "../../programs/transactions/Call.ts"
import { sidesAt, type Sides, type Site, tokenProgramOf, type Venue } from "./swapVenue.ts"

const SYSTEM_PROGRAM = Address.make("11111111111111111111111111111111")

/** The instructions without fee accounts refuse coins that pay their traders back. */
const CASHBACK = "it is a cashback coin, which these instructions do not trade"

/** The account that counts what a trader traded. The program creates it with the first trade. */
const volumeOf = ({ derive }: Site, program: Address, trader: Address): Address =>
  derive(program, [utf8("user_volume_accumulator"), addressToBytes(trader)])

/** The first wallet of the buyback in a settings account; undefined while the account has not been read. */
const buybackWallet = ({ accounts }: Site, settings: Address, at: number): Address | undefined => {
  const data = accounts(settings)?.data
  return data === undefined || data.length < at + 32 ? undefined : readAddress(data, at)
}

/** Where the buyback's share of a fee in this mint goes; undefined while an account has not been read. */
const buybackAccount = (site: Site, settings: Address, at: number, quote: Address): Address | undefined => {
  const wallet = buybackWallet(site, settings, at)
  const program = site.accounts(quote)?.owner
  return wallet === undefined || program === undefined
    ? undefined
    : associatedAddress(site.derive, wallet, quote, program)
}

const known = (address: Address | undefined): ReadonlyArray<Address> => (address === undefined ? [] : [address])

const swapSides = sidesAt({
  mintA: pumpSwapPoolAt.baseMint,
  mintB: pumpSwapPoolAt.quoteMint,
  vaultA: pumpSwapPoolAt.baseVault,
  vaultB: pumpSwapPoolAt.quoteVault
})

const poolBuyback = (site: Site): Address | undefined =>
  buybackAccount(site, globalConfigOf(site.derive), pumpSwapConfigAt.buybackWallets, swapSides(site.pool).mintB)

export const pumpSwapVenue: Venue = {
  program: pumpSwap,
  swapNeeds: (site) => known(poolBuyback(site)),
  sides: ({ pool }) => swapSides(pool),
  vaultOwner: ({ pool }) => pool.address,
  obstacle: ({ pool }) => (pool.data[pumpSwapPoolAt.cashback] === 1 ? CASHBACK : null),
  swap: (site, { aToB, amount, exactOut, from, to, trader }) => {
    const { derive, pool } = site
    const { mintA, mintB, vaultA, vaultB } = swapSides(pool)
    const { programId } = pumpSwap
    const buyback = poolBuyback(site)
    if (buyback === undefined || (aToB && exactOut)) {
      return null
    }
    const [base, quote] = aToB ? [from, to] : [to, from]
    return {
      accounts: inAccountOrder(pumpSwapV2Accounts, {
        pool: writes(pool.address),
        user: pays(trader),
        globalConfig: reads(globalConfigOf(derive)),
        baseMint: reads(mintA),
        quoteMint: reads(mintB),
        userBaseTokenAccount: writes(base),
        userQuoteTokenAccount: writes(quote),
        poolBaseTokenAccount: writes(vaultA),
        poolQuoteTokenAccount: writes(vaultB),
        baseTokenProgram: tokenProgramOf(site, mintA),
        quoteTokenProgram: tokenProgramOf(site, mintB),
        systemProgram: reads(SYSTEM_PROGRAM),
        userVolumeAccumulator: writes(volumeOf(site, programId, trader)),
        feeConfig: reads(feeConfigOf(programId, derive)),
        buybackFeeRecipient: writes(buyback),
        eventAuthority: reads(eventAuthority(derive, programId)),
        program: reads(programId)
      }),
      data: aToB
        ? encodePumpSwapSellV2(amount, 0n)
        : exactOut
          ? encodePumpSwapBuyOutV2(amount, MAX_U64)
          : encodePumpSwapBuyV2(amount, 1n)
    }
  }
}

/** A curve for SOL holds lamports, so it is its own vault. */
const curveSides = (site: Site): Sides | null => {
  const { accounts, derive, foundBy, pool } = site
  const quote = quoteMintOf(pool.data)
  const [base, other] = [foundBy && accounts(foundBy), accounts(quote)]
  if (foundBy === undefined || !base || !other) {
    return null
  }
  return {
    mintA: foundBy,
    mintB: quote,
    vaultA: associatedAddress(derive, pool.address, foundBy, base.owner),
    vaultB: quote === SOL ? pool.address : associatedAddress(derive, pool.address, quote, other.owner)
  }
}

/** For SOL the buyback's wallet itself, otherwise its token account. */
const curveBuyback = (site: Site): Address | undefined => {
  const settings = globalOf(site.derive)
  const quote = quoteMintOf(site.pool.data)
  return quote === SOL
    ? buybackWallet(site, settings, globalAt.buybackWallets)
    : buybackAccount(site, settings, globalAt.buybackWallets, quote)
}

export const curveVenue: Venue = {
  program: pumpCurve,
  swapNeeds: (site) => known(curveBuyback(site)),
  sides: curveSides,
  vaultOwner: ({ pool }) => pool.address,
  obstacle: ({ pool }) => (pool.data[curveAt.cashback] === 1 ? CASHBACK : null),
  swap: (site, { aToB, amount, exactOut, from, to, trader }) => {
    const { derive, pool } = site
    const { programId } = pumpCurve
    const sides = curveSides(site)
    const buyback = curveBuyback(site)
    if (sides === null || buyback === undefined || (aToB && exactOut)) {
      return null
    }
    const { mintA, mintB, vaultA } = sides
    const quoteProgram = tokenProgramOf(site, mintB)
    const volume = volumeOf(site, programId, trader)
    return {
      accounts: inAccountOrder(curveV3Accounts, {
        global: reads(globalOf(derive)),
        mint: reads(mintA),
        quoteMint: reads(mintB),
        baseTokenProgram: tokenProgramOf(site, mintA),
        quoteTokenProgram: quoteProgram,
        bondingCurve: writes(pool.address),
        associatedBondingCurve: writes(vaultA),
        associatedQuoteBondingCurve: writes(associatedAddress(derive, pool.address, mintB, quoteProgram.address)),
        user: pays(trader),
        associatedUser: writes(aToB ? from : to),
        associatedQuoteUser: writes(associatedAddress(derive, trader, mintB, quoteProgram.address)),
        userVolumeAccumulator: writes(volume),
        feeConfig: reads(feeConfigOf(programId, derive)),
        buybackFeeRecipient: writes(buyback),
        systemProgram: reads(SYSTEM_PROGRAM),
        eventAuthority: reads(eventAuthority(derive, programId)),
        program: reads(programId)
      }),
      data: aToB
        ? encodeCurveSellV3(amount, 0n)
        : exactOut
          ? encodeCurveBuyOutV3(amount, MAX_U64)
          : encodeCurveBuyV3(amount, 0n),
      ...(mintB === SOL && { opens: [volume] })
    }
  }
}
