/** Raydium AMM v4: raydium-io/raydium-amm, program/src/{processor,math}.rs at 27f461d. */
import { MAX_U64 } from "../../domain/Amount.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address } from "../../domain/Address.ts"
import { addU64, poolAfter } from "../layout/afterSwap.ts"
import { readAddress, readU128, readU64, writeU128 } from "../layout/bytes.ts"
import { productPrices, type Side } from "../math/constantProduct.ts"
import { ceilDiv } from "../math/integers.ts"
import { type Accounts, type Pool, type Program, type TakenSwap, type Unpriceable } from "../interface/Program.ts"
import { AMM_V4_PROGRAM, AMM_V4_SIZE, ammV4Offsets, ammV4Status, ammV4SwapTotals } from "./ammV4Layout.ts"
import { addressesAt, lpTokensAt, namedVaults, poolsWithMintAt, sameFields } from "../layout/poolFields.ts"
import { readVault } from "../layout/tokenAccount.ts"
import { closed, isFailure, malformed } from "../layout/unpriceable.ts"

const dex = "raydium-amm-v4"

const at = ammV4Offsets
const status = ammV4Status
/**
 * The accounts that the price depends on. Raydium AMM v4 takes classic mints only, so there are no transfer fees to
 * read.
 */
const needs = ({ data }: OnChainAccount): ReadonlyArray<Address> =>
  data.length < AMM_V4_SIZE ? [] : [readAddress(data, at.coinVault), readAddress(data, at.pcVault)]

const readSides = (
  data: Uint8Array,
  [coin, pc]: readonly [bigint, bigint],
  [coinVault, pcVault]: readonly [bigint, bigint]
): { readonly coinToPc: Side; readonly pcToCoin: Side } => {
  const fees = {
    feeOnInput: readU64(data, at.swapFeeNumerator),
    feeOnOutput: 0n,
    scale: readU64(data, at.swapFeeDenominator)
  }
  return {
    coinToPc: { ...fees, reserveIn: coin, reserveOut: pc, roomIn: MAX_U64 - coinVault },
    pcToCoin: { ...fees, reserveIn: pc, reserveOut: coin, roomIn: MAX_U64 - pcVault }
  }
}

const decode = ({ address, data, slot }: OnChainAccount, accounts: Accounts): Pool | Unpriceable => {
  if (data.length !== AMM_V4_SIZE) {
    return malformed(`AmmInfo of ${data.length} bytes`)
  }
  const state = readU64(data, at.status)
  if (status.withoutSwaps.some((closedState) => closedState === state)) {
    return closed(`status ${state}`)
  }
  if (state !== status.initialized && state !== status.swapOnly && state !== status.waitingTrade) {
    return malformed(`status ${state}`)
  }
  const mintA = readAddress(data, at.coinMint)
  const mintB = readAddress(data, at.pcMint)
  const coinVault = readVault(accounts, readAddress(data, at.coinVault), mintA)
  if (isFailure(coinVault)) {
    return coinVault
  }
  const pcVault = readVault(accounts, readAddress(data, at.pcVault), mintB)
  if (isFailure(pcVault)) {
    return pcVault
  }
  // The vaults include the protocol's profit, which is not liquidity.
  const coin = coinVault.amount - readU64(data, at.coinPnl)
  const pc = pcVault.amount - readU64(data, at.pcPnl)
  if (coin <= 0n || pc <= 0n) {
    return closed("no liquidity")
  }
  const { coinToPc, pcToCoin } = readSides(data, [coin, pc], [coinVault.amount, pcVault.amount])
  if (coinToPc.feeOnInput >= coinToPc.scale) {
    return malformed(`swap fee of ${coinToPc.feeOnInput}/${coinToPc.scale}`)
  }
  const opensAt = state === status.waitingTrade ? readU64(data, at.poolOpenTime) : 0n
  return {
    address,
    dex,
    mintA,
    mintB,
    slot: Math.max(slot, coinVault.slot, pcVault.slot),
    reserves: [coin, pc],
    ...lpTokensAt(data, at.lpMint, at.lpIssued),
    ...productPrices(coinToPc, pcToCoin, opensAt)
  }
}

/** The fee of a swap, in units of the input. */
export const ammV4SwapFee = (data: Uint8Array, amountIn: bigint): bigint =>
  ceilDiv(amountIn * readU64(data, at.swapFeeNumerator), readU64(data, at.swapFeeDenominator))

/** The pool account after a swap. Only its totals change. */
export const ammV4After = (before: Uint8Array, { aToB, amountIn, amountOut }: TakenSwap): Uint8Array => {
  const totals = aToB ? ammV4SwapTotals.coinToPc : ammV4SwapTotals.pcToCoin
  const data = before.slice()
  writeU128(data, totals.in, readU128(data, totals.in) + amountIn)
  writeU128(data, totals.out, readU128(data, totals.out) + amountOut)
  addU64(data, totals.fee, ammV4SwapFee(data, amountIn))
  return data
}

const after: NonNullable<Program["after"]> = (pool, accounts, _derive, swap) => {
  const [coin, pc] = swap.aToB ? [swap.amountIn, -swap.amountOut] : [-swap.amountOut, swap.amountIn]
  return poolAfter(pool, ammV4After(pool.data, swap), accounts, [
    [readAddress(pool.data, at.coinVault), coin],
    [readAddress(pool.data, at.pcVault), pc]
  ])
}

/**
 * Raydium AMM v4 pools, with or without a market: since September 2025 the program computes prices from the vaults
 * alone.
 */
export const raydiumAmmV4: Program = {
  dex,
  programId: AMM_V4_PROGRAM,
  poolsOf: poolsWithMintAt(AMM_V4_SIZE, at.coinMint, at.pcMint),
  vaultsOf: namedVaults({ mint: at.coinMint, vault: at.coinVault }, { mint: at.pcMint, vault: at.pcVault }),
  isPool: ({ data, owner }) => owner === AMM_V4_PROGRAM && data.length === AMM_V4_SIZE,
  needs,
  keepsNeeds: sameFields(addressesAt(at.coinVault, at.pcVault)),
  decode,
  after
}
