/**
 * Raydium CLMM, after raydium-io/raydium-clmm at 03b44b7, programs/amm/src. Swaps with a constant fee on the input were
 * checked against the deployed program of April 2026; fees on the output, dynamic fees and limit orders follow the source.
 *
 * The bitmap lists the tick arrays that hold liquidity. A quote reaches to the end of the nearest eight in its direction, or
 * to the first of them that is not there: an array that the bitmap names and no account exists for ends the known ticks, so a
 * swap that would go there is exhausted, as the program refuses one that was given too few arrays.
 */
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { type Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { perRegime, referenceIn, regimeAfter } from "../math/adaptiveFee.ts"
import { hasDiscriminator, readAddress, readU64 } from "../math/bytes.ts"
import { FEE_DENOMINATOR } from "../math/concentrated.ts"
import { namedVaults } from "../math/namedVaults.ts"
import { decodeConcentratedPool, type Directions } from "../math/concentratedPool.ts"
import { type SwapPath, type FeeSchedule, staticFee } from "../math/swapPath.ts"
import type { Accounts, DeriveAddress, Pool, Program, Unpriceable } from "../Program.ts"
import { asBitmapExtension, bitmapOverflows, initializedArrays } from "./clmmBitmap.ts"
import {
  bitmapExtensionAddress,
  CLMM_POOL_DISCRIMINATOR,
  CLMM_POOL_SIZE,
  CLMM_PROGRAM,
  clmmArrayAddresses,
  type ClmmConfig,
  clmmPoolOffsets,
  clmmSwapCounters,
  type ClmmState,
  decodeClmmArray,
  decodeClmmConfig,
  decodeClmmPool
} from "./clmmLayout.ts"
import { clmmDynamicFee } from "./clmmDynamicFee.ts"
import { raydiumGrid } from "./clmmTicks.ts"
import { floorDiv, isInTick, type Tick } from "../math/ticks.ts"
import { reservesOf } from "../math/tokenAccount.ts"
import { accountAt, closed, incomplete, isFailure, malformed, unsupported } from "../math/unpriceable.ts"

const dex = "raydium-clmm"

/** Tick arrays that a quote may use in one direction; a transaction has room for about as many. */
const REACH = 8

const isClmmPool = ({ data, owner }: OnChainAccount): boolean =>
  owner === CLMM_PROGRAM && data.length === CLMM_POOL_SIZE && hasDiscriminator(data, CLMM_POOL_DISCRIMINATOR)

const poolsOf = (mint: Mint) =>
  [clmmPoolOffsets.mint0, clmmPoolOffsets.mint1].map((offset) => ({
    dataSize: CLMM_POOL_SIZE,
    matches: [{ offset, bytes: addressToBytes(mint) }]
  }))

const arraysOf = (
  pool: OnChainAccount,
  { tick, tickSpacing }: ClmmState,
  accounts: Accounts,
  derive: DeriveAddress
) => {
  const extension = bitmapOverflows(tickSpacing) ? accounts(bitmapExtensionAddress(derive, pool.address)) : null
  const bits = extension === null || extension === undefined ? null : asBitmapExtension(extension.data)
  const search = (down: boolean) =>
    initializedArrays(pool.data, bits, { tick, spacing: tickSpacing, down, count: REACH })
  return { down: search(true), up: search(false) }
}

const vaultsOf = ({ data }: OnChainAccount): readonly [Address, Address] => [
  readAddress(data, clmmPoolOffsets.vault0),
  readAddress(data, clmmPoolOffsets.vault1)
]

/** Vaults less the fees owed to protocol and fund. */
const readReserves = (pool: OnChainAccount, { mint0, mint1 }: ClmmState, accounts: Accounts) => {
  const [vault0, vault1] = vaultsOf(pool)
  const owed = ({ fundFee, protocolFee }: { readonly fundFee: number; readonly protocolFee: number }) =>
    readU64(pool.data, protocolFee) + readU64(pool.data, fundFee)
  return reservesOf(
    accounts,
    { address: vault0, mint: mint0, owed: owed(clmmSwapCounters.token0) },
    { address: vault1, mint: mint1, owed: owed(clmmSwapCounters.token1) }
  )
}

const needs = (pool: OnChainAccount, accounts: Accounts, derive: DeriveAddress): ReadonlyArray<Address> => {
  const state = isClmmPool(pool) ? decodeClmmPool(pool.data) : null
  if (state === null || state.tickSpacing === 0) {
    return []
  }
  const { down, up } = arraysOf(pool, state, accounts, derive)
  const extension = bitmapOverflows(state.tickSpacing) ? [bitmapExtensionAddress(derive, pool.address)] : []
  const arrays = Array.from(new Set([...down, ...up]), clmmArrayAddresses(derive, pool.address))
  return [state.config, state.mint0, state.mint1, ...vaultsOf(pool), ...extension, ...arrays]
}

/** Ticks in one direction; whole when no array with liquidity lies beyond them. */
interface TicksAhead {
  readonly ticks: ReadonlyArray<Tick>
  readonly isWhole: boolean
}

/** Initialized ticks ahead of the price, up to the first array that is missing. */
const ticksAhead = (
  starts: ReadonlyArray<number>,
  { tick, tickSpacing }: ClmmState,
  down: boolean,
  accountOf: (start: number) => OnChainAccount | null | undefined
): TicksAhead | Unpriceable => {
  const ticks: Array<Tick> = []
  for (const [i, start] of starts.entries()) {
    const account = accountOf(start)
    if (account === undefined && i === 0) {
      return incomplete(`tick array ${start} has not been read`)
    }
    if (account === null || account === undefined) {
      return { ticks, isWhole: false }
    }
    const found = decodeClmmArray(account, start, tickSpacing)
    if (found === null) {
      return malformed(`${account.address} is not the tick array ${start}`)
    }
    const ahead = found.filter(({ index }) => (down ? index <= tick : index > tick))
    ticks.push(...(down ? ahead.toReversed() : ahead))
  }
  return { ticks, isWhole: starts.length < REACH }
}

const swapPathOf = (
  state: ClmmState,
  config: ClmmConfig,
  down: boolean,
  { isWhole, ticks }: TicksAhead,
  fee: () => FeeSchedule
): SwapPath => ({
  grid: raydiumGrid,
  down,
  feeOnInput: state.feeOn === "input" || (state.feeOn === "token0") === down,
  sqrtPrice: state.sqrtPrice,
  tick: state.tick,
  liquidity: state.liquidity,
  ticks,
  isWhole,
  edge: null,
  fee,
  cuts: [
    { rate: config.protocolFeeRate, scale: FEE_DENOMINATOR },
    { rate: config.fundFeeRate, scale: FEE_DENOMINATOR }
  ]
})

/** The reason why no swap of the pool can be priced, whatever its ticks are; null when there is none. */
const refusalOf = (state: ClmmState): Unpriceable | null => {
  if (state.swapDisabled) {
    return closed("swaps are disabled")
  }
  return state.feeOn === null ? unsupported("unknown fee mode") : null
}

/** Swap paths by clock: always the same under a constant fee, else one pair a regime of the dynamic fee. */
const swapPathsOver = (
  { dynamicFee, tick }: ClmmState,
  { tradeFeeRate }: ClmmConfig,
  swapPaths: (feeOf: (goesDown: boolean) => () => FeeSchedule) => Directions<SwapPath>
): ((clock: ChainClock) => Directions<SwapPath>) => {
  if (dynamicFee === null) {
    const constant = swapPaths(() => staticFee(tradeFeeRate))
    return () => constant
  }
  const inRegime = perRegime((regime) => {
    const reference = referenceIn(regime, dynamicFee, floorDiv(tick, dynamicFee.groupSize))
    return swapPaths((goesDown) => clmmDynamicFee(tradeFeeRate, dynamicFee, reference, tick, goesDown))
  })
  return ({ unixTimestamp }) => inRegime(regimeAfter(dynamicFee, unixTimestamp - dynamicFee.updatedAt))
}

/** A decoded pool before it is priced: its swap paths in both directions. */
export interface ClmmSwapPaths {
  readonly state: ClmmState
  readonly config: ClmmConfig
  /** Newest slot among pool and configuration. */
  readonly slot: number
  /** Null at a clock at which the program rejects every swap. */
  readonly at: (clock: ChainClock) => Directions<SwapPath> | null
}

/** Swap paths of the pool; `swapSteps` runs a swap through one and gives the state after it. */
export const clmmSwapPaths = (
  pool: OnChainAccount,
  accounts: Accounts,
  derive: DeriveAddress
): ClmmSwapPaths | Unpriceable => {
  const state = isClmmPool(pool) ? decodeClmmPool(pool.data) : null
  if (state === null || state.tickSpacing === 0) {
    return malformed("not a CLMM pool account")
  }
  if (!isInTick(raydiumGrid.sqrtPriceAt, state.tick, state.sqrtPrice)) {
    return malformed(`price ${state.sqrtPrice} is not in tick ${state.tick}`)
  }
  const refusal = refusalOf(state)
  if (refusal !== null) {
    return refusal
  }
  const configAccount = accountAt(accounts, state.config, "configuration")
  if (isFailure(configAccount)) {
    return configAccount
  }
  const config = decodeClmmConfig(configAccount)
  if (config === null || config.tradeFeeRate >= FEE_DENOMINATOR) {
    return malformed(`${state.config} is not a CLMM configuration`)
  }
  const starts = arraysOf(pool, state, accounts, derive)
  const addressOf = clmmArrayAddresses(derive, pool.address)
  const accountOf = (start: number) => accounts(addressOf(start))
  const down = ticksAhead(starts.down, state, true, accountOf)
  if (isFailure(down)) {
    return down
  }
  const up = ticksAhead(starts.up, state, false, accountOf)
  if (isFailure(up)) {
    return up
  }
  const swapPaths = (feeOf: (goesDown: boolean) => () => FeeSchedule): Directions<SwapPath> => ({
    down: swapPathOf(state, config, true, down, feeOf(true)),
    up: swapPathOf(state, config, false, up, feeOf(false))
  })
  const swapPathsAt = swapPathsOver(state, config, swapPaths)
  return {
    state,
    config,
    slot: Math.max(pool.slot, configAccount.slot),
    at: (clock) => (BigInt(clock.unixTimestamp) > state.openTime ? swapPathsAt(clock) : null)
  }
}

const decode = (pool: OnChainAccount, accounts: Accounts, derive: DeriveAddress): Pool | Unpriceable => {
  const swapPaths = clmmSwapPaths(pool, accounts, derive)
  if (isFailure(swapPaths)) {
    return swapPaths
  }
  const { at, slot, state } = swapPaths
  const reserves = readReserves(pool, state, accounts)
  const sides = { mintA: state.mint0, mintB: state.mint1, reserves }
  const fields = { address: pool.address, dex, ...sides, slot, refusesZeroOutput: true }
  return decodeConcentratedPool(accounts, fields, at)
}

/** Raydium's concentrated-liquidity pools. */
export const raydiumClmm: Program = {
  dex,
  programId: CLMM_PROGRAM,
  poolsOf,
  vaultsOf: namedVaults(
    { mint: clmmPoolOffsets.mint0, vault: clmmPoolOffsets.vault0 },
    { mint: clmmPoolOffsets.mint1, vault: clmmPoolOffsets.vault1 }
  ),
  isPool: isClmmPool,
  needs,
  decode
}
