/**
 * Writes Meteora accounts after a swap: copies the old bytes and sets the fields that prices depend on, and protocol
 * fees. Earnings of liquidity providers are not tracked.
 */
import { BPS } from "../../domain/units.ts"
import { dammV2At, type DammV2State } from "./dammV2State.ts"
import { dbcPoolAt, type DbcState } from "./dbcState.ts"
import { splitDbcFee } from "./dbcSwap.ts"
import type { Fill } from "./fill.ts"
import { binArrayIndexOf, dlmmBinAt, dlmmBinOffset } from "./dlmmBins.ts"
import { dlmmPairAt, type DlmmPair } from "./dlmmPair.ts"
import type { BinFill } from "./dlmmSwap.ts"
import { readU64, writeI32, writeI64, writeU128, writeU32, writeU64 } from "../layout/bytes.ts"
import type { Volatility, VolatilityOffsets } from "./volatility.ts"

const writeVolatility = (data: Uint8Array, at: VolatilityOffsets, volatility: Volatility): void => {
  writeU64(data, at.volatilityUpdatedAt, volatility.updatedAt)
  writeU128(data, at.sqrtPriceReference, volatility.sqrtPriceReference)
  writeU128(data, at.volatilityAccumulator, volatility.accumulator)
  writeU128(data, at.volatilityReference, volatility.reference)
}

const add = (data: Uint8Array, offset: number, amount: bigint): void =>
  writeU64(data, offset, readU64(data, offset) + amount)

export const writeDammV2 = (before: Uint8Array, state: DammV2State): Uint8Array => {
  const data = before.slice()
  writeVolatility(data, dammV2At, state.volatility)
  writeU128(data, dammV2At.sqrtPrice, state.sqrtPrice)
  writeU64(data, dammV2At.amountA, state.amountA)
  writeU64(data, dammV2At.amountB, state.amountB)
  writeU64(data, dammV2At.protocolFeeA, state.protocolFeeA)
  writeU64(data, dammV2At.protocolFeeB, state.protocolFeeB)
  data[dammV2At.layoutVersion] = state.countsAmounts ? 1 : 0
  return data
}

/** Writes a bonding-curve pool account after this fill. The caller handles a reached threshold. */
export const writeDbc = (before: Uint8Array, state: DbcState, sells: boolean, fill: Fill): Uint8Array => {
  const data = before.slice()
  const { creator, partner, protocol } = splitDbcFee(state, fill.fee)
  const inQuote = sells || state.feesInQuote
  writeVolatility(data, dbcPoolAt, state.volatility)
  writeU128(data, dbcPoolAt.sqrtPrice, state.sqrtPrice)
  writeU64(data, dbcPoolAt.baseReserve, state.baseReserve)
  writeU64(data, dbcPoolAt.quoteReserve, state.quoteReserve)
  add(data, inQuote ? dbcPoolAt.protocolQuoteFee : dbcPoolAt.protocolBaseFee, protocol)
  add(data, inQuote ? dbcPoolAt.partnerQuoteFee : dbcPoolAt.partnerBaseFee, partner)
  add(data, inQuote ? dbcPoolAt.creatorQuoteFee : dbcPoolAt.creatorBaseFee, creator)
  data[dbcPoolAt.hasSwap] = 1
  return data
}

/** Writes a DLMM pair account after these fills. */
export const writeDlmmPair = (
  before: Uint8Array,
  pair: DlmmPair,
  sellsX: boolean,
  fills: ReadonlyArray<BinFill>
): Uint8Array => {
  const data = before.slice()
  writeI32(data, dlmmPairAt.activeId, pair.activeId)
  writeU32(data, dlmmPairAt.volatilityAccumulator, pair.volatilityAccumulator)
  writeU32(data, dlmmPairAt.volatilityReference, pair.volatilityReference)
  writeI32(data, dlmmPairAt.indexReference, pair.indexReference)
  writeI64(data, dlmmPairAt.volatilityUpdatedAt, BigInt(pair.volatilityUpdatedAt))
  const inX = sellsX && !pair.feesInY
  for (const { fee } of fills) {
    add(data, inX ? dlmmPairAt.protocolFeeX : dlmmPairAt.protocolFeeY, (fee * pair.protocolShare) / BPS)
  }
  return data
}

/** Writes a DLMM bin array after its fills. Only provided liquidity moves; orders in bins are not tracked. */
export const writeBinArray = (
  before: Uint8Array,
  index: number,
  sellsX: boolean,
  fills: ReadonlyArray<BinFill>
): Uint8Array => {
  const data = before.slice()
  const [inAt, outAt] = sellsX ? [dlmmBinAt.amountX, dlmmBinAt.amountY] : [dlmmBinAt.amountY, dlmmBinAt.amountX]
  for (const { bin, grossOut, netIn } of fills) {
    if (binArrayIndexOf(bin.id) === index) {
      const at = dlmmBinOffset(bin.id)
      add(data, at + inAt, netIn)
      add(data, at + outAt, -grossOut)
    }
  }
  return data
}
