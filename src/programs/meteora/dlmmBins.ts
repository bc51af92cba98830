/** Bins of a DLMM pair: MeteoraAg/dlmm-sdk, commons/src/extensions/{bin,bin_array}.rs at fb02e51. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { BPS } from "../../domain/units.ts"
import { hasDiscriminator, readI64, readU64, readU128 } from "../layout/bytes.ts"
import { i64, utf8 } from "../layout/pack.ts"
import { powerQ64 } from "../math/powerQ64.ts"
import { DLMM_PROGRAM } from "./dlmmPair.ts"
import type { DeriveAddress, Unpriceable } from "../interface/Program.ts"
import { malformed } from "../layout/unpriceable.ts"

/** Bins per array account. */
export const BINS_PER_ARRAY = 70

/** Offsets in a bin array account, and of a bin's fields from the bin's start. */
export const dlmmBinArrayAt = { index: 8, version: 16, pair: 24, bins: 56, binSize: 144 } as const
export const dlmmBinAt = {
  amountX: 0,
  amountY: 8,
  price: 16,
  liquidity: 32,
  openOrders: 112,
  processedOrders: 128,
  ordersSellX: 140
} as const

/** Length and discriminator of a bin array account. */
export const BIN_ARRAY_LENGTH = 10_136
export const BIN_ARRAY_DISCRIMINATOR = "5c8e5cdc059446b5"

const ONE = 1n << 64n

/** Index of the array that contains a bin. */
export const binArrayIndexOf = (binId: number): number => Math.floor(binId / BINS_PER_ARRAY)

/** Offset of a bin in its array's account. */
export const dlmmBinOffset = (binId: number): number =>
  dlmmBinArrayAt.bins + (binId - binArrayIndexOf(binId) * BINS_PER_ARRAY) * dlmmBinArrayAt.binSize

const BIN_ARRAY_SEED = utf8("bin_array")

/** Address of an array of a pair. `pair` is the pair's address as bytes. */
export const binArrayAddress = (derive: DeriveAddress, pair: Uint8Array, index: number): Address =>
  derive(DLMM_PROGRAM, [BIN_ARRAY_SEED, pair, i64(index)])

/** Units of Y per unit of X in a bin, Q64.64: (1 + binStep/10000)^id. Null when the program cannot represent it. */
export const binPrice = (binId: number, binStep: number): bigint | null =>
  powerQ64(ONE + (BigInt(binStep) << 64n) / BPS, binId)

/** What one bin offers of the bought token: provided liquidity, then partly filled orders, then fresh orders. */
export interface Bin {
  readonly id: number
  /** The price in the account, Q64.64 of Y per X. Zero when it was never written. */
  readonly price: bigint
  readonly layers: ReadonlyArray<bigint>
}

/** The direction, and the rules about which amounts in a bin a swap may take. */
export interface BinSide {
  readonly sellsX: boolean
  readonly takesLimitOrders: boolean
}

const ordersAt = (data: Uint8Array, at: number, side: BinSide): ReadonlyArray<bigint> => {
  const ordersSellX = data[at + dlmmBinAt.ordersSellX] !== 0
  return side.takesLimitOrders && ordersSellX !== side.sellsX
    ? [readU64(data, at + dlmmBinAt.processedOrders), readU64(data, at + dlmmBinAt.openOrders)]
    : []
}

/** Reads a bin of an array account. Null when the bin offers nothing. */
export const readBin = (data: Uint8Array, binId: number, side: BinSide): Bin | null => {
  const at = dlmmBinOffset(binId)
  const provided = readU64(data, at + (side.sellsX ? dlmmBinAt.amountY : dlmmBinAt.amountX))
  const layers = [provided, ...ordersAt(data, at, side)].filter((amount) => amount > 0n)
  if (layers.length === 0) {
    return null
  }
  return { id: binId, price: readU128(data, at + dlmmBinAt.price), layers }
}

/** Why the account is not this array of the pair; null when it is. `pair` is the pair's address as bytes. */
export const binArrayFault = (
  { address, data, owner }: OnChainAccount,
  pair: Uint8Array,
  index: number
): Unpriceable | null => {
  if (owner !== DLMM_PROGRAM || data.length < BIN_ARRAY_LENGTH || !hasDiscriminator(data, BIN_ARRAY_DISCRIMINATOR)) {
    return malformed(`${address} is not a BinArray`)
  }
  return readI64(data, dlmmBinArrayAt.index) === BigInt(index) &&
    pair.every((byte, i) => data[dlmmBinArrayAt.pair + i] === byte)
    ? null
    : malformed(`${address} is not bin array ${index} of its pair`)
}
