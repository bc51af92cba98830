/** Raydium CPMM: raydium-io/raydium-cp-swap, programs/cp-swap/src at 609780f. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { MAX_U64 } from "../../domain/Amount.ts"
import { type Address } from "../../domain/Address.ts"
import { addU64, poolAfter } from "../layout/afterSwap.ts"
import { hasDiscriminator, readAddress, readU64 } from "../layout/bytes.ts"
import { outputFor, productPrices, type Side } from "../math/constantProduct.ts"
import { ceilDiv } from "../math/integers.ts"
import { afterTransfer, withTransferFees } from "../math/transferFee.ts"
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
import { addressesAt, lpTokensAt, namedVaults, poolsWithMintAt, sameFields } from "../layout/poolFields.ts"
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

const isCreatorFeeOnInput = (data: Uint8Array, tokenIn: 0 | 1): boolean => {
  const on = data[at.creatorFeeOn]
  return on === cpmmCreatorFeeOn.input || on === cpmmCreatorFeeOn.token0 + tokenIn
}

const feesOf = (data: Uint8Array, tokenIn: 0 | 1, { creator, trade }: Rates) => {
  // Both fees on the input are rounded together, because the program adds the rates before it divides.
  return isCreatorFeeOnInput(data, tokenIn)
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

/** Fee rates in millionths: of the input and, for protocol and fund, of the trade fee. */
export interface CpmmRates extends Rates {
  readonly protocol: bigint
  readonly fund: bigint
}

/** What the vault pays out for units that it received, and how much each fee counter gains. */
export const cpmmMoves = (
  { creator, fund, protocol, trade }: CpmmRates,
  isCreatorFeeOnInput: boolean,
  received: bigint,
  reserves: { readonly in: bigint; readonly out: bigint }
) => {
  const total = ceilDiv(received * (isCreatorFeeOnInput ? trade + creator : trade), CPMM_FEE_SCALE)
  const creatorIn = isCreatorFeeOnInput && creator > 0n ? (total * creator) / (trade + creator) : 0n
  const gross = outputFor(received - total, reserves.in, reserves.out)
  const creatorOut = isCreatorFeeOnInput ? 0n : ceilDiv(gross * creator, CPMM_FEE_SCALE)
  const tradeFee = total - creatorIn
  return {
    payout: gross - creatorOut,
    tradeFee,
    protocol: (tradeFee * protocol) / CPMM_FEE_SCALE,
    fund: (tradeFee * fund) / CPMM_FEE_SCALE,
    creatorIn,
    creatorOut
  }
}

/** The pool account after these moves. */
export const cpmmAfter = (before: Uint8Array, tokenIn: 0 | 1, moves: ReturnType<typeof cpmmMoves>): Uint8Array => {
  const data = before.slice()
  addU64(data, at.protocolFees[tokenIn], moves.protocol)
  addU64(data, at.fundFees[tokenIn], moves.fund)
  addU64(data, at.creatorFees[tokenIn], moves.creatorIn)
  addU64(data, at.creatorFees[1 - tokenIn] ?? 0, moves.creatorOut)
  return data
}

const after: NonNullable<Program["after"]> = (pool, accounts, _derive, { aToB, amountIn }, { epoch }) => {
  const { data } = pool
  const rates = readRates(accounts, data)
  if (isFailure(rates)) {
    return rates
  }
  const [tokenIn, tokenOut] = aToB ? ([0, 1] as const) : ([1, 0] as const)
  const into = readToken(accounts, data, tokenIn)
  if (isFailure(into)) {
    return into
  }
  const from = readToken(accounts, data, tokenOut)
  if (isFailure(from)) {
    return from
  }
  const config = accountAt(accounts, readAddress(data, at.config), "config")
  if (isFailure(config)) {
    return config
  }
  const received = afterTransfer(into.transferFees, amountIn, epoch)
  const moves = cpmmMoves(
    {
      ...rates,
      protocol: readU64(config.data, cpmmConfigOffsets.protocolFeeRate),
      fund: readU64(config.data, cpmmConfigOffsets.fundFeeRate)
    },
    isCreatorFeeOnInput(data, tokenIn),
    received,
    { in: into.reserve, out: from.reserve }
  )
  return poolAfter(pool, cpmmAfter(data, tokenIn, moves), accounts, [
    [readAddress(data, at.vaults[tokenIn]), received],
    [readAddress(data, at.vaults[tokenOut]), -moves.payout]
  ])
}

/** Raydium CPMM pools, including creator fees and Token-2022 transfer fees. */
export const raydiumCpmm: Program = {
  dex,
  programId: CPMM_PROGRAM,
  poolsOf: poolsWithMintAt(CPMM_SIZE, ...at.mints),
  vaultsOf: namedVaults({ mint: at.mints[0], vault: at.vaults[0] }, { mint: at.mints[1], vault: at.vaults[1] }),
  isPool: isCpmmPool,
  needs,
  keepsNeeds: sameFields(addressesAt(at.config, ...at.vaults, ...at.mints)),
  decode,
  after
}
