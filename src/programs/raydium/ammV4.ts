/** Raydium AMM v4: raydium-io/raydium-amm, program/src/{processor,math}.rs at 27f461d. */
import { MAX_U64 } from "../../domain/Amount.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address } from "../../domain/Address.ts"
import { readAddress, readU64 } from "../layout/bytes.ts"
import { productPrices, type Side } from "../math/constantProduct.ts"
import { type Accounts, type Pool, type Program, type Unpriceable } from "../interface/Program.ts"
import { AMM_V4_PROGRAM, AMM_V4_SIZE, ammV4Offsets, ammV4Status } from "./ammV4Layout.ts"
import { lpTokensAt, namedVaults, poolsWithMintAt } from "../layout/poolFields.ts"
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
  decode
}
