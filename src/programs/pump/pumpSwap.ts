/** PumpSwap: @pump-fun/pump-swap-sdk 1.20.0 (src/sdk/{buy,sell,fees,util}.ts) and pump-fun/pump-public-docs. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { BPS } from "../../domain/units.ts"
import { ANCHOR_POOL } from "../layout/anchor.ts"
import { poolAfter } from "../layout/afterSwap.ts"
import { hasDiscriminator, readAddress, readI128, readU64, newAccountData } from "../layout/bytes.ts"
import { u16, utf8 } from "../layout/pack.ts"
import { addressesAt, lpTokensAt, namedVaults, sameFields } from "../layout/poolFields.ts"
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
import {
  feeConfigOf,
  type FeeRates,
  feeUp,
  feesOn,
  lpFeeOn,
  netOf,
  NO_ADDRESS,
  PUMP_PROGRAM,
  readCoin,
  readFeeRates,
  totalBps,
  withCreatorTerms
} from "./fees.ts"
import { readVault } from "../layout/tokenAccount.ts"
import { accountAt, closed, isFailure, malformed } from "../layout/unpriceable.ts"

const programId = Address.make("pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA")
const dex = "pumpswap"

/** Discriminator of the GlobalConfig account. A pool account begins with `ANCHOR_POOL`. */
export const PUMP_SWAP_CONFIG_DISCRIMINATOR = "95089ccaa0fcb0d9"
/** Length of the first layout. Fields that were appended later count as zero when the account ends before them. */
const FIRST_LENGTH = 211
/** Fees of mayhem pools depend on a market cap computed with this supply, however much was minted or burnt. */
const MAYHEM_SUPPLY = 1_000_000_000_000_000n

/** Offsets in a pool account. */
export const pumpSwapPoolAt = {
  bump: 8,
  creator: 11,
  baseMint: 43,
  quoteMint: 75,
  lpMint: 107,
  baseVault: 139,
  quoteVault: 171,
  lpSupply: 203,
  coinCreator: 211,
  mayhem: 243,
  cashback: 244,
  virtualQuote: 245,
  creatorFeeBps: 261,
  protocolFees: 271,
  creatorFees: 279
} as const
/** Offsets in the program's settings. The buyback's share of a fee may go to eight wallets. */
export const pumpSwapConfigAt = { disableFlags: 56, buybackWallets: 643, creatorFeeConfigurable: 940 } as const
const disabled = { buy: 0b1000, sell: 0b10000 }

/** A pool's values as the formulas use them. */
interface State {
  readonly base: bigint
  /** The reserve that prices are computed from: the vault's balance plus the signed virtual reserves. */
  readonly quote: bigint
  /** The most that can be paid out: the vault's balance without waiting fees. */
  readonly payable: bigint
  readonly rates: FeeRates
  readonly mayBuy: boolean
  readonly maySell: boolean
}

const isPumpSwapPool = ({ data, owner }: OnChainAccount): boolean =>
  owner === programId && data.length >= FIRST_LENGTH && hasDiscriminator(data, ANCHOR_POOL)

const isPoolMatch = { offset: 0, bytes: newAccountData(8, ANCHOR_POOL) }

// Pools have several sizes, and other accounts may have the same sizes. Only the discriminator tells them apart.
const poolsOf = (mint: Mint) =>
  [pumpSwapPoolAt.baseMint, pumpSwapPoolAt.quoteMint].map((offset) => ({
    matches: [isPoolMatch, { offset, bytes: addressToBytes(mint) }]
  }))

/** Address of the program's settings. */
export const globalConfigOf = (derive: DeriveAddress): Address => derive(programId, [utf8("global_config")])

/** The address that creates a coin's only pool when its curve completes. */
export const poolAuthorityOf = (baseMint: Mint, derive: DeriveAddress): Address =>
  derive(PUMP_PROGRAM, [utf8("pool-authority"), addressToBytes(baseMint)])

/** The first pool that this address creates for a pair. */
export const pumpSwapPoolOf = (creator: Address, base: Mint, quote: Mint, derive: DeriveAddress): Address =>
  derive(programId, [utf8("pool"), u16(0), ...[creator, base, quote].map(addressToBytes)])

const needs = (pool: OnChainAccount, _accounts: Accounts, derive: DeriveAddress): ReadonlyArray<Address> =>
  isPumpSwapPool(pool)
    ? [
        ...[pumpSwapPoolAt.baseVault, pumpSwapPoolAt.quoteVault, pumpSwapPoolAt.baseMint, pumpSwapPoolAt.quoteMint].map(
          (offset) => readAddress(pool.data, offset)
        ),
        feeConfigOf(programId, derive),
        globalConfigOf(derive)
      ]
    : []

const fieldsOf = (data: Uint8Array) => ({
  creator: readAddress(data, pumpSwapPoolAt.creator),
  baseMint: readAddress(data, pumpSwapPoolAt.baseMint),
  quoteMint: readAddress(data, pumpSwapPoolAt.quoteMint),
  baseVault: readAddress(data, pumpSwapPoolAt.baseVault),
  quoteVault: readAddress(data, pumpSwapPoolAt.quoteVault),
  hasCreator: data.length >= pumpSwapPoolAt.mayhem && readAddress(data, pumpSwapPoolAt.coinCreator) !== NO_ADDRESS,
  mayhem: data.length > pumpSwapPoolAt.mayhem && data[pumpSwapPoolAt.mayhem] === 1,
  virtualQuote: data.length >= pumpSwapPoolAt.creatorFeeBps ? readI128(data, pumpSwapPoolAt.virtualQuote) : 0n,
  creatorFeeBps: data.length >= pumpSwapPoolAt.creatorFeeBps + 8 ? readU64(data, pumpSwapPoolAt.creatorFeeBps) : 0n,
  // Fees that v2 swaps keep in the quote vault until somebody collects them.
  waitingFees: [pumpSwapPoolAt.protocolFees, pumpSwapPoolAt.creatorFees].reduce(
    (sum, at) => sum + (data.length >= at + 8 ? readU64(data, at) : 0n),
    0n
  )
})

/** The address that owns a creator's share of the fees. */
export const creatorVaultAuthorityOf = (creator: Address, derive: DeriveAddress): Address =>
  derive(programId, [utf8("creator_vault"), addressToBytes(creator)])

/** Reads the program's settings: switches, and whether a pool's own creator rate applies. */
const readConfig = (accounts: Accounts, derive: DeriveAddress) => {
  const config = accountAt(accounts, globalConfigOf(derive), "GlobalConfig")
  if (isFailure(config)) {
    return config
  }
  const { address, data, owner, slot } = config
  if (
    owner !== programId ||
    data.length <= pumpSwapConfigAt.disableFlags ||
    !hasDiscriminator(data, PUMP_SWAP_CONFIG_DISCRIMINATOR)
  ) {
    return malformed(`${address} is not a GlobalConfig`)
  }
  const flags = data[pumpSwapConfigAt.disableFlags] ?? 0
  return {
    mayBuy: (flags & disabled.buy) === 0,
    maySell: (flags & disabled.sell) === 0,
    creatorFeeConfigurable: data[pumpSwapConfigAt.creatorFeeConfigurable] === 1,
    slot
  }
}

/** Reads a vault and its mint. */
const readToken = (accounts: Accounts, vaultAddress: Address, mint: Mint) => {
  const vault = readVault(accounts, vaultAddress, mint)
  if (isFailure(vault)) {
    return vault
  }
  const coin = readCoin(accounts, mint)
  return isFailure(coin) ? coin : { amount: vault.amount, supply: coin.supply, slot: Math.max(vault.slot, coin.slot) }
}

const buy = ({ base, mayBuy, quote, rates }: State, amountIn: bigint): Swap => {
  const net = netOf(amountIn, rates)
  const amountOut = net > 0n && mayBuy ? outputFor(net, quote, base) : 0n
  return amountOut > 0n ? { ending: "filled", amountIn, amountOut } : refused
}

const buyExactly = ({ base, mayBuy, quote, rates }: State, amountOut: bigint): Swap => {
  if (amountOut >= base || !mayBuy) {
    return refused
  }
  const cost = ceilDiv(quote * amountOut, base - amountOut)
  return { ending: "filled", amountIn: cost + feesOn(cost, rates), amountOut }
}

const sell = ({ base, maySell, payable, quote, rates }: State, amountIn: bigint): Swap => {
  const gross = outputFor(amountIn, base, quote)
  const amountOut = gross - feesOn(gross, rates)
  // Virtual reserves affect the price but cannot be paid out.
  const mayPay = gross - lpFeeOn(gross, rates) <= payable
  return amountOut > 0n && mayPay && maySell ? { ending: "filled", amountIn, amountOut } : refused
}

const marginalRate = ({ base, quote, rates }: State, aToB: boolean): Rate =>
  aToB
    ? { numerator: quote * (BPS - totalBps(rates)), denominator: base * BPS }
    : { numerator: base * BPS, denominator: quote * (BPS + totalBps(rates)) }

/** A sale is limited to what the vault can pay: virtual reserves affect the price but cannot be paid out. */
const inputTo = ({ base, payable, quote, rates }: State, aToB: boolean, share: Rate): PriceMove => {
  if (!aToB) {
    const net = productInputTo(quote, share)
    return { amountIn: net + feesOn(net, rates), complete: true }
  }
  const amountIn = productInputTo(base, share)
  const most = payable < quote ? productInputFor(payable, base, quote) : amountIn
  return { amountIn: minBigInt(amountIn, most), complete: true }
}

/** Reads the pool's values, and the newest slot among its accounts. */
const readState = (pool: OnChainAccount, accounts: Accounts, derive: DeriveAddress) => {
  const { address, data } = pool
  if (!isPumpSwapPool(pool)) {
    return malformed(`${address} is not a Pool`)
  }
  const fields = fieldsOf(data)
  const base = readToken(accounts, fields.baseVault, fields.baseMint)
  if (isFailure(base)) {
    return base
  }
  const quote = readToken(accounts, fields.quoteVault, fields.quoteMint)
  if (isFailure(quote)) {
    return quote
  }
  const config = readConfig(accounts, derive)
  if (isFailure(config)) {
    return config
  }
  const feeConfig = accountAt(accounts, feeConfigOf(programId, derive), "FeeConfig")
  if (isFailure(feeConfig)) {
    return feeConfig
  }
  const quoteReserve = quote.amount + fields.virtualQuote
  const payable = quote.amount - fields.waitingFees
  if (base.amount === 0n || payable <= 0n || quoteReserve <= 0n) {
    return closed("no liquidity")
  }
  const schedule = readFeeRates(feeConfig, {
    quoteMint: fields.quoteMint,
    canonical: fields.creator === poolAuthorityOf(fields.baseMint, derive),
    marketCap: (quoteReserve * (fields.mayhem ? MAYHEM_SUPPLY : base.supply)) / base.amount
  })
  if (isFailure(schedule)) {
    return schedule
  }
  const rates = withCreatorTerms(schedule, {
    hasCreator: fields.hasCreator,
    ownBps: fields.creatorFeeBps,
    mayOwn: config.creatorFeeConfigurable
  })
  if (isFailure(rates)) {
    return rates
  }
  const { mayBuy, maySell } = config
  const state: State = { base: base.amount, quote: quoteReserve, payable, rates, mayBuy, maySell }
  return { fields, state, slot: Math.max(pool.slot, base.slot, quote.slot, config.slot, feeConfig.slot) }
}

const decode = (pool: OnChainAccount, accounts: Accounts, derive: DeriveAddress): Pool | Unpriceable => {
  const read = readState(pool, accounts, derive)
  if (isFailure(read)) {
    return read
  }
  const { fields, slot, state } = read
  const { base, payable, rates } = state
  return {
    address: pool.address,
    dex,
    mintA: fields.baseMint,
    mintB: fields.quoteMint,
    slot,
    reserves: [base, payable],
    ...lpTokensAt(pool.data, pumpSwapPoolAt.lpMint, pumpSwapPoolAt.lpSupply),
    swap: (aToB, amountIn) => (aToB ? sell(state, amountIn) : buy(state, amountIn)),
    exactOutOnly: "bToA",
    swapExactOut: (aToB, amountOut) => (aToB ? refused : buyExactly(state, amountOut)),
    marginalRate: (aToB) => marginalRate(state, aToB),
    feeRate: () => ({ numerator: totalBps(rates), denominator: BPS }),
    inputTo: (aToB, share) => inputTo(state, aToB, share)
  }
}

/**
 * The vaults after a swap whose fees for protocol and creator leave the pool at once (`buy_exact_quote_in` and `sell`). The
 * pool account stays as it was.
 */
const after: NonNullable<Program["after"]> = (pool, accounts, derive, { aToB, amountIn, amountOut }) => {
  const read = readState(pool, accounts, derive)
  if (isFailure(read)) {
    return read
  }
  const { fields, state } = read
  const { protocol, creator } = state.rates
  const duesOn = (amount: bigint) => feeUp(amount, protocol) + feeUp(amount, creator)
  const quote = aToB
    ? -amountOut - duesOn(outputFor(amountIn, state.base, state.quote))
    : // The curve prices one unit less than the amount that the fees are charged on.
      amountIn - duesOn(netOf(amountIn, state.rates) + 1n)
  return poolAfter(pool, pool.data, accounts, [
    [fields.baseVault, aToB ? amountIn : -amountOut],
    [fields.quoteVault, quote]
  ])
}

/** PumpSwap pools, canonical or not. Token A is the base, token B the quote. Fees are paid in the quote. */
export const pumpSwap: Program = {
  dex,
  programId,
  poolsOf,
  vaultsOf: namedVaults(
    { mint: pumpSwapPoolAt.baseMint, vault: pumpSwapPoolAt.baseVault },
    { mint: pumpSwapPoolAt.quoteMint, vault: pumpSwapPoolAt.quoteVault }
  ),
  isPool: isPumpSwapPool,
  needs,
  keepsNeeds: sameFields(
    addressesAt(pumpSwapPoolAt.baseVault, pumpSwapPoolAt.quoteVault, pumpSwapPoolAt.baseMint, pumpSwapPoolAt.quoteMint)
  ),
  decode,
  after
}
