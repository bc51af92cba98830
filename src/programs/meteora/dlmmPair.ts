/** State of a DLMM pair account: MeteoraAg/dlmm-sdk, commons/src/extensions/lb_pair.rs at fb02e51 and the program's IDL. */
import { Address } from "../../domain/Address.ts"
import { readI32, readI64, readU16, readU32, readU64 } from "../layout/bytes.ts"
import type { Unpriceable } from "../interface/Program.ts"
import { closed, malformed, unsupported } from "../layout/unpriceable.ts"

export const DLMM_PROGRAM = Address.make("LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo")

/** Discriminator and length of a pair account. */
export const DLMM_PAIR_DISCRIMINATOR = "210b3162b565b10d"
export const DLMM_PAIR_LENGTH = 904

/** Offsets in the pair account. */
export const dlmmPairAt = {
  baseFactor: 8,
  filterPeriod: 10,
  decayPeriod: 12,
  reduction: 14,
  variableFeeControl: 16,
  volatilityMaximum: 20,
  minBinId: 24,
  maxBinId: 28,
  protocolShare: 32,
  baseFeePower: 34,
  functionType: 35,
  collectFeeMode: 36,
  volatilityAccumulator: 40,
  volatilityReference: 44,
  indexReference: 48,
  volatilityUpdatedAt: 56,
  pairType: 75,
  activeId: 76,
  binStep: 80,
  status: 82,
  activationType: 86,
  mintX: 88,
  mintY: 120,
  reserveX: 152,
  reserveY: 184,
  protocolFeeX: 216,
  protocolFeeY: 224,
  /** Two rewards of 144 bytes each. Each starts with its mint. An unused reward is all zeros. */
  rewards: 264,
  oracle: 552,
  bitmap: 584,
  activationPoint: 816,
  tokenFlagX: 880,
  tokenFlagY: 881
} as const

const REWARD_SIZE = 144

/** Everything about a pair that affects its prices, except its bins. */
export interface DlmmPair {
  readonly activeId: number
  readonly binStep: number
  /** Numerator over 1e9, before the cap. */
  readonly baseFeeRate: bigint
  readonly variableFeeControl: bigint
  readonly volatilityMaximum: number
  /** In seconds. Swaps closer together than this share one reference. */
  readonly filterPeriod: number
  /** After this many seconds, past movement is forgotten. */
  readonly decayPeriod: number
  /** Basis points of past movement that are kept until then. */
  readonly reduction: number
  readonly volatilityAccumulator: number
  readonly volatilityReference: number
  readonly indexReference: number
  readonly volatilityUpdatedAt: number
  /** The protocol's share of fees, in basis points. */
  readonly protocolShare: bigint
  /** True when fees are taken in Y in both directions. Otherwise they are taken from the input. */
  readonly feesInY: boolean
  readonly takesLimitOrders: boolean
  /** Slot or second from which swaps are allowed; null when the program does not check it. */
  readonly activationPoint: bigint | null
  readonly activatesBySlot: boolean
}

const functionType = { undetermined: 0, liquidityMining: 1, limitOrder: 2 }
const pairType = { permission: 1, customizablePermissionless: 2, last: 3 }

const hasReward = (data: Uint8Array, index: number): boolean => {
  const at = dlmmPairAt.rewards + index * REWARD_SIZE
  return data.subarray(at, at + 32).some((byte) => byte !== 0)
}

// A pair of undetermined type takes orders until it has rewards.
const takesLimitOrders = (data: Uint8Array): boolean =>
  data[dlmmPairAt.functionType] === functionType.limitOrder ||
  (data[dlmmPairAt.functionType] === functionType.undetermined && !hasReward(data, 0) && !hasReward(data, 1))

const refusal = (data: Uint8Array): Unpriceable | null => {
  const status = data[dlmmPairAt.status] ?? 0
  if (status !== 0) {
    return closed(`status ${status}`)
  }
  for (const [name, last] of [
    ["pairType", pairType.last],
    ["functionType", functionType.limitOrder],
    ["collectFeeMode", 1]
  ] as const) {
    const value = data[dlmmPairAt[name]] ?? 0
    if (value > last) {
      return unsupported(`${name} ${value}`)
    }
  }
  const activation = data[dlmmPairAt.activationType] ?? 0
  return activation > 1 ? malformed(`activationType ${activation}`) : null
}

/** Reads a pair account. The caller has checked its length and discriminator. */
export const readDlmmPair = (data: Uint8Array): DlmmPair | Unpriceable => {
  const refusing = refusal(data)
  if (refusing !== null) {
    return refusing
  }
  const binStep = readU16(data, dlmmPairAt.binStep)
  const type = data[dlmmPairAt.pairType] ?? 0
  const waits = type === pairType.permission || type === pairType.customizablePermissionless
  return {
    activeId: readI32(data, dlmmPairAt.activeId),
    binStep,
    baseFeeRate:
      BigInt(readU16(data, dlmmPairAt.baseFactor)) *
      BigInt(binStep) *
      10n ** BigInt(1 + (data[dlmmPairAt.baseFeePower] ?? 0)),
    variableFeeControl: BigInt(readU32(data, dlmmPairAt.variableFeeControl)),
    volatilityMaximum: readU32(data, dlmmPairAt.volatilityMaximum),
    filterPeriod: readU16(data, dlmmPairAt.filterPeriod),
    decayPeriod: readU16(data, dlmmPairAt.decayPeriod),
    reduction: readU16(data, dlmmPairAt.reduction),
    volatilityAccumulator: readU32(data, dlmmPairAt.volatilityAccumulator),
    volatilityReference: readU32(data, dlmmPairAt.volatilityReference),
    indexReference: readI32(data, dlmmPairAt.indexReference),
    volatilityUpdatedAt: Number(readI64(data, dlmmPairAt.volatilityUpdatedAt)),
    protocolShare: BigInt(readU16(data, dlmmPairAt.protocolShare)),
    feesInY: data[dlmmPairAt.collectFeeMode] === 1,
    takesLimitOrders: takesLimitOrders(data),
    activationPoint: waits ? readU64(data, dlmmPairAt.activationPoint) : null,
    activatesBySlot: data[dlmmPairAt.activationType] === 0
  }
}
