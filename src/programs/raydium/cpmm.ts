/** Raydium CPMM: raydium-io/raydium-cp-swap, programs/cp-swap/src at 609780f. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { MAX_U64 } from "../../domain/Amount.ts"
import { type Address } from "../../domain/Address.ts"
import { hasDiscriminator, readAddress, readU64 } from "../layout/bytes.ts"
import { productPrices, type Side } from "../math/constantProduct.ts"
import { withTransferFees } from "../math/transferFee.ts"
import { type Accounts, type Pool, type Program, type Unpriceable } from "../interface/Program.ts"
import {
  CPMM_CONFIG_DISCRIMINATOR,
  CPMM_CONFIG_SIZE,
  CPMM_DISCRIMINATOR,
  CPMM_FEE_SCALE,
  CPMM_PROGRAM,
  CPMM_SIZE,
  cpmmConfigOffsets,
  cpmmCreatorFeeOn,
  cpmmOffsets,
  cpmmStatusBits,
  cpmmUncollectedFees
} from "./cpmmLayout.ts"
import { lpTokensAt, namedVaults, poolsWithMintAt } from "../layout/poolFields.ts"
import { readMint, readVault } from "../layout/tokenAccount.ts"
import { accountAt, closed, isFailure, malformed, unsupported } from "../layout/unpriceable.ts"

const dex = "raydium-cpmm"

const at = cpmmOffsets

interface Rates {
  readonly trade: bigint
  readonly creator: bigint
}

const isCpmmPool = ({ data, owner }: OnChainAccount): boolean =>
  owner === CPMM_PROGRAM && data.length >= CPMM_SIZE && hasDiscriminator(data, CPMM_DISCRIMINATOR)

const needs = (pool: OnChainAccount): ReadonlyArray<Address> =>
  isCpmmPool(pool) ? [at.config, ...at.vaults, ...at.mints].map((offset) => readAddress(pool.data, offset)) : []

/** Why no swap of the pool can be priced, whatever its reserves; null when swaps can be. */
const refusal = (data: Uint8Array): Unpriceable | null => {
  const status = data[at.status] ?? 0
  if ((status & ~cpmmStatusBits.known) !== 0) {
    return unsupported(`status ${status}`)
  }
  if ((status & cpmmStatusBits.swapOff) !== 0) {
    return closed("swaps are switched off")
  }
  const on = data[at.creatorFeeOn] ?? 0
  if (on > cpmmCreatorFeeOn.token1) {
    return unsupported(`creator_fee_on ${on}`)
  }
  return data.subarray(at.reserved, CPMM_SIZE).every((byte) => byte === 0)
    ? null
    : unsupported("fields of a newer program version are set")
}

const readRates = (accounts: Accounts, pool: Uint8Array): (Rates & { readonly slot: number }) | Unpriceable => {
  const config = accountAt(accounts, readAddress(pool, at.config), "config")
  if (isFailure(config)) {
    return config
  }
  const { address, data, owner, slot } = config
  if (owner !== CPMM_PROGRAM || data.length < CPMM_CONFIG_SIZE || !hasDiscriminator(data, CPMM_CONFIG_DISCRIMINATOR)) {
    return malformed(`${address} is not an AmmConfig`)
  }
  const trade = readU64(data, cpmmConfigOffsets.tradeFeeRate)
  const creator = pool[at.creatorFeeEnabled] === 1 ? readU64(data, cpmmConfigOffsets.creatorFeeRate) : 0n
  return trade + creator < CPMM_FEE_SCALE ? { trade, creator, slot } : malformed(`fee rates ${trade} + ${creator}`)
}

const feesOf = (data: Uint8Array, tokenIn: 0 | 1, { creator, trade }: Rates) => {
  const on = data[at.creatorFeeOn]
  const creatorOnInput = on === cpmmCreatorFeeOn.input || on === cpmmCreatorFeeOn.token0 + tokenIn
  // Both fees on the input are rounded together, because the program adds the rates before it divides.
  return creatorOnInput
    ? { feeOnInput: trade + creator, feeOnOutput: 0n, scale: CPMM_FEE_SCALE }
    : { feeOnInput: trade, feeOnOutput: creator, scale: CPMM_FEE_SCALE }
}

/** Reads one of the two tokens: its mint, liquidity and transfer fees. */
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
  const reserve = vault.amount - cpmmUncollectedFees(data, token)
  return reserve > 0n
    ? {
        mint,
        reserve,
        roomIn: MAX_U64 - vault.amount,
        transferFees: minted.transferFees,
        slot: Math.max(vault.slot, minted.slot)
      }
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
    roomIn: token0.roomIn
  }
  const oneForZero: Side = {
    ...feesOf(data, 1, rates),
    reserveIn: token1.reserve,
    reserveOut: token0.reserve,
    roomIn: token1.roomIn
  }
  const opensAt = readU64(data, at.openTime)
  return {
    address,
    dex,
    mintA: token0.mint,
    mintB: token1.mint,
    slot: Math.max(pool.slot, rates.slot, token0.slot, token1.slot),
    reserves: [token0.reserve, token1.reserve],
    ...lpTokensAt(data, at.lpMint, at.lpSupply),
    ...withTransferFees(
      { a: token0.transferFees, b: token1.transferFees },
      productPrices(zeroForOne, oneForZero, opensAt),
      true
    )
  }
}

/** Raydium CPMM pools, including creator fees and Token-2022 transfer fees. */
export const raydiumCpmm: Program = {
  dex,
  programId: CPMM_PROGRAM,
  poolsOf: poolsWithMintAt(CPMM_SIZE, ...at.mints),
  vaultsOf: namedVaults({ mint: at.mints[0], vault: at.vaults[0] }, { mint: at.mints[1], vault: at.vaults[1] }),
  isPool: isCpmmPool,
  needs,
  decode
}
