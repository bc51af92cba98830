/**
 * Accounts of Raydium CLMM: offsets, discriminators, addresses and decoders. Offsets include the 8-byte discriminator.
 */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { readVolatility, type Volatility } from "../math/adaptiveFee.ts"
import { hasDiscriminator, readAddress, readI32, readU128, readU16, readU32, readU64 } from "../layout/bytes.ts"
import { ANCHOR_AMM_CONFIG, ANCHOR_POOL_STATE } from "../layout/anchor.ts"
import type { DeriveAddress } from "../interface/Program.ts"
import { configSeeds } from "./configSeeds.ts"
import { floorDiv, isOnGrid, type Tick } from "../math/ticks.ts"

/** Raydium's concentrated-liquidity program. */
export const CLMM_PROGRAM: Address = Address.make("CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK")

export const CLMM_POOL_SIZE = 1544
/** First eight bytes of a pool account. CPMM has the same; the owner tells them apart. */
export const CLMM_POOL_DISCRIMINATOR = ANCHOR_POOL_STATE
/** Fields of the pool account. */
export const clmmPoolOffsets = {
  config: 9,
  owner: 41,
  mint0: 73,
  mint1: 105,
  vault0: 137,
  vault1: 169,
  observation: 201,
  decimals0: 233,
  decimals1: 234,
  tickSpacing: 235,
  liquidity: 237,
  sqrtPrice: 253,
  tick: 269,
  status: 389,
  feeOn: 390,
  arrayBitmap: 904,
  openTime: 1080,
  dynamicFee: 1096
} as const
/** Counters that swaps increase, by the incoming token. */
export const clmmSwapCounters = {
  token0: { feeGrowth: 277, protocolFee: 309, swapIn: 325, swapOut: 341, fundFee: 1064 },
  token1: { feeGrowth: 293, protocolFee: 317, swapIn: 357, swapOut: 373, fundFee: 1072 }
} as const
/**
 * Fields of the dynamic fee, counted from `clmmPoolOffsets.dynamicFee`. When all bytes are zero, the pool has no
 * dynamic fee.
 */
export const dynamicFeeOffsets = {
  filterPeriod: 0,
  decayPeriod: 2,
  reductionFactor: 4,
  control: 6,
  maxAccumulator: 10,
  groupReference: 14,
  volatilityReference: 18,
  accumulator: 22,
  updatedAt: 26
} as const
const DYNAMIC_FEE_SIZE = 80

export const CLMM_CONFIG_SIZE = 117
export const CLMM_CONFIG_DISCRIMINATOR = ANCHOR_AMM_CONFIG
/** Fields of a fee tier's account. */
export const clmmConfigOffsets = {
  index: 9,
  protocolFeeRate: 43,
  tradeFeeRate: 47,
  tickSpacing: 51,
  fundFeeRate: 53
} as const

/** How many arrays on each side of tick zero have their bits in the pool account. */
export const CLMM_ARRAYS_IN_POOL = 512

const TICKS_IN_CLMM_ARRAY = 60

export const CLMM_ARRAY_SIZE = 10240
export const CLMM_ARRAY_DISCRIMINATOR = "c09b55cd31f9812a"
/** Offsets in a tick array, and of a tick's fields from the tick's start. */
export const clmmArrayOffsets = {
  pool: 8,
  start: 40,
  ticks: 44,
  tickSize: 168,
  tickIndex: 0,
  tickNet: 4,
  tickGross: 20,
  tickOrders: 124,
  tickPartFilledOrders: 132,
  initializedCount: 10124
} as const

export const BITMAP_EXTENSION_SIZE = 1832
export const BITMAP_EXTENSION_DISCRIMINATOR = "3c9624db61808b99"
/** Offsets of the bits for arrays above and below those in the pool account. */
export const bitmapExtensionOffsets = { pool: 8, positive: 40, negative: 936 } as const

/** The token that pays the fee. */
type FeeOn = "input" | "token0" | "token1"

const FEE_ON: ReadonlyArray<FeeOn> = ["input", "token0", "token1"]

/** A fee that follows volatility, and when a swap last moved its reference, in seconds since the Unix epoch. */
interface DynamicFee extends Volatility {
  readonly updatedAt: number
}

/** The fields of the pool account that affect prices. */
export interface ClmmState {
  readonly config: Address
  readonly mint0: Mint
  readonly mint1: Mint
  readonly tickSpacing: number
  readonly liquidity: bigint
  readonly sqrtPrice: bigint
  readonly tick: number
  readonly swapDisabled: boolean
  /** Null when the account states an unknown mode. */
  readonly feeOn: FeeOn | null
  /** Swaps are refused up to and including this second. */
  readonly openTime: bigint
  /** Null when the pool has a constant fee. */
  readonly dynamicFee: DynamicFee | null
}

const SWAP_DISABLED = 0b1_0000

const decodeDynamicFee = (data: Uint8Array, groupSize: number): DynamicFee | null => {
  const fields = data.subarray(clmmPoolOffsets.dynamicFee, clmmPoolOffsets.dynamicFee + DYNAMIC_FEE_SIZE)
  if (fields.every((byte) => byte === 0)) {
    return null
  }
  const at = dynamicFeeOffsets
  return { ...readVolatility(fields, at, groupSize), updatedAt: Number(readU64(fields, at.updatedAt)) }
}

/** Decodes a pool account; null when the bytes are not one. */
export const decodeClmmPool = (data: Uint8Array): ClmmState | null => {
  if (data.length !== CLMM_POOL_SIZE || !hasDiscriminator(data, CLMM_POOL_DISCRIMINATOR)) {
    return null
  }
  const at = clmmPoolOffsets
  return {
    config: readAddress(data, at.config),
    mint0: readAddress(data, at.mint0),
    mint1: readAddress(data, at.mint1),
    tickSpacing: readU16(data, at.tickSpacing),
    liquidity: readU128(data, at.liquidity),
    sqrtPrice: readU128(data, at.sqrtPrice),
    tick: readI32(data, at.tick),
    swapDisabled: ((data[at.status] ?? 0) & SWAP_DISABLED) !== 0,
    feeOn: FEE_ON[data[at.feeOn] ?? 0] ?? null,
    openTime: readU64(data, at.openTime),
    dynamicFee: decodeDynamicFee(data, readU16(data, at.tickSpacing))
  }
}

/** Rates of a fee tier: the trade fee in millionths, the two cuts in millionths of the fee. */
export interface ClmmConfig {
  readonly tradeFeeRate: bigint
  readonly protocolFeeRate: bigint
  readonly fundFeeRate: bigint
}

/** Decodes a fee tier's rates; null when the account is not one. */
export const decodeClmmConfig = ({ data, owner }: OnChainAccount): ClmmConfig | null => {
  if (owner !== CLMM_PROGRAM || data.length < CLMM_CONFIG_SIZE || !hasDiscriminator(data, CLMM_CONFIG_DISCRIMINATOR)) {
    return null
  }
  const at = clmmConfigOffsets
  return {
    tradeFeeRate: BigInt(readU32(data, at.tradeFeeRate)),
    protocolFeeRate: BigInt(readU32(data, at.protocolFeeRate)),
    fundFeeRate: BigInt(readU32(data, at.fundFeeRate))
  }
}

/** True when any of these sixteen bytes is set: a u128 above zero, or one of two u64. */
const isUsed = (view: DataView, offset: number): boolean =>
  (view.getUint32(offset) | view.getUint32(offset + 4) | view.getUint32(offset + 8) | view.getUint32(offset + 12)) !== 0

const int128 = (view: DataView, offset: number): bigint =>
  (view.getBigInt64(offset + 8, true) << 64n) | view.getBigUint64(offset, true)

/** Initialized ticks of a tick array, ascending. Null when the bytes are not the array that begins at `start`. */
export const decodeClmmArray = (
  { data, owner }: OnChainAccount,
  start: number,
  spacing: number
): ReadonlyArray<Tick> | null => {
  const at = clmmArrayOffsets
  if (
    owner !== CLMM_PROGRAM ||
    data.length !== CLMM_ARRAY_SIZE ||
    !hasDiscriminator(data, CLMM_ARRAY_DISCRIMINATOR) ||
    readI32(data, at.start) !== start
  ) {
    return null
  }
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const found: Array<Tick> = []
  for (let i = 0, offset: number = at.ticks; i < TICKS_IN_CLMM_ARRAY; i++, offset += at.tickSize) {
    const hasOrders = isUsed(view, offset + at.tickOrders)
    if (hasOrders || isUsed(view, offset + at.tickGross)) {
      const index = view.getInt32(offset + at.tickIndex, true)
      if (index !== start + i * spacing || !isOnGrid(index)) {
        return null
      }
      found.push({
        index,
        liquidityNet: int128(view, offset + at.tickNet),
        orders: hasOrders
          ? view.getBigUint64(offset + at.tickOrders, true) + view.getBigUint64(offset + at.tickPartFilledOrders, true)
          : 0n
      })
    }
  }
  return found
}

const ARRAY_SEED = new TextEncoder().encode("tick_array")
const EXTENSION_SEED = new TextEncoder().encode("pool_tick_array_bitmap_extension")

/**
 * Derives the addresses of a pool's tick arrays from their start. The seed is the start in four bytes, big-endian.
 */
export const clmmArrayAddresses = (derive: DeriveAddress, pool: Address): ((start: number) => Address) => {
  const poolBytes = addressToBytes(pool)
  return (start) => {
    const index = new Uint8Array(4)
    new DataView(index.buffer).setInt32(0, start)
    return derive(CLMM_PROGRAM, [ARRAY_SEED, poolBytes, index])
  }
}

/** The tick array that begins at `start`. */
export const clmmArrayAddress = (derive: DeriveAddress, pool: Address, start: number): Address =>
  clmmArrayAddresses(derive, pool)(start)

/** Address of the fee tier with this index. */
export const clmmConfigAddress = (derive: DeriveAddress, index: number): Address =>
  derive(CLMM_PROGRAM, configSeeds(index))

/** Address of the account that continues the bitmap of tick arrays beyond the pool account. */
export const bitmapExtensionAddress = (derive: DeriveAddress, pool: Address): Address =>
  derive(CLMM_PROGRAM, [EXTENSION_SEED, addressToBytes(pool)])

/** How many ticks one array covers. */
export const clmmArraySpan = (spacing: number): number => TICKS_IN_CLMM_ARRAY * spacing

/** Start of the tick array that contains a tick. */
export const clmmArrayStart = (tick: number, spacing: number): number =>
  floorDiv(tick, clmmArraySpan(spacing)) * clmmArraySpan(spacing)
