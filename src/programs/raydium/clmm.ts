/**
 * Raydium CLMM, after raydium-io/raydium-clmm at 03b44b7, programs/amm/src. Swaps with a constant fee on the input were
 * checked against the deployed program of April 2026. Fees on the output, dynamic fees and limit orders follow the
 * source.
 *
 * The bitmap lists the tick arrays that hold liquidity. A quote reaches to the end of the nearest eight in its
 * direction. If the bitmap names an array that does not exist, the known ticks end there: a swap that would go there is
 * exhausted, as the program refuses a swap with too few arrays.
 */
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { type Address } from "../../domain/Address.ts"
import { perRegime, referenceIn, regimeAfter } from "../math/adaptiveFee.ts"
import { addU64 } from "../layout/afterSwap.ts"
import { hasDiscriminator, readAddress, readI32, readU128, readU16, writeI32, writeU128 } from "../layout/bytes.ts"
import { FEE_DENOMINATOR } from "../math/concentrated.ts"
import { addressesAt, namedVaults, poolsWithMintAt, sameFields } from "../layout/poolFields.ts"
import { concentratedAfter } from "../math/concentratedAfter.ts"
import { decodeConcentratedPool } from "../math/concentratedPool.ts"
import { bothDirections, type Directions } from "../math/directions.ts"
import { type SwapPath, type FeeSchedule, staticFee } from "../math/swapPath.ts"
import type { SwapResult } from "../math/swapSteps.ts"
import type { Accounts, DeriveAddress, Pool, Program, Unpriceable } from "../interface/Program.ts"
import { asBitmapExtension, bitmapOverflows, initializedArrays } from "./clmmBitmap.ts"
import {
  bitmapExtensionAddress,
  CLMM_POOL_DISCRIMINATOR,
  CLMM_ARRAYS_IN_POOL,
  CLMM_POOL_SIZE,
  CLMM_PROGRAM,
  clmmArrayAddresses,
  clmmArrayStart,
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
import { reservesAt } from "../layout/tokenAccount.ts"
import { accountAt, closed, incomplete, isFailure, malformed, unsupported } from "../layout/unpriceable.ts"

const dex = "raydium-clmm"

/** How many tick arrays a quote reads in one direction. A transaction has room for about as many. */
const REACH = 8

const isClmmPool = ({ data, owner }: OnChainAccount): boolean =>
  owner === CLMM_PROGRAM && data.length === CLMM_POOL_SIZE && hasDiscriminator(data, CLMM_POOL_DISCRIMINATOR)

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

/** Addresses of the tick arrays that a swap in this direction meets, nearest first. */
export const clmmArraysAhead = (
  pool: OnChainAccount,
  accounts: Accounts,
  derive: DeriveAddress,
  isDown: boolean
): ReadonlyArray<Address> => {
  const state = decodeClmmPool(pool.data)
  if (state === null || state.tickSpacing === 0) {
    return []
  }
  const { down, up } = arraysOf(pool, state, accounts, derive)
  return (isDown ? down : up).map(clmmArrayAddresses(derive, pool.address))
}

const needs = (pool: OnChainAccount, accounts: Accounts, derive: DeriveAddress): ReadonlyArray<Address> => {
  const state = isClmmPool(pool) ? decodeClmmPool(pool.data) : null
  if (state === null || state.tickSpacing === 0) {
    return []
  }
  const { down, up } = arraysOf(pool, state, accounts, derive)
  const extension = bitmapOverflows(state.tickSpacing) ? [bitmapExtensionAddress(derive, pool.address)] : []
  const vaults = [clmmPoolOffsets.vault0, clmmPoolOffsets.vault1].map((offset) => readAddress(pool.data, offset))
  const arrays = Array.from(new Set([...down, ...up]), clmmArrayAddresses(derive, pool.address))
  return [state.config, state.mint0, state.mint1, ...vaults, ...extension, ...arrays]
}

const namesSame = sameFields([
  ...addressesAt(clmmPoolOffsets.config, clmmPoolOffsets.mint0, clmmPoolOffsets.mint1),
  ...addressesAt(clmmPoolOffsets.vault0, clmmPoolOffsets.vault1),
  [clmmPoolOffsets.tickSpacing, 2],
  [clmmPoolOffsets.arrayBitmap, (2 * CLMM_ARRAYS_IN_POOL) / 8]
])

const arrayStartOf = ({ data }: OnChainAccount): number =>
  clmmArrayStart(readI32(data, clmmPoolOffsets.tick), readU16(data, clmmPoolOffsets.tickSpacing))

/** The price moves with every swap, the tick array that it is in seldom. */
const keepsNeeds = (before: OnChainAccount, after: OnChainAccount): boolean =>
  before.data.length === CLMM_POOL_SIZE && namesSame(before, after) && arrayStartOf(before) === arrayStartOf(after)

/** Ticks in one direction. `isWhole` is true when no array with liquidity lies beyond them. */
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

/** Why no swap of the pool can be priced, whatever its ticks; null when swaps can be. */
const refusalOf = (state: ClmmState): Unpriceable | null => {
  if (state.swapDisabled) {
    return closed("swaps are disabled")
  }
  return state.feeOn === null ? unsupported("unknown fee mode") : null
}

/** Swap paths by clock: always the same with a constant fee, otherwise one pair per regime of the dynamic fee. */
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

/** A pool that is decoded but not priced yet: its swap paths in both directions. */
export interface ClmmSwapPaths {
  readonly state: ClmmState
  readonly config: ClmmConfig
  /** Newest slot among the pool and its configuration. */
  readonly slot: number
  /** Null at a clock when the program rejects every swap. */
  readonly at: (clock: ChainClock) => Directions<SwapPath> | null
}

/** Decodes the pool's swap paths. `swapSteps` runs a swap along one and computes the state after it. */
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
  const ahead = bothDirections((down) => ticksAhead(down ? starts.down : starts.up, state, down, accountOf))
  if (isFailure(ahead)) {
    return ahead
  }
  const swapPaths = (feeOf: (goesDown: boolean) => () => FeeSchedule): Directions<SwapPath> => ({
    down: swapPathOf(state, config, true, ahead.down, feeOf(true)),
    up: swapPathOf(state, config, false, ahead.up, feeOf(false))
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
  const { token0, token1 } = clmmSwapCounters
  return decodeConcentratedPool(accounts, {
    address: pool.address,
    dex,
    mintA: state.mint0,
    mintB: state.mint1,
    slot,
    ...reservesAt(
      accounts,
      pool.data,
      { mint: state.mint0, vault: clmmPoolOffsets.vault0, owed: [token0.protocolFee, token0.fundFee] },
      { mint: state.mint1, vault: clmmPoolOffsets.vault1, owed: [token1.protocolFee, token1.fundFee] }
    ),
    refusesZeroOutput: true,
    paths: at
  })
}

/** The pool account after a swap. The counters of ticks that were crossed change no price, and stay as they were. */
export const clmmAfter = (before: Uint8Array, aToB: boolean, result: SwapResult): Uint8Array => {
  const { sqrtPrice, tick, liquidity, cuts, feeGrowth, amountIn, amountOut } = result
  const at = aToB ? clmmSwapCounters.token0 : clmmSwapCounters.token1
  const data = before.slice()
  const addWide = (offset: number, amount: bigint) =>
    writeU128(data, offset, BigInt.asUintN(128, readU128(data, offset) + amount))
  writeU128(data, clmmPoolOffsets.sqrtPrice, sqrtPrice)
  writeI32(data, clmmPoolOffsets.tick, tick)
  writeU128(data, clmmPoolOffsets.liquidity, liquidity)
  addWide(at.feeGrowth, feeGrowth)
  addU64(data, at.protocolFee, cuts[0] ?? 0n)
  addU64(data, at.fundFee, cuts[1] ?? 0n)
  addWide(at.swapIn, amountIn)
  addWide(at.swapOut, amountOut)
  return data
}

const after: NonNullable<Program["after"]> = (pool, accounts, derive, swap, clock) => {
  const swapPaths = clmmSwapPaths(pool, accounts, derive)
  if (isFailure(swapPaths)) {
    return swapPaths
  }
  const { at, state } = swapPaths
  const { dynamicFee, feeOn, mint0, mint1 } = state
  if (dynamicFee !== null || feeOn !== "input") {
    return unsupported("its state after a swap with a dynamic fee, or with a fee on one token")
  }
  const vaults = [
    readAddress(pool.data, clmmPoolOffsets.vault0),
    readAddress(pool.data, clmmPoolOffsets.vault1)
  ] as const
  return concentratedAfter(
    pool,
    accounts,
    { mints: [mint0, mint1], vaults, paths: at(clock), moved: clmmAfter },
    swap,
    clock.epoch
  )
}

/** Raydium's concentrated-liquidity pools. */
export const raydiumClmm: Program = {
  dex,
  programId: CLMM_PROGRAM,
  poolsOf: poolsWithMintAt(CLMM_POOL_SIZE, clmmPoolOffsets.mint0, clmmPoolOffsets.mint1),
  vaultsOf: namedVaults(
    { mint: clmmPoolOffsets.mint0, vault: clmmPoolOffsets.vault0 },
    { mint: clmmPoolOffsets.mint1, vault: clmmPoolOffsets.vault1 }
  ),
  isPool: isClmmPool,
  needs,
  keepsNeeds,
  decode,
  after
}
