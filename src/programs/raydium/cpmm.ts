/** Raydium CPMM: raydium-io/raydium-cp-swap, programs/cp-swap/src at 609780f. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { hasDiscriminator, readAddress, readU64 } from "../math/bytes.ts"
import { marginalRate, refused, sell, type Side } from "../math/constantProduct.ts"
import type { Accounts, Pool, Program, Unpriceable } from "../Program.ts"
import { readMint, readVault } from "../math/tokenAccount.ts"
import { accountAt, closed, isFailure, malformed, unsupported } from "../math/unpriceable.ts"

const programId = Address.make("CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C")
const dex = "raydium-cpmm"

// CLMM calls its pools the same, so the discriminator alone does not tell; the owner does.
const DISCRIMINATOR = "f7ede3f5d7c3de46"
const CONFIG_DISCRIMINATOR = "daf42168cbcb2b6f"
const LENGTH = 637
const CONFIG_LENGTH = 236
const SCALE = 1_000_000n

const at = {
  config: 8,
  vaults: [72, 104],
  mints: [168, 200],
  status: 329,
  protocolFees: [341, 349],
  fundFees: [357, 365],
  openTime: 373,
  creatorFeeOn: 389,
  creatorFeeEnabled: 390,
  creatorFees: [397, 405],
  reserved: 413
} as const

const configAt = { tradeFeeRate: 12, creatorFeeRate: 108 }
const statusBit = { known: 0b111, swapOff: 0b100 }
/** `creator_fee_on`: on whichever token comes in, or always on one of the two. */
const creatorFeeOn = { input: 0, token0: 1, token1: 2 }

interface Rates {
  readonly trade: bigint
  readonly creator: bigint
}

const isCpmmPool = ({ data, owner }: OnChainAccount): boolean =>
  owner === programId && data.length >= LENGTH && hasDiscriminator(data, DISCRIMINATOR)

const poolsOf = (mint: Mint) =>
  at.mints.map((offset) => ({ dataSize: LENGTH, matches: [{ offset, bytes: addressToBytes(mint) }] }))

const needs = (pool: OnChainAccount): ReadonlyArray<Address> =>
  isCpmmPool(pool) ? [at.config, ...at.vaults, ...at.mints].map((offset) => readAddress(pool.data, offset)) : []

/** Why no swap of the pool can be priced, whatever its reserves are. */
const refusal = (data: Uint8Array): Unpriceable | null => {
  const status = data[at.status] ?? 0
  if ((status & ~statusBit.known) !== 0) {
    return unsupported(`status ${status}`)
  }
  if ((status & statusBit.swapOff) !== 0) {
    return closed("swaps are switched off")
  }
  const on = data[at.creatorFeeOn] ?? 0
  if (on > creatorFeeOn.token1) {
    return unsupported(`creator_fee_on ${on}`)
  }
  return data.subarray(at.reserved, LENGTH).every((byte) => byte === 0)
    ? null
    : unsupported("fields of a newer program version are set")
}

const readRates = (accounts: Accounts, pool: Uint8Array): (Rates & { readonly slot: number }) | Unpriceable => {
  const config = accountAt(accounts, readAddress(pool, at.config), "config")
  if (isFailure(config)) {
    return config
  }
  const { address, data, owner, slot } = config
  if (owner !== programId || data.length < CONFIG_LENGTH || !hasDiscriminator(data, CONFIG_DISCRIMINATOR)) {
    return malformed(`${address} is not an AmmConfig`)
  }
  const trade = readU64(data, configAt.tradeFeeRate)
  const creator = pool[at.creatorFeeEnabled] === 1 ? readU64(data, configAt.creatorFeeRate) : 0n
  return trade + creator < SCALE ? { trade, creator, slot } : malformed(`fee rates ${trade} + ${creator}`)
}

/** What a side holds besides liquidity: fees that protocol, fund and creator have not collected yet. */
const owed = (data: Uint8Array, token: 0 | 1): bigint =>
  readU64(data, at.protocolFees[token]) + readU64(data, at.fundFees[token]) + readU64(data, at.creatorFees[token])

const feesOf = (data: Uint8Array, tokenIn: 0 | 1, { creator, trade }: Rates) => {
  const on = data[at.creatorFeeOn]
  const creatorOnInput = on === creatorFeeOn.input || on === creatorFeeOn.token0 + tokenIn
  // One rounding for both fees on the input: the program adds the rates before it divides.
  return creatorOnInput
    ? { feeOnInput: trade + creator, feeOnOutput: 0n, scale: SCALE }
    : { feeOnInput: trade, feeOnOutput: creator, scale: SCALE }
}

/** One of the two tokens: what is in its vault, and what moving it costs. */
const readToken = (accounts: Accounts, data: Uint8Array, token: 0 | 1) => {
  const mint = readAddress(data, at.mints[token])
  const vault = readVault(accounts, readAddress(data, at.vaults[token]), mint)
  if (isFailure(vault)) {
    return vault
  }
  const minted = readMint(accounts, mint)
  if (isFailure(minted)) {
    return minted
  }
  const reserve = vault.amount - owed(data, token)
  return reserve > 0n
    ? { mint, reserve, transferFees: minted.transferFees, slot: Math.max(vault.slot, minted.slot) }
    : closed("no liquidity")
}

const decode = (pool: OnChainAccount, accounts: Accounts): Pool | Unpriceable => {
  const { address, data } = pool
  if (!isCpmmPool(pool)) {
    return malformed(`${address} is not a PoolState`)
  }
  const refusing = refusal(data)
  if (refusing !== null) {
    return refusing
  }
  const rates = readRates(accounts, data)
  if (isFailure(rates)) {
    return rates
  }
  const token0 = readToken(accounts, data, 0)
  if (isFailure(token0)) {
    return token0
  }
  const token1 = readToken(accounts, data, 1)
  if (isFailure(token1)) {
    return token1
  }
  const zeroForOne: Side = {
    ...feesOf(data, 0, rates),
    reserveIn: token0.reserve,
    reserveOut: token1.reserve,
    transferFeesIn: token0.transferFees,
    transferFeesOut: token1.transferFees
  }
  const oneForZero: Side = {
    ...feesOf(data, 1, rates),
    reserveIn: token1.reserve,
    reserveOut: token0.reserve,
    transferFeesIn: token1.transferFees,
    transferFeesOut: token0.transferFees
  }
  const opensAt = readU64(data, at.openTime)
  return {
    address,
    dex,
    mintA: token0.mint,
    mintB: token1.mint,
    slot: Math.max(pool.slot, rates.slot, token0.slot, token1.slot),
    reserves: [token0.reserve, token1.reserve],
    swap: (aToB, amountIn, clock) =>
      BigInt(clock.unixTimestamp) < opensAt ? refused : sell(aToB ? zeroForOne : oneForZero, amountIn, clock.epoch),
    marginalRate: (aToB, clock) => marginalRate(aToB ? zeroForOne : oneForZero, clock.epoch)
  }
}

/** Raydium CPMM pools, creator fees and Token-2022 transfer fees included. */
export const raydiumCpmm: Program = { dex, programId, poolsOf, isPool: isCpmmPool, needs, decode }
