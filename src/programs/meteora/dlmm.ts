/** Meteora DLMM: MeteoraAg/dlmm-sdk, commons/src at fb02e51. Token A is X, token B is Y. */
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { type Address, addressToBytes } from "../../domain/Address.ts"
import { hasDiscriminator, readAddress, readI32 } from "../layout/bytes.ts"
import {
  type Bin,
  binArrayAddress,
  binArrayFault,
  binArrayIndexOf,
  type BinSide,
  BINS_PER_ARRAY,
  readBin
} from "./dlmmBins.ts"
import { type BinArraysAhead, binArraysAhead, INTERNAL_ARRAYS, isBitmapExtension } from "./dlmmBitmap.ts"
import { dlmmOverflows, dlmmRate, type DlmmReference, dlmmReference } from "./dlmmFees.ts"
import {
  DLMM_PAIR_DISCRIMINATOR,
  DLMM_PAIR_LENGTH,
  DLMM_PROGRAM,
  dlmmPairAt,
  type DlmmPair,
  readDlmmPair
} from "./dlmmPair.ts"
import { addressesAt, namedVaults, poolsWithMintAt, sameFields } from "../layout/poolFields.ts"
import { utf8 } from "../layout/pack.ts"
import { type DlmmTotals, type Ladder, makeLadder, makeTable } from "./dlmmTable.ts"
import { dlmmFeeRate, dlmmInputTo } from "./dlmmDepth.ts"
import { FEE_DENOMINATOR } from "./fees.ts"
import { swapOf } from "./fill.ts"
import { readPairFees, reservesAt } from "../layout/tokenAccount.ts"
import { bothDirections } from "../math/directions.ts"
import { withTransferFees } from "../math/transferFee.ts"
import {
  type Accounts,
  type DeriveAddress,
  type Pool,
  type Program,
  type Rate,
  refused,
  type Unpriceable
} from "../interface/Program.ts"
import { incomplete, isFailure, malformed } from "../layout/unpriceable.ts"

const programId = DLMM_PROGRAM
const dex = "meteora-dlmm"

/**
 * How many arrays with liquidity are read in one direction, including the active one. A transaction cannot cross as
 * many.
 */
const REACH = 4

const BITMAP_SEED = utf8("bitmap")

const isDlmmPair = ({ data, owner }: OnChainAccount): boolean =>
  owner === programId && data.length >= DLMM_PAIR_LENGTH && hasDiscriminator(data, DLMM_PAIR_DISCRIMINATOR)

/** A pair, and what its arrays are read from. */
interface Site {
  readonly pool: OnChainAccount
  /** The pair's address as bytes. */
  readonly bytes: Uint8Array
  readonly accounts: Accounts
  readonly derive: DeriveAddress
}

const siteOf = (pool: OnChainAccount, accounts: Accounts, derive: DeriveAddress): Site => ({
  pool,
  bytes: addressToBytes(pool.address),
  accounts,
  derive
})

const extensionAddress = ({ bytes, derive }: Site): Address => derive(programId, [BITMAP_SEED, bytes])

/** The arrays in one direction. Reads the extension only when the pair's own bitmap does not name enough arrays. */
const arraysAhead = (site: Site, down: boolean): BinArraysAhead => {
  const { accounts, pool } = site
  const from = binArrayIndexOf(readI32(pool.data, dlmmPairAt.activeId))
  const inside = binArraysAhead(pool.data, undefined, from, down, REACH)
  const found = inside.needsExtension ? accounts(extensionAddress(site)) : undefined
  if (found === undefined) {
    return inside
  }
  const usable = found !== null && found.owner === programId && isBitmapExtension(found.data)
  return { ...binArraysAhead(pool.data, usable ? found.data : null, from, down, REACH), needsExtension: true }
}

const needs = (pool: OnChainAccount, accounts: Accounts, derive: DeriveAddress): ReadonlyArray<Address> => {
  if (!isDlmmPair(pool)) {
    return []
  }
  const site = siteOf(pool, accounts, derive)
  const below = arraysAhead(site, true)
  const above = arraysAhead(site, false)
  const indexes = new Set([...below.indexes, ...above.indexes])
  return [
    readAddress(pool.data, dlmmPairAt.mintX),
    readAddress(pool.data, dlmmPairAt.mintY),
    readAddress(pool.data, dlmmPairAt.reserveX),
    readAddress(pool.data, dlmmPairAt.reserveY),
    ...(below.needsExtension || above.needsExtension ? [extensionAddress(site)] : []),
    ...Array.from(indexes, (index) => binArrayAddress(site.derive, site.bytes, index))
  ]
}

const namesSame = sameFields([
  ...addressesAt(dlmmPairAt.mintX, dlmmPairAt.mintY, dlmmPairAt.reserveX, dlmmPairAt.reserveY),
  [dlmmPairAt.bitmap, (2 * INTERNAL_ARRAYS) / 8]
])

const activeArrayOf = ({ data }: OnChainAccount): number => binArrayIndexOf(readI32(data, dlmmPairAt.activeId))

/** The active bin moves with swaps, the array that it is in seldom. */
const keepsNeeds = (before: OnChainAccount, after: OnChainAccount): boolean =>
  before.data.length >= DLMM_PAIR_LENGTH && namesSame(before, after) && activeArrayOf(before) === activeArrayOf(after)

interface BinArray {
  readonly index: number
  readonly data: Uint8Array
  readonly slot: number
}

/**
 * The arrays in one direction, up to the first one that the bitmap names but that does not exist. Bins behind it are
 * unknown.
 */
const readArrays = (site: Site, down: boolean): ReadonlyArray<BinArray> | Unpriceable => {
  const { accounts, bytes, pool } = site
  const { indexes, needsExtension } = arraysAhead(site, down)
  if (needsExtension && accounts(extensionAddress(site)) === undefined) {
    return incomplete(`bitmap extension of ${pool.address} has not been read`)
  }
  const arrays: Array<BinArray> = []
  for (const index of indexes) {
    const address = binArrayAddress(site.derive, site.bytes, index)
    const account = accounts(address)
    if (account === undefined) {
      return incomplete(`bin array ${address} has not been read`)
    }
    if (account === null) {
      break
    }
    const fault = binArrayFault(account, bytes, index)
    if (fault !== null) {
      return fault
    }
    arrays.push({ index, data: account.data, slot: account.slot })
  }
  return arrays
}

function* binsOf(pair: DlmmPair, arrays: ReadonlyArray<BinArray>, side: BinSide): Generator<Bin, void> {
  const step = side.sellsX ? -1 : 1
  for (const { data, index } of arrays) {
    const first = index * BINS_PER_ARRAY
    const last = first + BINS_PER_ARRAY - 1
    const start = side.sellsX ? Math.min(pair.activeId, last) : Math.max(pair.activeId, first)
    for (let id = start; id >= first && id <= last; id += step) {
      const bin = readBin(data, id, side)
      // The program does not compute a price that the account lacks. A sale of X divides by zero there and fails, so
      // its bins end. A purchase of X skips the bin.
      if (bin?.price === 0n) {
        if (side.sellsX) {
          return
        }
        continue
      }
      if (bin !== null) {
        yield bin
      }
    }
  }
}

/** The bins of one direction in the order that a swap meets them, up to the last known array. */
export const dlmmBins = (
  pool: OnChainAccount,
  accounts: Accounts,
  derive: DeriveAddress,
  pair: DlmmPair,
  sellsX: boolean
): Iterable<Bin> | Unpriceable => {
  const arrays = readArrays(siteOf(pool, accounts, derive), sellsX)
  return isFailure(arrays) ? arrays : binsOf(pair, arrays, { sellsX, takesLimitOrders: pair.takesLimitOrders })
}

/**
 * Keeps one table per reference. While a pair is not traded it has at most three references, as its filter and decay
 * periods pass.
 */
const makeDirection = (pair: DlmmPair, ladder: Ladder) => {
  const tables: Array<{ readonly reference: DlmmReference; readonly quote: (amountIn: bigint) => DlmmTotals }> = []
  return (reference: DlmmReference, amountIn: bigint): DlmmTotals => {
    for (const table of tables) {
      if (table.reference.index === reference.index && table.reference.volatility === reference.volatility) {
        return table.quote(amountIn)
      }
    }
    const quote = makeTable(pair, reference, ladder)
    tables.push({ reference, quote })
    return quote(amountIn)
  }
}

const slope = (pair: DlmmPair, ladder: Ladder, reference: DlmmReference): Rate => {
  const bin = ladder.rungAt(0)?.bin
  if (bin === undefined) {
    return { numerator: 0n, denominator: 1n }
  }
  const kept = FEE_DENOMINATOR - dlmmRate(pair, reference, bin.id)
  const one = 1n << 64n
  return ladder.sellsX
    ? { numerator: bin.price * kept, denominator: one * FEE_DENOMINATOR }
    : { numerator: one * kept, denominator: bin.price * FEE_DENOMINATOR }
}

/** The last known bin in a direction. Null when no array with liquidity lies beyond the known ones. */
const edgeOfArrays = (site: Site, sellsX: boolean, arrays: ReadonlyArray<BinArray>): number | null => {
  const named = arraysAhead(site, sellsX).indexes.length
  const last = arrays.at(-1)
  if (named < REACH && arrays.length === named) {
    return null
  }
  if (last === undefined) {
    return readI32(site.pool.data, dlmmPairAt.activeId)
  }
  return sellsX ? last.index * BINS_PER_ARRAY : (last.index + 1) * BINS_PER_ARRAY - 1
}

const isOpen = ({ activatesBySlot, activationPoint }: DlmmPair, clock: ChainClock): boolean =>
  activationPoint === null || BigInt(activatesBySlot ? clock.slot : clock.unixTimestamp) >= activationPoint

const decode = (pool: OnChainAccount, accounts: Accounts, derive: DeriveAddress): Pool | Unpriceable => {
  const { address, data } = pool
  if (!isDlmmPair(pool)) {
    return malformed(`${address} is not an LbPair`)
  }
  const pair = readDlmmPair(data)
  if (isFailure(pair)) {
    return pair
  }
  const mintA = readAddress(data, dlmmPairAt.mintX)
  const mintB = readAddress(data, dlmmPairAt.mintY)
  const mints = readPairFees(
    accounts,
    [mintA, mintB],
    [data[dlmmPairAt.tokenFlagX] !== 0, data[dlmmPairAt.tokenFlagY] !== 0]
  )
  if (isFailure(mints)) {
    return mints
  }
  const site = siteOf(pool, accounts, derive)
  const arrays = bothDirections((down) => readArrays(site, down))
  if (isFailure(arrays)) {
    return arrays
  }
  const directionOf = (sellsX: boolean) => {
    const own = sellsX ? arrays.down : arrays.up
    const ladder = makeLadder(sellsX, binsOf(pair, own, { sellsX, takesLimitOrders: pair.takesLimitOrders }))
    return { ladder, quote: makeDirection(pair, ladder), edge: () => edgeOfArrays(site, sellsX, own) }
  }
  const selling = directionOf(true)
  const buying = directionOf(false)
  return {
    address,
    dex,
    mintA,
    mintB,
    slot: Math.max(pool.slot, mints.slot, ...[...arrays.down, ...arrays.up].map(({ slot }) => slot)),
    // Includes fees owed to positions, because the pair does not sum them.
    ...reservesAt(
      accounts,
      data,
      { mint: mintA, vault: dlmmPairAt.reserveX, owed: [dlmmPairAt.protocolFeeX] },
      { mint: mintB, vault: dlmmPairAt.reserveY, owed: [dlmmPairAt.protocolFeeY] }
    ),
    ...withTransferFees(
      mints,
      {
        feeRate: (_aToB, clock) => dlmmFeeRate(pair, clock.unixTimestamp),
        swap: (aToB, amountIn, clock) => {
          if (!isOpen(pair, clock) || dlmmOverflows(pair, clock.unixTimestamp)) {
            return refused
          }
          return swapOf((aToB ? selling : buying).quote(dlmmReference(pair, clock.unixTimestamp), amountIn))
        },
        marginalRate: (aToB, clock) =>
          slope(pair, (aToB ? selling : buying).ladder, dlmmReference(pair, clock.unixTimestamp)),
        inputTo: (aToB, share, clock) => {
          if (dlmmOverflows(pair, clock.unixTimestamp)) {
            return { amountIn: 0n, complete: true }
          }
          const { edge, ladder } = aToB ? selling : buying
          const reference = dlmmReference(pair, clock.unixTimestamp)
          return dlmmInputTo(pair, ladder, share, reference, edge())
        }
      },
      true
    )
  }
}

/** Meteora DLMM pairs of every kind and fee mode, including limit orders. */
export const meteoraDlmm: Program = {
  dex,
  programId,
  poolsOf: poolsWithMintAt(DLMM_PAIR_LENGTH, dlmmPairAt.mintX, dlmmPairAt.mintY),
  vaultsOf: namedVaults(
    { mint: dlmmPairAt.mintX, vault: dlmmPairAt.reserveX },
    { mint: dlmmPairAt.mintY, vault: dlmmPairAt.reserveY }
  ),
  isPool: isDlmmPair,
  needs,
  keepsNeeds,
  decode
}
