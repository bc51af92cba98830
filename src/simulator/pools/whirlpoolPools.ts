/** Orca Whirlpools of the simulated market. */
import { newAccountData, writeAddress, writeI128, writeI32, writeU128, writeU16 } from "../../programs/layout/bytes.ts"
import { whirlpool, whirlpoolAfter, whirlpoolSwapPaths } from "../../programs/orca/whirlpool.ts"
import {
  arrayStart,
  decodeWhirlpool,
  DYNAMIC_ARRAY_DISCRIMINATOR,
  dynamicArrayOffsets,
  FIXED_ARRAY_DISCRIMINATOR,
  FIXED_ARRAY_SIZE,
  fixedArrayOffsets,
  TICKS_IN_ARRAY,
  WHIRLPOOL_DISCRIMINATOR,
  WHIRLPOOL_PROGRAM,
  WHIRLPOOL_SIZE,
  whirlpoolArrayAddress,
  whirlpoolOffsets
} from "../../programs/orca/whirlpoolLayout.ts"
import { whirlpoolSqrtPriceAt, whirlpoolTickAt } from "../../programs/orca/whirlpoolTicks.ts"
import type { Address } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import { concentratedPool, newReserves } from "../chain/concentratedPools.ts"
import { byArray, type Liquidity, type Spread, type TickLiquidity } from "../chain/liquidity.ts"
import type { Pair, PoolSpec, SimPool } from "../chain/SimPool.ts"
import { whirlpoolCall } from "./whirlpoolCalls.ts"
import type { World } from "../chain/World.ts"

/** A pool's fees and positions. Fee rates are in millionths; the protocol's rate is in ten-thousandths of the fee. */
export interface WhirlpoolSpec extends PoolSpec {
  readonly tickSpacing: number
  readonly feeRate: number
  readonly protocolFeeRate: number
  readonly spreads: ReadonlyArray<Spread>
  /** `dynamic` arrays store only the ticks in use. */
  readonly arrays: "fixed" | "dynamic"
}

const newState = (spec: WhirlpoolSpec, liquidity: Liquidity, mints: Pair, vaults: Pair, config: Address) => {
  const at = whirlpoolOffsets
  const data = newAccountData(WHIRLPOOL_SIZE, WHIRLPOOL_DISCRIMINATOR)
  writeAddress(data, at.config, config)
  data[at.bump] = 255
  writeU16(data, at.tickSpacing, spec.tickSpacing)
  writeU16(data, at.feeTierIndex, spec.tickSpacing)
  writeU16(data, at.feeRate, spec.feeRate)
  writeU16(data, at.protocolFeeRate, spec.protocolFeeRate)
  writeU128(data, at.liquidity, liquidity.active)
  writeU128(data, at.sqrtPrice, liquidity.sqrtPrice)
  writeI32(data, at.tick, liquidity.tick)
  writeAddress(data, at.mintA, mints.a)
  writeAddress(data, at.vaultA, vaults.a)
  writeAddress(data, at.mintB, mints.b)
  writeAddress(data, at.vaultB, vaults.b)
  return data
}

type Ticks = ReadonlyArray<readonly [number, TickLiquidity]>

const fixedArray = (pool: Address, start: number, spacing: number, ticks: Ticks): Uint8Array => {
  const at = fixedArrayOffsets
  const data = newAccountData(FIXED_ARRAY_SIZE, FIXED_ARRAY_DISCRIMINATOR)
  writeI32(data, at.start, start)
  writeAddress(data, at.pool, pool)
  for (const [tick, { net, gross }] of ticks) {
    const offset = at.ticks + ((tick - start) / spacing) * at.tickSize
    data[offset] = 1
    writeI128(data, offset + at.tickNet, net)
    writeU128(data, offset + at.tickGross, gross)
  }
  return data
}

const dynamicArray = (pool: Address, start: number, spacing: number, ticks: Ticks): Uint8Array => {
  const at = dynamicArrayOffsets
  const used = new Map(ticks)
  const size = at.ticks + TICKS_IN_ARRAY * at.unusedSize + used.size * (at.usedSize - at.unusedSize)
  const data = newAccountData(size, DYNAMIC_ARRAY_DISCRIMINATOR)
  writeI32(data, at.start, start)
  writeAddress(data, at.pool, pool)
  let bitmap = 0n
  for (let i = 0, offset: number = at.ticks; i < TICKS_IN_ARRAY; i++) {
    const tick = used.get(start + i * spacing)
    if (tick !== undefined) {
      bitmap |= 1n << BigInt(i)
      data[offset] = 1
      writeI128(data, offset + at.tickNet, tick.net)
      writeU128(data, offset + at.tickGross, tick.gross)
    }
    offset += tick === undefined ? at.unusedSize : at.usedSize
  }
  writeU128(data, at.bitmap, bitmap)
  return data
}

/** Creates a filled pool. The mints are sorted by address, as the program requires. */
export const newWhirlpool = (world: World, spec: WhirlpoolSpec): SimPool => {
  const name = (part: string) => inventAddress(world.seed, `orca-whirlpool ${spec.label} ${part}`)
  const address = name("pool")
  const grid = { spacing: spec.tickSpacing, sqrtPriceAt: whirlpoolSqrtPriceAt, tickAt: whirlpoolTickAt }
  const { liquidity, mints, vaults } = newReserves(world, spec, grid, address, name)
  const config = inventAddress(world.seed, "orca-whirlpool config")
  world.newAccount(address, WHIRLPOOL_PROGRAM, newState(spec, liquidity, mints, vaults, config))
  const writeArray = spec.arrays === "fixed" ? fixedArray : dynamicArray
  for (const [start, ticks] of byArray(liquidity.ticks, (tick) => arrayStart(tick, spec.tickSpacing))) {
    const array = whirlpoolArrayAddress(world.derive, address, start)
    world.newAccount(array, WHIRLPOOL_PROGRAM, writeArray(address, start, spec.tickSpacing, ticks))
  }
  return concentratedPool(
    world,
    {
      dex: whirlpool.dex,
      programId: WHIRLPOOL_PROGRAM,
      swapPaths: whirlpoolSwapPaths,
      moved: whirlpoolAfter,
      call: whirlpoolCall(world, { address, mints, vaults, part: name }),
      stateOf: decodeWhirlpool
    },
    { address, mints, vaults, open: true }
  )
}
