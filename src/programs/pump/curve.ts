/**
 * Pump.fun bonding curves: the program's IDL notes, @pump-fun/pump-sdk 2.0.0, and for January 2025 the program
 * itself.
 */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address, addressToBytes, type Mint, SOL } from "../../domain/Address.ts"
import { BPS } from "../../domain/units.ts"
import { hasDiscriminator, readAddress, readU64 } from "../layout/bytes.ts"
import { utf8 } from "../layout/pack.ts"
import { addressesAt, sameFields } from "../layout/poolFields.ts"
import { associatedAddress, readVault } from "../layout/tokenAccount.ts"
import { outputFor } from "../math/constantProduct.ts"
import { ceilDiv, minBigInt } from "../math/integers.ts"
import { productInputFor, productInputTo } from "../math/priceMove.ts"
import {
  type Accounts,
  type DeriveAddress,
  type Pool,
  type PriceMove,
  type Program,
  type Rate,
  type Swap,
  type Unpriceable,
  refused
} from "../interface/Program.ts"
import { type CurveFees, curveFeeAccounts, readCurveFees } from "./curveFees.ts"
import { NO_ADDRESS, PUMP_PROGRAM, readCoin, totalBps } from "./fees.ts"
import { closed, incomplete, isFailure, malformed } from "../layout/unpriceable.ts"

const dex = "pump-fun-curve"

export const CURVE_DISCRIMINATOR = "17b7f83760d8ac60"
/** Length of the first layout. Fields that were appended later count as zero when the account ends before them. */
const FIRST_LENGTH = 49
/** Fees depend on a market cap computed with this supply. Mayhem curves mint more and use their own supply. */
const COMMON_SUPPLY = 1_000_000_000_000_000n

/** Tokens that a common curve sells: `initial_real_token_reserves` of the global account. */
const FOR_SALE = 793_100_000_000_000n

/** Offsets in a curve account. */
export const curveAt = {
  virtualTokens: 8,
  virtualQuote: 16,
  realTokens: 24,
  realQuote: 32,
  supply: 40,
  complete: 48,
  creator: 49,
  mayhem: 81,
  cashback: 82,
  quoteMint: 83,
  creatorFeeBps: 115,
  initialVirtualQuote: 142,
  /** Tokens and quote of the part that the completing purchase bought beyond the curve. */
  postCompleteBase: 150,
  postCompleteQuote: 158
} as const

/** Length of a curve account in the layout of October 2026. */
export const CURVE_LENGTH = 166

interface Curve {
  readonly virtualTokens: bigint
  readonly virtualQuote: bigint
  /** Tokens that can still be bought, and quote paid in so far. */
  readonly realTokens: bigint
  readonly realQuote: bigint
  readonly fees: CurveFees
  /** What the migration adds to the pool besides the curve's quote. Null when no purchase may go beyond the curve. */
  readonly beyond: Beyond | null
}

/** The tokens that the curve does not sell, and the quote that the migration keeps. */
interface Beyond {
  readonly base: bigint
  readonly migrationFee: bigint
}

const isCurve = ({ data, owner }: OnChainAccount): boolean =>
  owner === PUMP_PROGRAM && data.length >= FIRST_LENGTH && hasDiscriminator(data, CURVE_DISCRIMINATOR)

/** The curve account of a coin. It names its quote but not its coin, so it is found by address. */
export const curveOf = (mint: Mint, derive: DeriveAddress): Address =>
  derive(PUMP_PROGRAM, [utf8("bonding-curve"), addressToBytes(mint)])

/** The mint that a curve sells for: SOL unless the account names another one. */
export const quoteMintOf = (data: Uint8Array): Mint => {
  const stored = data.length >= curveAt.creatorFeeBps ? readAddress(data, curveAt.quoteMint) : NO_ADDRESS
  return stored === NO_ADDRESS ? SOL : stored
}

/**
 * The curve's token account. Empty until the mint has been read, because the mint's program determines the
 * address.
 */
const tokensOf = (
  { address }: OnChainAccount,
  mint: Mint,
  accounts: Accounts,
  derive: DeriveAddress
): ReadonlyArray<Address> => {
  const tokenProgram = accounts(mint)?.owner
  return tokenProgram === undefined ? [] : [associatedAddress(derive, address, mint, tokenProgram)]
}

const needs = (
  pool: OnChainAccount,
  accounts: Accounts,
  derive: DeriveAddress,
  foundBy?: Mint
): ReadonlyArray<Address> =>
  isCurve(pool) && foundBy !== undefined
    ? [foundBy, quoteMintOf(pool.data), ...curveFeeAccounts(derive), ...tokensOf(pool, foundBy, accounts, derive)]
    : []

/** What `tokens` cost on the curve before fees, in units of quote. */
const costOf = ({ virtualQuote, virtualTokens }: Curve, tokens: bigint): bigint =>
  (tokens * virtualQuote) / (virtualTokens - tokens) + 1n

/**
 * The reserves that the migration would put into the pool right after the curve's last token is sold for `cost`. Null
 * when the program sells nothing beyond the curve.
 */
const poolToCome = ({ beyond, realQuote }: Curve, cost: bigint) => {
  const quote = beyond === null ? 0n : realQuote + cost - beyond.migrationFee
  return beyond === null || quote <= 0n ? null : { base: beyond.base, quote }
}

/**
 * Sells an exact number of tokens. What the curve lacks comes from the future pool, at the pool's price and the
 * curve's fees.
 */
const buyExactly = (curve: Curve, tokens: bigint): Swap => {
  const { fees, realTokens } = curve
  const cost = costOf(curve, minBigInt(tokens, realTokens))
  const amountIn = cost + fees.on(cost)
  if (tokens <= realTokens) {
    return { ending: "filled", amountIn, amountOut: tokens }
  }
  const pool = poolToCome(curve, cost)
  const extra = tokens - realTokens
  if (pool === null) {
    return { ending: "exhausted", amountIn, amountOut: realTokens }
  }
  if (extra >= pool.base) {
    return refused
  }
  const more = ceilDiv(pool.quote * extra, pool.base - extra)
  return { ending: "filled", amountIn: amountIn + more + fees.on(more), amountOut: tokens }
}

/**
 * Empties the curve and spends the rest of the input in the future pool. If the rest buys nothing there, it stays
 * with the trader.
 */
const buyBeyond = (curve: Curve, amountIn: bigint): Swap => {
  const cost = costOf(curve, curve.realTokens)
  const paid = cost + curve.fees.on(cost)
  const pool = poolToCome(curve, cost)
  const net = pool === null || amountIn <= paid ? 0n : curve.fees.netOf(amountIn - paid)
  const extra = pool === null || net <= 0n ? 0n : outputFor(net, pool.quote, pool.base)
  return extra === 0n
    ? { ending: "exhausted", amountIn: paid, amountOut: curve.realTokens }
    : { ending: "filled", amountIn, amountOut: curve.realTokens + extra }
}

const buy = (curve: Curve, amountIn: bigint): Swap => {
  const net = curve.fees.netOf(amountIn)
  const amountOut = net > 0n ? outputFor(net, curve.virtualQuote, curve.virtualTokens) : 0n
  if (amountOut === 0n) {
    return refused
  }
  return amountOut > curve.realTokens ? buyBeyond(curve, amountIn) : { ending: "filled", amountIn, amountOut }
}

/** Sells tokens. The program accepts a payout of zero and then takes the tokens for nothing. */
const sell = (curve: Curve, amountIn: bigint): Swap => {
  const gross = outputFor(amountIn, curve.virtualTokens, curve.virtualQuote)
  const amountOut = gross - curve.fees.on(gross)
  return gross > curve.realQuote || amountOut < 0n ? refused : { ending: "filled", amountIn, amountOut }
}

const marginalRate = ({ fees, virtualQuote, virtualTokens }: Curve, aToB: boolean): Rate =>
  aToB
    ? { numerator: virtualQuote * (BPS - totalBps(fees.rates)), denominator: virtualTokens * BPS }
    : { numerator: virtualTokens * BPS, denominator: virtualQuote * (BPS + totalBps(fees.rates)) }

/**
 * A sale is limited to the quote that was paid in. A purchase continues in the future pool, if the program allows it.
 */
const inputTo = (curve: Curve, aToB: boolean, share: Rate): PriceMove => {
  const { fees, realQuote, realTokens, virtualQuote, virtualTokens } = curve
  if (aToB) {
    const amountIn = productInputTo(virtualTokens, share)
    const most = realQuote < virtualQuote ? productInputFor(realQuote, virtualTokens, virtualQuote) : amountIn
    return { amountIn: minBigInt(amountIn, most), complete: true }
  }
  const net = productInputTo(virtualQuote, share)
  const cost = costOf(curve, realTokens)
  const part = minBigInt(net, cost)
  const pool = net > cost ? poolToCome(curve, cost) : null
  // The remaining share, measured from the price at the end of the curve, where the pool begins.
  const rest = {
    numerator: share.numerator * virtualTokens * (virtualQuote + cost),
    denominator: share.denominator * virtualQuote * (virtualTokens - realTokens)
  }
  const more = pool === null || rest.numerator >= rest.denominator ? 0n : productInputTo(pool.quote, rest)
  return { amountIn: part + fees.on(part) + more + fees.on(more), complete: true }
}

/**
 * What a purchase finds beyond the curve (pump-public-docs, docs/SYNTHETIC_MIGRATION.md). Null for mayhem coins, and
 * for cashback coins, which only the older instructions trade. While the curve's token account has not been read, it
 * counts as holding the supply without the tokens for sale: curves hold no more than this unless somebody gives them
 * tokens.
 */
const beyondOf = (
  { data }: OnChainAccount,
  { poolMigrationFee }: CurveFees,
  realTokens: bigint,
  held: bigint | null,
  isSol: boolean
): Beyond | null => {
  const isOld = data.length > curveAt.cashback && (data[curveAt.mayhem] === 1 || data[curveAt.cashback] === 1)
  if (poolMigrationFee === null || isOld) {
    return null
  }
  const supply = readU64(data, curveAt.supply)
  const base = held === null ? (supply === COMMON_SUPPLY ? supply - FOR_SALE : 0n) : held - realTokens
  return base > 0n ? { base, migrationFee: isSol ? poolMigrationFee : 0n } : null
}

const decode = (
  pool: OnChainAccount,
  accounts: Accounts,
  derive: DeriveAddress,
  foundBy?: Mint
): Pool | Unpriceable => {
  const { address, data } = pool
  if (!isCurve(pool)) {
    return malformed(`${address} is not a BondingCurve`)
  }
  if (foundBy === undefined) {
    return incomplete(`which coin ${address} sells is not known`)
  }
  if (curveOf(foundBy, derive) !== address) {
    return malformed(`${address} is not the curve of ${foundBy}`)
  }
  const virtualTokens = readU64(data, curveAt.virtualTokens)
  const virtualQuote = readU64(data, curveAt.virtualQuote)
  if (data[curveAt.complete] !== 0 || virtualTokens === 0n || virtualQuote === 0n) {
    return closed("the curve is complete")
  }
  const quoteMint = quoteMintOf(data)
  const coin = readCoin(accounts, foundBy)
  if (isFailure(coin)) {
    return coin
  }
  const quote = readCoin(accounts, quoteMint)
  if (isFailure(quote)) {
    return quote
  }
  const supply = data[curveAt.mayhem] === 1 ? coin.supply : COMMON_SUPPLY
  const fees = readCurveFees(accounts, derive, {
    quoteMint,
    marketCap: (virtualQuote * supply) / virtualTokens,
    hasCreator: data.length >= curveAt.mayhem && readAddress(data, curveAt.creator) !== NO_ADDRESS,
    creatorFeeBps: data.length >= curveAt.creatorFeeBps + 8 ? readU64(data, curveAt.creatorFeeBps) : 0n
  })
  if (isFailure(fees)) {
    return fees
  }
  const [tokens] = tokensOf(pool, foundBy, accounts, derive)
  const held = tokens === undefined || !accounts(tokens) ? null : readVault(accounts, tokens, foundBy)
  if (held !== null && isFailure(held)) {
    return held
  }
  const realTokens = readU64(data, curveAt.realTokens)
  const curve = {
    virtualTokens,
    virtualQuote,
    realTokens,
    realQuote: readU64(data, curveAt.realQuote),
    fees,
    beyond: beyondOf(pool, fees, realTokens, held?.amount ?? null, quoteMint === SOL)
  }
  if (curve.realTokens >= virtualTokens) {
    return malformed(`${curve.realTokens} tokens left of ${virtualTokens} virtual ones`)
  }
  return {
    address,
    dex,
    mintA: foundBy,
    mintB: quoteMint,
    slot: Math.max(pool.slot, coin.slot, quote.slot, fees.slot, held?.slot ?? 0),
    reserves: [curve.realTokens, curve.realQuote],
    ...(curve.realTokens <= FOR_SALE && {
      graduation: { numerator: FOR_SALE - curve.realTokens, denominator: FOR_SALE }
    }),
    swap: (aToB, amountIn) => (aToB ? sell(curve, amountIn) : buy(curve, amountIn)),
    exactOutOnly: "bToA",
    swapExactOut: (aToB, amountOut) => (aToB ? refused : buyExactly(curve, amountOut)),
    marginalRate: (aToB) => marginalRate(curve, aToB),
    feeRate: () => ({ numerator: totalBps(curve.fees.rates), denominator: BPS }),
    inputTo: (aToB, share) => inputTo(curve, aToB, share)
  }
}

/**
 * Bonding curves of coins that have not graduated. Token A is the coin. Token B is the quote: SOL, or the mint that
 * the curve names.
 */
export const pumpCurve: Program = {
  dex,
  programId: PUMP_PROGRAM,
  poolsOf: () => [],
  poolAddressesOf: (mint, derive) => [curveOf(mint, derive)],
  isPool: isCurve,
  needs,
  keepsNeeds: sameFields(addressesAt(curveAt.quoteMint)),
  decode
}
