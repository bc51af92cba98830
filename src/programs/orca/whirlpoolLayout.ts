/**
 * Accounts of Orca Whirlpool: offsets, discriminators, addresses and decoders. Offsets include the 8-byte
 * discriminator.
 */
import { readVolatility, type Volatility } from "../math/adaptiveFee.ts"
import { Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { hasDiscriminator, readAddress, readI128, readI32, readU128, readU16, readU64 } from "../layout/bytes.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { DeriveAddress } from "../interface/Program.ts"
import { isOnGrid, MAX_TICK, MIN_TICK, type Tick } from "../math/ticks.ts"

/** Orca's concentrated-liquidity program. */
export const WHIRLPOOL_PROGRAM: Address = Address.make("whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc")

export const WHIRLPOOL_SIZE = 653
export const WHIRLPOOL_DISCRIMINATOR = "3f95d10ce1806309"
/** Fields of the pool account. */
export const whirlpoolOffsets = {
  config: 8,
  bump: 40,
  tickSpacing: 41,
  feeTierIndex: 43,
  feeRate: 45,
  protocolFeeRate: 47,
  liquidity: 49,
  sqrtPrice: 65,
  tick: 81,
  mintA: 101,
  vaultA: 133,
  mintB: 181,
  vaultB: 213
} as const
/** Counters that swaps increase, by incoming token: fees owed to the protocol, and fees per unit of liquidity. */
export const whirlpoolSwapCounters = {
  a: { protocolFee: 85, feeGrowth: 165 },
  b: { protocolFee: 93, feeGrowth: 245 }
} as const

/** Ticks per array. They are one tick spacing apart. */
export const TICKS_IN_ARRAY = 88
/** Bytes of a fixed-size tick array. */
export const FIXED_ARRAY_SIZE = 9988
export const FIXED_ARRAY_DISCRIMINATOR = "4561bdbe6e0742bb"
/** A fixed-size tick array. Each tick is a flag byte, its net liquidity and growth counters. */
export const fixedArrayOffsets = { start: 8, ticks: 12, tickSize: 113, tickNet: 1, tickGross: 17, pool: 9956 } as const

/** First eight bytes of a tick array that grows with its use. */
export const DYNAMIC_ARRAY_DISCRIMINATOR = "11d8f68ee1c7da38"
/** A tick array that takes one byte for an unused tick, and one byte plus the tick for a used one. */
export const dynamicArrayOffsets = {
  start: 8,
  pool: 12,
  bitmap: 44,
  ticks: 60,
  unusedSize: 1,
  usedSize: 113,
  tickNet: 1,
  tickGross: 17
} as const

export const ORACLE_DISCRIMINATOR = "8bc283b38cb3e5f4"
/** The oracle account of a pool with an adaptive fee: first the constants, then the variables that swaps write. */
export const oracleOffsets = {
  pool: 8,
  tradeEnable: 40,
  filterPeriod: 48,
  decayPeriod: 50,
  reductionFactor: 52,
  control: 54,
  maxAccumulator: 58,
  groupSize: 62,
  majorSwapTicks: 64,
  referenceUpdatedAt: 82,
  majorSwapAt: 90,
  volatilityReference: 98,
  groupReference: 102,
  accumulator: 106
} as const
const ORACLE_SIZE = 110

/** The fields of the pool account that affect prices. */
export interface WhirlpoolState {
  readonly tickSpacing: number
  /** Differs from the tick spacing exactly when the pool has an adaptive fee. */
  readonly feeTierIndex: number
  /** In millionths of the input. */
  readonly feeRate: bigint
  /** In ten-thousandths of the fee. */
  readonly protocolFeeRate: bigint
  readonly liquidity: bigint
  readonly sqrtPrice: bigint
  readonly tick: number
  readonly mintA: Mint
  readonly mintB: Mint
}

/** Decodes a pool account; null when the bytes are not one. */
export const decodeWhirlpool = (data: Uint8Array): WhirlpoolState | null => {
  if (data.length < WHIRLPOOL_SIZE || !hasDiscriminator(data, WHIRLPOOL_DISCRIMINATOR)) {
    return null
  }
  const at = whirlpoolOffsets
  return {
    tickSpacing: readU16(data, at.tickSpacing),
    feeTierIndex: readU16(data, at.feeTierIndex),
    feeRate: BigInt(readU16(data, at.feeRate)),
    protocolFeeRate: BigInt(readU16(data, at.protocolFeeRate)),
    liquidity: readU128(data, at.liquidity),
    sqrtPrice: readU128(data, at.sqrtPrice),
    tick: readI32(data, at.tick),
    mintA: readAddress(data, at.mintA),
    mintB: readAddress(data, at.mintB)
  }
}

const text = (seed: string) => new TextEncoder().encode(seed)
const TICK_ARRAY_SEED = text("tick_array")
const ORACLE_SEED = text("oracle")

/** Derives the addresses of a pool's tick arrays from their start. The seed is the start as decimal text. */
export const whirlpoolArrayAddresses = (derive: DeriveAddress, pool: Address): ((start: number) => Address) => {
  const poolBytes = addressToBytes(pool)
  return (start) => derive(WHIRLPOOL_PROGRAM, [TICK_ARRAY_SEED, poolBytes, text(String(start))])
}

/** The tick array that begins at `start`. */
export const whirlpoolArrayAddress = (derive: DeriveAddress, pool: Address, start: number): Address =>
  whirlpoolArrayAddresses(derive, pool)(start)

/** The account that stores the adaptive fee of a pool. */
export const oracleAddress = (derive: DeriveAddress, pool: Address): Address =>
  derive(WHIRLPOOL_PROGRAM, [ORACLE_SEED, addressToBytes(pool)])

const decodeFixedArray = (data: Uint8Array, spacing: number): ReadonlyArray<Tick> => {
  const { start, tickNet, tickSize, ticks } = fixedArrayOffsets
  const first = readI32(data, start)
  const found: Array<Tick> = []
  for (let i = 0, offset: number = ticks; i < TICKS_IN_ARRAY; i++, offset += tickSize) {
    if (data[offset] !== 0) {
      found.push({ index: first + i * spacing, liquidityNet: readI128(data, offset + tickNet), orders: 0n })
    }
  }
  return found
}

const decodeDynamicArray = (data: Uint8Array, spacing: number): ReadonlyArray<Tick> | null => {
  const { bitmap, start, tickNet, ticks, unusedSize, usedSize } = dynamicArrayOffsets
  const first = readI32(data, start)
  const found: Array<Tick> = []
  for (let i = 0, offset: number = ticks; i < TICKS_IN_ARRAY; i++) {
    const used = ((data[bitmap + (i >> 3)] ?? 0) & (1 << (i & 7))) !== 0
    const size = used ? usedSize : unusedSize
    if (offset + size > data.length || (data[offset] !== 0) !== used) {
      return null
    }
    if (used) {
      found.push({ index: first + i * spacing, liquidityNet: readI128(data, offset + tickNet), orders: 0n })
    }
    offset += size
  }
  return found
}

const onGrid = (ticks: ReadonlyArray<Tick> | null): ReadonlyArray<Tick> | null =>
  ticks?.every(({ index }) => isOnGrid(index)) === true ? ticks : null

/** Initialized ticks of a tick array, ascending. Null when the bytes are not the array that begins at `start`. */
export const decodeWhirlpoolArray = (
  account: OnChainAccount,
  start: number,
  spacing: number
): ReadonlyArray<Tick> | null => {
  const { data } = account
  if (account.owner !== WHIRLPOOL_PROGRAM || data.length < dynamicArrayOffsets.ticks) {
    return null
  }
  if (readI32(data, fixedArrayOffsets.start) !== start) {
    return null
  }
  if (hasDiscriminator(data, FIXED_ARRAY_DISCRIMINATOR)) {
    return data.length < FIXED_ARRAY_SIZE ? null : onGrid(decodeFixedArray(data, spacing))
  }
  return hasDiscriminator(data, DYNAMIC_ARRAY_DISCRIMINATOR) ? onGrid(decodeDynamicArray(data, spacing)) : null
}

/** Start of the tick array that contains a tick. */
export const arrayStart = (tick: number, spacing: number): number =>
  Math.floor(tick / (TICKS_IN_ARRAY * spacing)) * TICKS_IN_ARRAY * spacing

/**
 * Start of the first array of a swap in its direction. Upwards, it is the next array when this one has no usable tick
 * above the current tick.
 */
export const firstArray = (tick: number, spacing: number, down: boolean): number => {
  const size = TICKS_IN_ARRAY * spacing
  const current = arrayStart(tick, spacing)
  return !down && tick + spacing >= current + size ? current + size : current
}

/** Starts of the arrays of a swap (three at most) in its direction. */
export const arraySequence = (tick: number, spacing: number, down: boolean): ReadonlyArray<number> => {
  const size = TICKS_IN_ARRAY * spacing
  const first = firstArray(tick, spacing, down)
  return [0, 1, 2]
    .map((i) => (down ? first - i * size : first + i * size))
    .filter((start) => start + size > MIN_TICK && start < MAX_TICK)
}

/** The tick at which the last array of a sequence ends a step, initialized or not. */
export const sequenceEdge = (last: number, spacing: number, down: boolean): number =>
  down ? Math.max(last, MIN_TICK) : Math.min(last + TICKS_IN_ARRAY * spacing - 1, MAX_TICK)

/** A pool's adaptive fee, and when it last changed, in seconds since the Unix epoch. */
export interface OracleState extends Volatility {
  readonly tradeEnableAt: number
  /** A swap is a major one when it moves the price by this many ticks. */
  readonly majorSwapTicks: number
  readonly referenceUpdatedAt: number
  readonly majorSwapAt: number
}

/** Decodes an oracle account's fee; null when the bytes are not one. */
export const decodeOracle = (account: OnChainAccount): OracleState | null => {
  const { data } = account
  if (
    account.owner !== WHIRLPOOL_PROGRAM ||
    data.length < ORACLE_SIZE ||
    !hasDiscriminator(data, ORACLE_DISCRIMINATOR)
  ) {
    return null
  }
  const at = oracleOffsets
  return {
    ...readVolatility(data, at, readU16(data, at.groupSize)),
    tradeEnableAt: Number(readU64(data, at.tradeEnable)),
    majorSwapTicks: readU16(data, at.majorSwapTicks),
    referenceUpdatedAt: Number(readU64(data, at.referenceUpdatedAt)),
    majorSwapAt: Number(readU64(data, at.majorSwapAt))
  }
}
