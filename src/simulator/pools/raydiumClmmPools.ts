/** Raydium CLMM pools of the simulated market. */
import {
  newAccountData,
  writeAddress,
  writeI128,
  writeI32,
  writeU128,
  writeU16,
  writeU32
} from "../../programs/layout/bytes.ts"
import { clmmAfter, clmmSwapPaths, raydiumClmm } from "../../programs/raydium/clmm.ts"
import {
  CLMM_ARRAY_DISCRIMINATOR,
  CLMM_ARRAY_SIZE,
  CLMM_ARRAYS_IN_POOL,
  CLMM_CONFIG_DISCRIMINATOR,
  CLMM_CONFIG_SIZE,
  CLMM_POOL_DISCRIMINATOR,
  CLMM_POOL_SIZE,
  CLMM_PROGRAM,
  clmmArrayAddress,
  clmmArrayOffsets,
  clmmArraySpan,
  clmmArrayStart,
  clmmConfigAddress,
  clmmConfigOffsets,
  clmmPoolOffsets,
  decodeClmmPool
} from "../../programs/raydium/clmmLayout.ts"
import { raydiumSqrtPriceAt, raydiumTickAt } from "../../programs/raydium/clmmTicks.ts"
import type { Address } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import { concentratedPool, newReserves } from "../chain/concentratedPools.ts"
import { clmmCall } from "./raydiumCalls.ts"
import { byArray, type Liquidity, type Spread, type TickLiquidity } from "../chain/liquidity.ts"
import type { Pair, PoolSpec, SimPool } from "../chain/SimPool.ts"
import type { World } from "../chain/World.ts"

/** A fee tier. Rates are in millionths. The rates of protocol and fund are shares of the fee. */
export interface ClmmTier {
  readonly index: number
  readonly tickSpacing: number
  readonly trade: number
  readonly protocol: number
  readonly fund: number
}

export interface ClmmSpec extends PoolSpec {
  readonly tier: ClmmTier
  readonly spreads: ReadonlyArray<Spread>
}

const ensureConfig = (world: World, tier: ClmmTier): Address => {
  const address = clmmConfigAddress(world.derive, tier.index)
  if (world.bank.get(address) === undefined) {
    const at = clmmConfigOffsets
    const data = newAccountData(CLMM_CONFIG_SIZE, CLMM_CONFIG_DISCRIMINATOR)
    writeU16(data, at.index, tier.index)
    writeU32(data, at.protocolFeeRate, tier.protocol)
    writeU32(data, at.tradeFeeRate, tier.trade)
    writeU16(data, at.tickSpacing, tier.tickSpacing)
    writeU32(data, at.fundFeeRate, tier.fund)
    world.newAccount(address, CLMM_PROGRAM, data)
  }
  return address
}

/** Sets an array's bit in the pool account's bitmap. The middle bit is array zero. */
const markArray = (data: Uint8Array, start: number, spacing: number): void => {
  const bit = start / clmmArraySpan(spacing) + CLMM_ARRAYS_IN_POOL
  const byte = clmmPoolOffsets.arrayBitmap + (bit >> 3)
  data[byte] = (data[byte] ?? 0) | (1 << (bit & 7))
}

const newState = (
  world: World,
  spec: ClmmSpec,
  liquidity: Liquidity,
  mints: Pair,
  vaults: Pair,
  name: (part: string) => Address
): Uint8Array => {
  const at = clmmPoolOffsets
  const data = newAccountData(CLMM_POOL_SIZE, CLMM_POOL_DISCRIMINATOR)
  const decimals = (mint: Address) => world.bank.must(mint).data[44] ?? 0
  writeAddress(data, at.config, ensureConfig(world, spec.tier))
  writeAddress(data, at.owner, name("owner"))
  writeAddress(data, at.mint0, mints.a)
  writeAddress(data, at.mint1, mints.b)
  writeAddress(data, at.vault0, vaults.a)
  writeAddress(data, at.vault1, vaults.b)
  writeAddress(data, at.observation, name("observation"))
  data[at.decimals0] = decimals(mints.a)
  data[at.decimals1] = decimals(mints.b)
  writeU16(data, at.tickSpacing, spec.tier.tickSpacing)
  writeU128(data, at.liquidity, liquidity.active)
  writeU128(data, at.sqrtPrice, liquidity.sqrtPrice)
  writeI32(data, at.tick, liquidity.tick)
  return data
}

const newArray = (
  pool: Address,
  start: number,
  spacing: number,
  ticks: ReadonlyArray<readonly [number, TickLiquidity]>
): Uint8Array => {
  const at = clmmArrayOffsets
  const data = newAccountData(CLMM_ARRAY_SIZE, CLMM_ARRAY_DISCRIMINATOR)
  writeAddress(data, at.pool, pool)
  writeI32(data, at.start, start)
  for (const [tick, { net, gross }] of ticks) {
    const offset = at.ticks + ((tick - start) / spacing) * at.tickSize
    writeI32(data, offset + at.tickIndex, tick)
    writeI128(data, offset + at.tickNet, net)
    writeU128(data, offset + at.tickGross, gross)
  }
  data[at.initializedCount] = ticks.length
  return data
}

/** Creates a filled pool. The mints are sorted by address, as the program requires. */
export const newRaydiumClmmPool = (world: World, spec: ClmmSpec): SimPool => {
  const name = (part: string) => inventAddress(world.seed, `raydium-clmm ${spec.label} ${part}`)
  const address = name("pool")
  const { tickSpacing } = spec.tier
  const grid = { spacing: tickSpacing, sqrtPriceAt: raydiumSqrtPriceAt, tickAt: raydiumTickAt }
  const { liquidity, mints, vaults } = newReserves(world, spec, grid, address, name)
  const data = newState(world, spec, liquidity, mints, vaults, name)
  for (const [start, ticks] of byArray(liquidity.ticks, (tick) => clmmArrayStart(tick, tickSpacing))) {
    markArray(data, start, tickSpacing)
    const array = clmmArrayAddress(world.derive, address, start)
    world.newAccount(array, CLMM_PROGRAM, newArray(address, start, tickSpacing, ticks))
  }
  world.newAccount(address, CLMM_PROGRAM, data)
  return concentratedPool(
    world,
    {
      dex: raydiumClmm.dex,
      programId: CLMM_PROGRAM,
      swapPaths: clmmSwapPaths,
      moved: clmmAfter,
      call: clmmCall(world, { address, mints, vaults, part: name }, ensureConfig(world, spec.tier), tickSpacing),
      stateOf: decodeClmmPool
    },
    { address, mints, vaults, open: true }
  )
}
