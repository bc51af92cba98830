/** Concentrated-liquidity pools as account bytes, from a list of positions, at the offsets that the decoders read. */
import type { OnChainAccount, ChainClock } from "../../src/domain/OnChainAccount.ts"
import { Address, addressFromBytes, addressToBytes, type Mint, SOL, USDC } from "../../src/domain/Address.ts"
import type { Accounts } from "../../src/programs/interface/Program.ts"
import {
  bitmapExtensionAddress,
  bitmapExtensionOffsets,
  BITMAP_EXTENSION_DISCRIMINATOR,
  BITMAP_EXTENSION_SIZE,
  CLMM_ARRAY_DISCRIMINATOR,
  CLMM_ARRAY_SIZE,
  CLMM_CONFIG_DISCRIMINATOR,
  CLMM_CONFIG_SIZE,
  CLMM_POOL_DISCRIMINATOR,
  CLMM_POOL_SIZE,
  CLMM_PROGRAM,
  clmmArrayAddress,
  clmmArrayOffsets,
  clmmArraySpan,
  clmmArrayStart,
  clmmConfigOffsets,
  clmmPoolOffsets
} from "../../src/programs/raydium/clmmLayout.ts"
import { raydiumSqrtPriceAt } from "../../src/programs/raydium/clmmTicks.ts"
import {
  arrayStart,
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
} from "../../src/programs/orca/whirlpoolLayout.ts"
import { TOKEN_PROGRAM } from "../../src/programs/layout/tokenAccount.ts"
import { whirlpoolSqrtPriceAt } from "../../src/programs/orca/whirlpoolTicks.ts"
import { makeDeriveAddress } from "../../src/chain/programAddress.ts"

/** Derives addresses and remembers them. */
export const derive = makeDeriveAddress()

/** A clock late enough for every pool here. */
export const clock: ChainClock = { slot: 1, epoch: 700, unixTimestamp: 1_732_000_000 }

/** Liquidity between two ticks. */
interface Position {
  readonly lower: number
  readonly upper: number
  readonly liquidity: bigint
}

/** Parameters of a pool of either program. */
export interface PoolPlan {
  readonly tickSpacing: number
  readonly tick: number
  /** Where the price lies between the tick's price and the next; the tick's own price when absent. */
  readonly sqrtPrice?: bigint
  readonly feeRate: number
  readonly protocolFeeRate?: number
  readonly positions: ReadonlyArray<Position>
}

/** A pool and everything it is priced from. */
export interface SyntheticPool {
  readonly pool: OnChainAccount
  readonly accounts: Accounts
}

const POOL = Address.make("9vqYJjDUFecLL2xPUC4Rc7hyCtZ6iJ4mDiVZX7aFXoAe")
const CONFIG = addressFromBytes(new Uint8Array(32).fill(7))

/** Writes little-endian fields into fresh bytes after a discriminator. */
export const writer = (size: number, discriminator: string) => {
  const data = new Uint8Array(size)
  data.set(Buffer.from(discriminator, "hex"))
  const view = new DataView(data.buffer)
  const put128 = (offset: number, value: bigint) => {
    view.setBigUint64(offset, BigInt.asUintN(64, value), true)
    view.setBigUint64(offset + 8, BigInt.asUintN(64, value >> 64n), true)
  }
  return { data, view, put128 }
}

const accountOf = (address: Address, owner: Address, data: Uint8Array): OnChainAccount => ({
  address,
  owner,
  lamports: 1n,
  data,
  slot: 1
})

interface TickFields {
  net: bigint
  gross: bigint
}

const ticksOf = (positions: ReadonlyArray<Position>): ReadonlyMap<number, TickFields> => {
  const ticks = new Map<number, TickFields>()
  const add = (index: number, net: bigint, gross: bigint) => {
    const tick = ticks.get(index) ?? { net: 0n, gross: 0n }
    ticks.set(index, { net: tick.net + net, gross: tick.gross + gross })
  }
  for (const { liquidity, lower, upper } of positions) {
    add(lower, liquidity, liquidity)
    add(upper, -liquidity, liquidity)
  }
  return ticks
}

const activeAt = (positions: ReadonlyArray<Position>, tick: number): bigint =>
  positions.reduce((sum, { liquidity, lower, upper }) => (lower <= tick && tick < upper ? sum + liquidity : sum), 0n)

const groupByStart = (ticks: ReadonlyMap<number, TickFields>, startOf: (tick: number) => number) =>
  Map.groupBy(ticks, ([index]) => startOf(index))

/** A mint of the classic Token program. */
const plainMint = (mint: Mint): OnChainAccount => {
  const data = new Uint8Array(82)
  data[44] = 6
  data[45] = 1
  return accountOf(mint, TOKEN_PROGRAM, data)
}

const MINTS = [plainMint(SOL), plainMint(USDC)]

const accountsOf = (list: ReadonlyArray<OnChainAccount>): Accounts => {
  const known = new Map([...MINTS, ...list].map((account) => [account.address, account]))
  return (address) => known.get(address) ?? null
}

const fixedArray = (start: number, spacing: number, ticks: ReadonlyArray<[number, TickFields]>): Uint8Array => {
  const { data, put128, view } = writer(FIXED_ARRAY_SIZE, FIXED_ARRAY_DISCRIMINATOR)
  view.setInt32(fixedArrayOffsets.start, start, true)
  data.set(addressToBytes(POOL), fixedArrayOffsets.pool)
  for (const [index, { gross, net }] of ticks) {
    const offset = fixedArrayOffsets.ticks + ((index - start) / spacing) * fixedArrayOffsets.tickSize
    data[offset] = 1
    put128(offset + fixedArrayOffsets.tickNet, net)
    put128(offset + fixedArrayOffsets.tickGross, gross)
  }
  return data
}

/** The same array in the form with one byte for an unused tick. */
export const dynamicArray = (
  start: number,
  spacing: number,
  ticks: ReadonlyArray<[number, TickFields]>
): Uint8Array => {
  const at = dynamicArrayOffsets
  const { data, put128, view } = writer(at.ticks + TICKS_IN_ARRAY + ticks.length * 112, DYNAMIC_ARRAY_DISCRIMINATOR)
  view.setInt32(at.start, start, true)
  data.set(addressToBytes(POOL), at.pool)
  const used = new Map(ticks)
  for (let i = 0, offset: number = at.ticks; i < TICKS_IN_ARRAY; i++) {
    const tick = used.get(start + i * spacing)
    if (tick === undefined) {
      offset += at.unusedSize
      continue
    }
    data[at.bitmap + (i >> 3)] = (data[at.bitmap + (i >> 3)] ?? 0) | (1 << (i & 7))
    data[offset] = 1
    put128(offset + at.tickNet, tick.net)
    put128(offset + at.tickGross, tick.gross)
    offset += at.usedSize
  }
  return data
}

/** A Whirlpool with a static fee; SOL is token A. */
export const whirlpoolFrom = (plan: PoolPlan, arrayBytes = fixedArray): SyntheticPool => {
  const at = whirlpoolOffsets
  const { data, put128, view } = writer(WHIRLPOOL_SIZE, WHIRLPOOL_DISCRIMINATOR)
  view.setUint16(at.tickSpacing, plan.tickSpacing, true)
  view.setUint16(at.feeTierIndex, plan.tickSpacing, true)
  view.setUint16(at.feeRate, plan.feeRate, true)
  view.setUint16(at.protocolFeeRate, plan.protocolFeeRate ?? 1300, true)
  put128(at.liquidity, activeAt(plan.positions, plan.tick))
  put128(at.sqrtPrice, plan.sqrtPrice ?? whirlpoolSqrtPriceAt(plan.tick))
  view.setInt32(at.tick, plan.tick, true)
  data.set(addressToBytes(SOL), at.mintA)
  data.set(addressToBytes(USDC), at.mintB)
  const groups = groupByStart(ticksOf(plan.positions), (tick) => arrayStart(tick, plan.tickSpacing))
  const arrays = Array.from(groups, ([start, ticks]) =>
    accountOf(whirlpoolArrayAddress(derive, POOL, start), WHIRLPOOL_PROGRAM, arrayBytes(start, plan.tickSpacing, ticks))
  )
  return { pool: accountOf(POOL, WHIRLPOOL_PROGRAM, data), accounts: accountsOf(arrays) }
}

const clmmArray = (start: number, spacing: number, ticks: ReadonlyArray<[number, TickFields]>): Uint8Array => {
  const at = clmmArrayOffsets
  const { data, put128, view } = writer(CLMM_ARRAY_SIZE, CLMM_ARRAY_DISCRIMINATOR)
  data.set(addressToBytes(POOL), at.pool)
  view.setInt32(at.start, start, true)
  for (const [index, { gross, net }] of ticks) {
    const offset = at.ticks + ((index - start) / spacing) * at.tickSize
    view.setInt32(offset + at.tickIndex, index, true)
    put128(offset + at.tickNet, net)
    put128(offset + at.tickGross, gross)
  }
  data[at.initializedCount] = ticks.length
  return data
}

const setBit = (data: Uint8Array, offset: number, bit: number): void => {
  data[offset + (bit >> 3)] = (data[offset + (bit >> 3)] ?? 0) | (1 << (bit & 7))
}

/** Sets the bit of an array, in the pool account or in the extension. */
const markArray = (pool: Uint8Array, extension: Uint8Array, n: number): void => {
  if (n >= -512 && n < 512) {
    setBit(pool, clmmPoolOffsets.arrayBitmap, n + 512)
  } else if (n > 0) {
    setBit(extension, bitmapExtensionOffsets.positive, n - 512)
  } else {
    const magnitude = Math.abs(n)
    const block = Math.floor(magnitude / 512) - (magnitude % 512 === 0 ? 2 : 1)
    setBit(extension, bitmapExtensionOffsets.negative + block * 64, magnitude % 512 === 0 ? 0 : 512 - (magnitude % 512))
  }
}

/** A Raydium CLMM pool with a static fee; SOL is token 0. */
export const clmmFrom = (plan: PoolPlan, change?: (pool: DataView) => void): SyntheticPool => {
  const at = clmmPoolOffsets
  const { data, put128, view } = writer(CLMM_POOL_SIZE, CLMM_POOL_DISCRIMINATOR)
  data.set(addressToBytes(CONFIG), at.config)
  data.set(addressToBytes(SOL), at.mint0)
  data.set(addressToBytes(USDC), at.mint1)
  view.setUint16(at.tickSpacing, plan.tickSpacing, true)
  put128(at.liquidity, activeAt(plan.positions, plan.tick))
  put128(at.sqrtPrice, plan.sqrtPrice ?? raydiumSqrtPriceAt(plan.tick))
  view.setInt32(at.tick, plan.tick, true)
  change?.(view)
  const config = writer(CLMM_CONFIG_SIZE, CLMM_CONFIG_DISCRIMINATOR)
  config.view.setUint32(clmmConfigOffsets.tradeFeeRate, plan.feeRate, true)
  config.view.setUint32(clmmConfigOffsets.protocolFeeRate, plan.protocolFeeRate ?? 120_000, true)
  config.view.setUint32(clmmConfigOffsets.fundFeeRate, 40_000, true)
  const extension = writer(BITMAP_EXTENSION_SIZE, BITMAP_EXTENSION_DISCRIMINATOR)
  const groups = groupByStart(ticksOf(plan.positions), (tick) => clmmArrayStart(tick, plan.tickSpacing))
  const arrays = Array.from(groups, ([start, ticks]) => {
    markArray(data, extension.data, start / clmmArraySpan(plan.tickSpacing))
    return accountOf(clmmArrayAddress(derive, POOL, start), CLMM_PROGRAM, clmmArray(start, plan.tickSpacing, ticks))
  })
  const accounts = accountsOf([
    accountOf(CONFIG, CLMM_PROGRAM, config.data),
    accountOf(bitmapExtensionAddress(derive, POOL), CLMM_PROGRAM, extension.data),
    ...arrays
  ])
  return { pool: accountOf(POOL, CLMM_PROGRAM, data), accounts }
}

/** A small deterministic source of numbers in [0, 1): mulberry32. */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A number below 2^`bits` whose size is spread evenly. */
export const randomBits = (random: () => number, bits: number): bigint => {
  const size = Math.ceil(random() * bits)
  let value = 0n
  for (let i = 0; i < size; i++) {
    value = (value << 1n) | BigInt(random() < 0.5 ? 0 : 1)
  }
  return value
}

const pick = <A>(random: () => number, list: ReadonlyArray<A>, otherwise: A): A =>
  list[Math.floor(random() * list.length)] ?? otherwise

/** A pool of any shape: gaps, overlapping positions, tiny and huge liquidity, prices on and between ticks. */
export const randomPlan = (seed: number, sqrtPriceAt: (tick: number) => bigint): PoolPlan => {
  const random = randomFrom(seed)
  const tickSpacing = pick(random, [1, 2, 8, 64, 128], 64)
  const tick = Math.floor((random() - 0.5) * 400_000)
  const nearby = (span: number) => Math.round((tick + (random() - 0.5) * span) / tickSpacing) * tickSpacing
  const positions = Array.from({ length: 1 + Math.floor(random() * 12) }, () => {
    const span = tickSpacing * 2 ** Math.ceil(random() * 8)
    const lower = nearby(span)
    const width = tickSpacing * (1 + Math.floor((random() * span) / tickSpacing))
    return { lower, upper: lower + width, liquidity: 1n + randomBits(random, pick(random, [20, 50, 80], 50)) }
  })
  const low = sqrtPriceAt(tick)
  const inside = (randomBits(random, 128) % (sqrtPriceAt(tick + 1) - low)) * (random() < 0.3 ? 0n : 1n)
  const feeRate = pick(random, [0, 1, 100, 400, 2500, 10_000, 60_000], 100)
  return { tickSpacing, tick, sqrtPrice: low + inside, feeRate, positions }
}
