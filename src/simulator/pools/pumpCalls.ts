/** Pump calls for swaps, with their events. */
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { readU64 } from "../../programs/layout/bytes.ts"
import { curveAt } from "../../programs/pump/curve.ts"
import { globalOf } from "../../programs/pump/curveFees.ts"
import {
  curveBuyAccounts,
  curveCompleteEvent,
  curvePostCompleteEvent,
  curveSellAccounts,
  curveTradeEvent,
  curveV3Accounts,
  encodeCurveBuy,
  encodeCurveBuyV3
} from "../../programs/pump/curveInstructions.ts"
import { encodeSell, globalVolumeOf } from "../../programs/pump/discriminators.ts"
import { FEE_PROGRAM, feeConfigOf, netOf, NO_ADDRESS, PUMP_PROGRAM } from "../../programs/pump/fees.ts"
import { creatorVaultAuthorityOf, globalConfigOf, pumpSwap } from "../../programs/pump/pumpSwap.ts"
import {
  encodePumpSwapBuy,
  pumpSwapBuyAccounts,
  pumpSwapBuyEvent,
  pumpSwapSellAccounts,
  pumpSwapSellEvent
} from "../../programs/pump/pumpSwapInstructions.ts"
import { ASSOCIATED_TOKEN_PROGRAM, associatedAddress, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { BPS } from "../../domain/units.ts"
import { ceilDiv } from "../../programs/math/integers.ts"
import { inventAddress, SYSTEM_PROGRAM } from "../chain/addresses.ts"
import { pays, reads, writes } from "../../programs/transactions/Call.ts"
import { eventAuthority } from "../../programs/layout/anchorEvents.ts"
import { pack, text } from "../../programs/layout/pack.ts"
import type { CalledPool } from "../chain/SimPool.ts"
import { dataAfter, paidTo, type SwapCall, type Swapping } from "../chain/SwapCall.ts"
import { balanceOf } from "../chain/tokens.ts"
import type { World } from "../chain/World.ts"

/** The accounts of one curve and its fees. */
export interface CurvePlaces {
  readonly curve: Address
  readonly vault: Address
  readonly mint: Mint
  readonly creator: Address
  readonly protocolTill: Address
  readonly creatorTill: Address
}

/** The rates of the curve's fee schedule, which has one tier. */
export const curveRates = { lp: 0n, protocol: 95n, creator: 30n }

/** The fees on a quote amount of a curve, each rounded up. */
export const feesOfCurve = (amount: bigint) => ({
  protocol: ceilDiv(amount * curveRates.protocol, BPS),
  creator: ceilDiv(amount * curveRates.creator, BPS)
})

/** The volume accounts of the program and one trader. The simulator does not count volume. */
const volumes = (world: World, program: Address, trader: Address) => ({
  globalVolumeAccumulator: reads(globalVolumeOf(program, world.derive)),
  userVolumeAccumulator: writes(inventAddress(world.seed, `volume of ${trader} in ${program}`))
})

const NO_VOLUME = {
  trackVolume: false,
  totalUnclaimedTokens: 0n,
  totalClaimedTokens: 0n,
  currentSolVolume: 0n,
  lastUpdateTimestamp: 0
}

/** What a trade changed on its curve. Tokens and quote are absolute amounts of the curve's own part. */
const curveChange = (world: World, { curve }: CurvePlaces, swap: Swapping) => {
  const before = world.bank.must(curve).data
  const after = dataAfter(swap, curve, before)
  const moved = (offset: number) => {
    const change = readU64(after, offset) - readU64(before, offset)
    return change < 0n ? -change : change
  }
  return {
    after,
    tokens: moved(curveAt.realTokens),
    quote: moved(curveAt.realQuote),
    beyond: { tokens: moved(curveAt.postCompleteBase), quote: moved(curveAt.postCompleteQuote) }
  }
}

type CurveChange = ReturnType<typeof curveChange>

/** Fees of a completing purchase: on the curve's own part, and on the part beyond it. */
const completingFees = ({ quote }: CurveChange, amountIn: bigint) => {
  const own = feesOfCurve(quote)
  const rest = amountIn - quote - own.protocol - own.creator
  return { own, beyond: feesOfCurve(netOf(rest, curveRates) + 1n) }
}

const tradeEvent = (
  { mint, creator }: CurvePlaces,
  swap: Swapping,
  { after, tokens, quote }: CurveChange,
  paid: { readonly name: string; readonly feeRecipient: Address; readonly protocol: bigint; readonly creator: bigint }
): Uint8Array =>
  pack(
    curveTradeEvent.encode({
      mint,
      solAmount: quote,
      tokenAmount: tokens,
      isBuy: !swap.aToB,
      user: swap.trader,
      timestamp: swap.clock.unixTimestamp,
      virtualSolReserves: readU64(after, curveAt.virtualQuote),
      virtualTokenReserves: readU64(after, curveAt.virtualTokens),
      realSolReserves: readU64(after, curveAt.realQuote),
      realTokenReserves: readU64(after, curveAt.realTokens),
      feeRecipient: paid.feeRecipient,
      feeBasisPoints: curveRates.protocol,
      fee: paid.protocol,
      creator,
      creatorFeeBasisPoints: curveRates.creator,
      creatorFee: paid.creator,
      ...NO_VOLUME
    }),
    text(paid.name)
  )

/** The three events of a purchase that completes the curve and goes on in the pool to come. */
const completingEvents = (
  world: World,
  places: CurvePlaces,
  swap: Swapping,
  change: CurveChange
): ReadonlyArray<Uint8Array> => {
  const { mint, curve, vault } = places
  const { own, beyond } = completingFees(change, swap.settlement.amountIn)
  const common = { user: swap.trader, mint, bondingCurve: curve, quoteMint: SOL, timestamp: swap.clock.unixTimestamp }
  const base = balanceOf(world.bank.must(vault)) - change.tokens
  const quote = readU64(change.after, curveAt.realQuote)
  return [
    tradeEvent(places, swap, change, { name: "buy_exact_quote_in_v3", feeRecipient: SYSTEM_PROGRAM, ...own }),
    curveCompleteEvent.encode(common),
    curvePostCompleteEvent.encode({
      ...common,
      baseOut: change.beyond.tokens,
      quoteIn: change.beyond.quote,
      feeBasisPoints: curveRates.protocol,
      fee: beyond.protocol,
      creatorFeeBasisPoints: curveRates.creator,
      creatorFee: beyond.creator,
      buybackFee: 0n,
      poolBaseReservesBefore: base,
      poolQuoteReservesBefore: quote,
      poolBaseReservesAfter: base - change.beyond.tokens,
      poolQuoteReservesAfter: quote + change.beyond.quote
    })
  ]
}

/** The purchase that empties a curve and goes on beyond it. Its fees stay on the curve. */
const completingCall = (world: World, places: CurvePlaces, swap: Swapping, change: CurveChange): SwapCall => {
  const { curve, vault, mint } = places
  const { trader, to, from, minimum, settlement } = swap
  const authority = eventAuthority(world.derive, PUMP_PROGRAM)
  const events = completingEvents(world, places, swap, change)
  return {
    name: "BuyExactQuoteInV3",
    accounts: inAccountOrder(curveV3Accounts, {
      global: reads(globalOf(world.derive)),
      mint: reads(mint),
      quoteMint: reads(SOL),
      baseTokenProgram: reads(TOKEN_PROGRAM),
      quoteTokenProgram: reads(TOKEN_PROGRAM),
      bondingCurve: writes(curve),
      associatedBondingCurve: writes(vault),
      associatedQuoteBondingCurve: reads(associatedAddress(world.derive, curve, SOL, TOKEN_PROGRAM)),
      user: pays(trader),
      associatedUser: writes(to),
      associatedQuoteUser: reads(from),
      userVolumeAccumulator: volumes(world, PUMP_PROGRAM, trader).userVolumeAccumulator,
      feeConfig: reads(feeConfigOf(PUMP_PROGRAM, world.derive)),
      buybackFeeRecipient: reads(places.protocolTill),
      systemProgram: reads(SYSTEM_PROGRAM),
      eventAuthority: reads(authority),
      program: reads(PUMP_PROGRAM)
    }),
    data: encodeCurveBuyV3(settlement.amountIn, minimum),
    checked: false,
    logged: events,
    sent: { authority, events },
    units: 90_000
  }
}

/**
 * Trades on a curve. When the curve pays, lamports move without an instruction, so only the event states the amount.
 */
export const pumpCurveCall =
  (world: World, places: CurvePlaces) =>
  (swap: Swapping): SwapCall => {
    const { curve, vault, mint, protocolTill, creatorTill } = places
    const { trader, aToB, from, to, minimum, settlement } = swap
    const change = curveChange(world, places, swap)
    if (change.beyond.tokens > 0n) {
      return completingCall(world, places, swap, change)
    }
    const authority = eventAuthority(world.derive, PUMP_PROGRAM)
    const event = tradeEvent(places, swap, change, {
      name: aToB ? "sell" : "buy_exact_sol_in",
      feeRecipient: protocolTill,
      protocol: paidTo(swap, protocolTill),
      creator: paidTo(swap, creatorTill)
    })
    return {
      name: aToB ? "Sell" : "BuyExactSolIn",
      accounts: inAccountOrder(aToB ? curveSellAccounts : curveBuyAccounts, {
        global: reads(globalOf(world.derive)),
        feeRecipient: writes(protocolTill),
        mint: reads(mint),
        bondingCurve: writes(curve),
        associatedBondingCurve: writes(vault),
        associatedUser: writes(aToB ? from : to),
        user: pays(trader),
        systemProgram: reads(SYSTEM_PROGRAM),
        tokenProgram: reads(TOKEN_PROGRAM),
        creatorVault: writes(creatorTill),
        eventAuthority: reads(authority),
        program: reads(PUMP_PROGRAM),
        ...volumes(world, PUMP_PROGRAM, trader),
        feeConfig: reads(feeConfigOf(PUMP_PROGRAM, world.derive)),
        feeProgram: reads(FEE_PROGRAM)
      }),
      data: (aToB ? encodeSell : encodeCurveBuy)(settlement.amountIn, minimum),
      checked: false,
      logged: [event],
      sent: { authority, events: [event] },
      units: 60_000
    }
  }

/** The accounts that receive one PumpSwap pool's fees, and the rates. */
export interface PumpSwapPlaces {
  readonly protocolOwner: Address
  readonly protocol: Address
  /** Null when the coin has no creator fee. */
  readonly creator: { readonly owner: Address; readonly account: Address } | null
  readonly rates: () => { readonly lp: bigint; readonly protocol: bigint; readonly creator: bigint } | null
}

/** The quote amounts of a swap, from what the pool moves to what the trader moves. */
const quoteAmounts = (swap: Swapping, { protocol, creator }: PumpSwapPlaces) => {
  const { amountIn, amountOut, fee } = swap.settlement
  const protocolFee = paidTo(swap, protocol)
  const creatorFee = creator === null ? 0n : paidTo(swap, creator.account)
  const others = protocolFee + creatorFee
  return swap.aToB
    ? { protocolFee, creatorFee, pool: amountOut + others + fee, withoutOthers: amountOut + others, user: amountOut }
    : { protocolFee, creatorFee, pool: amountIn - others - fee, withoutOthers: amountIn - others, user: amountIn }
}

const pumpSwapEvent = (world: World, pool: CalledPool, places: PumpSwapPlaces, swap: Swapping): Uint8Array => {
  const { address, vaults } = pool
  const { trader, aToB, from, to, minimum, settlement, clock } = swap
  const [userBase, userQuote] = aToB ? [from, to] : [to, from]
  const held = (account: Address) => {
    const found = world.bank.get(account)
    return found === undefined ? (account === userQuote && !aToB ? settlement.amountIn : 0n) : balanceOf(found)
  }
  const rates = places.rates() ?? { lp: 0n, protocol: 0n, creator: 0n }
  const quotes = quoteAmounts(swap, places)
  const fields = {
    timestamp: clock.unixTimestamp,
    baseAmount: aToB ? settlement.amountIn : settlement.amountOut,
    limit: aToB ? minimum : settlement.amountIn,
    userBaseReserves: held(userBase),
    userQuoteReserves: held(userQuote),
    poolBaseReserves: held(vaults.a),
    poolQuoteReserves: held(vaults.b),
    poolQuoteAmount: quotes.pool,
    lpFeeBasisPoints: rates.lp,
    lpFee: settlement.fee,
    protocolFeeBasisPoints: rates.protocol,
    protocolFee: quotes.protocolFee,
    quoteWithoutOtherFees: quotes.withoutOthers,
    userQuoteAmount: quotes.user,
    pool: address,
    user: trader,
    userBaseTokenAccount: userBase,
    userQuoteTokenAccount: userQuote,
    protocolFeeRecipient: places.protocolOwner,
    protocolFeeRecipientTokenAccount: places.protocol,
    coinCreator: places.creator?.owner ?? NO_ADDRESS,
    coinCreatorFeeBasisPoints: places.creator === null ? 0n : rates.creator,
    coinCreatorFee: quotes.creatorFee
  }
  return aToB
    ? pumpSwapSellEvent.encode(fields)
    : pack(pumpSwapBuyEvent.encode({ ...fields, ...NO_VOLUME, minBaseAmountOut: minimum }), text("buy_exact_quote_in"))
}

/** Swaps in a PumpSwap pool. Without a creator, they name the vault of the system program's address. */
export const pumpSwapCall =
  (world: World, pool: CalledPool, places: PumpSwapPlaces) =>
  (swap: Swapping): SwapCall => {
    const { address, mints, vaults, part } = pool
    const { trader, aToB, from, to, minimum, settlement } = swap
    const { programId } = pumpSwap
    const authority = eventAuthority(world.derive, programId)
    const event = pumpSwapEvent(world, pool, places, swap)
    const creatorOwner = places.creator?.owner ?? NO_ADDRESS
    return {
      name: aToB ? "Sell" : "BuyExactQuoteIn",
      accounts: inAccountOrder(aToB ? pumpSwapSellAccounts : pumpSwapBuyAccounts, {
        pool: writes(address),
        user: pays(trader),
        globalConfig: reads(globalConfigOf(world.derive)),
        baseMint: reads(mints.a),
        quoteMint: reads(mints.b),
        userBaseTokenAccount: writes(aToB ? from : to),
        userQuoteTokenAccount: writes(aToB ? to : from),
        poolBaseTokenAccount: writes(vaults.a),
        poolQuoteTokenAccount: writes(vaults.b),
        protocolFeeRecipient: reads(places.protocolOwner),
        protocolFeeRecipientTokenAccount: writes(places.protocol),
        baseTokenProgram: reads(world.bank.must(mints.a).owner),
        quoteTokenProgram: reads(world.bank.must(mints.b).owner),
        systemProgram: reads(SYSTEM_PROGRAM),
        associatedTokenProgram: reads(ASSOCIATED_TOKEN_PROGRAM),
        eventAuthority: reads(authority),
        program: reads(programId),
        coinCreatorVaultAta: writes(places.creator?.account ?? part("creator vault")),
        coinCreatorVaultAuthority: reads(creatorVaultAuthorityOf(creatorOwner, world.derive)),
        ...volumes(world, programId, trader),
        feeConfig: reads(feeConfigOf(programId, world.derive)),
        feeProgram: reads(FEE_PROGRAM)
      }),
      data: (aToB ? encodeSell : encodePumpSwapBuy)(settlement.amountIn, minimum),
      checked: true,
      logged: [event],
      sent: { authority, events: [event] },
      units: 70_000
    }
  }
