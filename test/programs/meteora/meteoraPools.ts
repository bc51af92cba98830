/** Meteora pools as account bytes, at the offsets that the decoders read. */
import { plainMint } from "../../../src/programs/layout/tokenAccount.ts"
import { discriminator, type Field, makeAccount } from "../../../src/quotes/execution/makeAccount.ts"
import { dammV2At } from "../../../src/programs/meteora/dammV2State.ts"
import { dbcConfigAt, dbcPoolAt } from "../../../src/programs/meteora/dbcState.ts"
import {
  type Bin,
  BIN_ARRAY_LENGTH,
  BINS_PER_ARRAY,
  binArrayIndexOf,
  binPrice,
  dlmmBinArrayAt,
  dlmmBinAt
} from "../../../src/programs/meteora/dlmmBins.ts"
import { INTERNAL_ARRAYS } from "../../../src/programs/meteora/dlmmBitmap.ts"
import { type DlmmPair, dlmmPairAt, readDlmmPair } from "../../../src/programs/meteora/dlmmPair.ts"
import { meteoraDammV2 } from "../../../src/programs/meteora/dammV2.ts"
import { meteoraDbc } from "../../../src/programs/meteora/dbc.ts"
import { dlmmBins, meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import type { Accounts } from "../../../src/programs/interface/Program.ts"
import { isFailure } from "../../../src/programs/layout/unpriceable.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { type Address, addressFromBytes, addressToBytes, SOL, USDC } from "../../../src/domain/Address.ts"
import { derive } from "../stateAccounts.ts"

/** A pool and everything it is priced from. No other account exists. */
export interface SyntheticPool {
  readonly pool: OnChainAccount
  readonly accounts: Accounts
}

const POOL = addressFromBytes(new Uint8Array(32).fill(21))
const CONFIG = addressFromBytes(new Uint8Array(32).fill(22))

const holding = (...given: ReadonlyArray<OnChainAccount>): Accounts => {
  const known = new Map([plainMint(SOL), plainMint(USDC), ...given].map((account) => [account.address, account]))
  return (address) => known.get(address) ?? null
}

/** The SOL-USDC pool CGPxT5d1… as on mainnet in August 2025, with fields changed. */
export const dammV2With = (
  fields: ReadonlyArray<Field> = [],
  mints: ReadonlyArray<OnChainAccount> = []
): SyntheticPool => ({
  pool: makeAccount(POOL, meteoraDammV2.programId, 1112, [
    [0, discriminator("f19a6d0411b16dbc")],
    [dammV2At.cliffRate, 2_500_000n],
    [dammV2At.protocolFeePercent, 20n, 1],
    [dammV2At.volatilityOn, 1n, 1],
    [dammV2At.volatilityMaximum, 14_460_000n, 4],
    [dammV2At.volatilityControl, 239n, 4],
    [dammV2At.binStep, 1n, 2],
    [dammV2At.filterPeriod, 10n, 2],
    [dammV2At.decayPeriod, 120n, 2],
    [dammV2At.volatilityReduction, 5000n, 2],
    [dammV2At.volatilityUpdatedAt, 1_754_982_384n],
    [dammV2At.binStepQ64, 1_844_674_407_370_955n, 16],
    [dammV2At.sqrtPriceReference, 7_719_701_637_598_818_829n, 16],
    [dammV2At.mintA, addressToBytes(SOL)],
    [dammV2At.mintB, addressToBytes(USDC)],
    [dammV2At.liquidity, 21_830_383_613_350_470_439_031_406_464_025n, 16],
    [dammV2At.sqrtMinPrice, 4_124_817_371_235_594_858n, 16],
    [dammV2At.sqrtMaxPrice, 13_043_817_825_332_782_212n, 16],
    [dammV2At.sqrtPrice, 7_719_906_012_023_913_040n, 16],
    [dammV2At.activationPoint, 1_747_446_361n],
    [dammV2At.activationType, 1n, 1],
    [dammV2At.collectFeeMode, 1n, 1],
    ...fields
  ]),
  accounts: holding(...mints)
})

/** A bonding curve of two stretches, as the pool 64Vqtn4q… in June 2025, with fields changed. */
export const dbcWith = (
  poolFields: ReadonlyArray<Field> = [],
  configFields: ReadonlyArray<Field> = [],
  mints: ReadonlyArray<OnChainAccount> = []
): SyntheticPool => {
  const config = makeAccount(CONFIG, meteoraDbc.programId, 1048, [
    [0, discriminator("1a6c0e7b74e6812b")],
    [dbcConfigAt.quoteMint, addressToBytes(SOL)],
    [dbcConfigAt.cliffRate, 10_000_000n],
    [dbcConfigAt.activationType, 0n, 1],
    [dbcConfigAt.migrationQuoteThreshold, 87_945_796_097n],
    [dbcConfigAt.migrationSqrtPrice, 396_872_004_136_210_017n, 16],
    [dbcConfigAt.sqrtStartPrice, 93_093_434_311_777_005n, 16],
    [dbcConfigAt.curve, 396_872_004_136_210_017n, 16],
    [dbcConfigAt.curve + 16, 98_513_873_687_433_501_010_784_206_652_497n, 16],
    [dbcConfigAt.curve + 32, 79_226_673_521_066_979_257_578_248_091n, 16],
    [dbcConfigAt.curve + 48, 3_477_379_006_610_750_852_725_436n, 16],
    ...configFields
  ])
  const pool = makeAccount(POOL, meteoraDbc.programId, 424, [
    [0, discriminator("d5e005d16245775c")],
    [dbcPoolAt.config, addressToBytes(CONFIG)],
    [dbcPoolAt.baseMint, addressToBytes(USDC)],
    [dbcPoolAt.baseReserve, 781_359_557_863_101n],
    [dbcPoolAt.quoteReserve, 7_018_473_489n],
    [dbcPoolAt.sqrtPrice, 117_336_341_276_038_830n, 16],
    ...poolFields
  ])
  return { pool, accounts: holding(config, ...mints) }
}

/** Amounts of one bin. Orders are on the side that `ordersSellX` names. */
export interface PlannedBin {
  readonly id: number
  readonly x?: bigint
  readonly y?: bigint
  readonly processed?: bigint
  readonly open?: bigint
  readonly ordersSellX?: boolean
  /** The price of the bin at 10 basis points a bin when absent. */
  readonly price?: bigint
}

const binFields = (bin: PlannedBin): ReadonlyArray<Field> => {
  const at = dlmmBinArrayAt.bins + (bin.id - binArrayIndexOf(bin.id) * BINS_PER_ARRAY) * dlmmBinArrayAt.binSize
  return [
    [at + dlmmBinAt.amountX, bin.x ?? 0n],
    [at + dlmmBinAt.amountY, bin.y ?? 0n],
    [at + dlmmBinAt.price, bin.price ?? binPrice(bin.id, 10) ?? 0n, 16],
    [at + dlmmBinAt.processedOrders, bin.processed ?? 0n],
    [at + dlmmBinAt.openOrders, bin.open ?? 0n],
    [at + dlmmBinAt.ordersSellX, bin.ordersSellX === true ? 1n : 0n, 1]
  ]
}

/** The address of a pair's bin array. */
export const binArrayAt = (index: number): Address => {
  const seed = new Uint8Array(8)
  new DataView(seed.buffer).setBigInt64(0, BigInt(index), true)
  return derive(meteoraDlmm.programId, [new TextEncoder().encode("bin_array"), addressToBytes(POOL), seed])
}

/** The address of the pair's bitmap extension. */
export const bitmapExtensionAt = (): Address =>
  derive(meteoraDlmm.programId, [new TextEncoder().encode("bitmap"), addressToBytes(POOL)])

/** The account of one bin array. */
export const binArrayWith = (index: number, bins: ReadonlyArray<PlannedBin>): OnChainAccount =>
  makeAccount(binArrayAt(index), meteoraDlmm.programId, BIN_ARRAY_LENGTH, [
    [0, discriminator("5c8e5cdc059446b5")],
    [dlmmBinArrayAt.index, BigInt(index)],
    [dlmmBinArrayAt.pair, addressToBytes(POOL)],
    ...bins.flatMap(binFields)
  ])

const bitmapFields = (indexes: ReadonlyArray<number>): ReadonlyArray<Field> => {
  let bits = 0n
  for (const index of indexes) {
    bits |= 1n << BigInt(index + INTERNAL_ARRAYS)
  }
  return [[dlmmPairAt.bitmap, bits, 128]]
}

/**
 * A pair at bin 0 with a base fee of 1 % and 10 basis points a bin, its arrays marked in its bitmap, and fields
 * changed.
 */
export const dlmmWith = (
  bins: ReadonlyArray<PlannedBin>,
  fields: ReadonlyArray<Field> = [],
  others: ReadonlyArray<OnChainAccount> = []
): SyntheticPool => {
  const arrays = Map.groupBy(bins, ({ id }) => binArrayIndexOf(id))
  const internal = [...arrays.keys()].filter((index) => index >= -INTERNAL_ARRAYS && index < INTERNAL_ARRAYS)
  const pool = makeAccount(POOL, meteoraDlmm.programId, 904, [
    [0, discriminator("210b3162b565b10d")],
    [dlmmPairAt.baseFactor, 10_000n, 2],
    [dlmmPairAt.filterPeriod, 10n, 2],
    [dlmmPairAt.decayPeriod, 120n, 2],
    [dlmmPairAt.reduction, 5000n, 2],
    [dlmmPairAt.volatilityMaximum, 350_000n, 4],
    [dlmmPairAt.baseFeePower, 1n, 1],
    [dlmmPairAt.binStep, 10n, 2],
    [dlmmPairAt.mintX, addressToBytes(SOL)],
    [dlmmPairAt.mintY, addressToBytes(USDC)],
    ...bitmapFields(internal),
    ...fields
  ])
  const accounts = Array.from(arrays, ([index, planned]) => binArrayWith(index, planned))
  return { pool, accounts: holding(...accounts, ...others) }
}

/** The state of a pair account, or the test fails. */
export const dlmmPairOf = (data: Uint8Array): DlmmPair => {
  const pair = readDlmmPair(data)
  if (isFailure(pair)) {
    throw new Error(pair.detail)
  }
  return pair
}

/** The bins of one direction, or the test fails. */
export const dlmmBinsOf = (pool: OnChainAccount, accounts: Accounts, sellsX: boolean): ReadonlyArray<Bin> => {
  const bins = dlmmBins(pool, accounts, derive, dlmmPairOf(pool.data), sellsX)
  if (isFailure(bins)) {
    throw new Error(bins.detail)
  }
  return [...bins]
}
