/** Meteora DLMM: MeteoraAg/dlmm-sdk, commons/src at fb02e51. Token A is X, token B is Y. */
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { type Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { hasDiscriminator, readAddress, readI32, readU64 } from "../math/bytes.ts"
import {
  type Bin,
  binArrayAddress,
  binArrayFault,
  binArrayIndexOf,
  type BinSide,
  BINS_PER_ARRAY,
  readBin
} from "./dlmmBins.ts"
import { type BinArraysAhead, binArraysAhead, isBitmapExtension } from "./dlmmBitmap.ts"
import { dlmmOverflows, dlmmRate, type DlmmReference, dlmmReference } from "./dlmmFees.ts"
import {
  DLMM_PAIR_DISCRIMINATOR,
  DLMM_PAIR_LENGTH,
  DLMM_PROGRAM,
  dlmmPairAt,
  type DlmmPair,
  readDlmmPair
} from "./dlmmPair.ts"
import { namedVaults } from "../math/namedVaults.ts"
import { utf8 } from "../math/pack.ts"
import { type DlmmTotals, type Ladder, makeLadder, makeTable } from "./dlmmTable.ts"
import { dlmmFeeRate, dlmmInputTo } from "./dlmmDepth.ts"
import { FEE_DENOMINATOR } from "./fees.ts"
import { readMintFees, reservesOf } from "../math/tokenAccount.ts"
import { transfersOf, WHOLE } from "../math/transferFee.ts"
import type { Accounts, DeriveAddress, Pool, Program, Rate, Swap, Unpriceable } from "../Program.ts"
import { incomplete, isFailure, malformed } from "../math/unpriceable.ts"

const programId = DLMM_PROGRAM
const dex = "meteora-dlmm"

/** Arrays with liquidity in one direction, the active one included: more than a transaction can cross. */
const REACH = 4

const REFUSED: Swap = { ending: "refused", amountIn: 0n, amountOut: 0n }
const BITMAP_SEED = utf8("bitmap")

const isDlmmPair = ({ data, owner }: OnChainAccount): boolean =>
  owner === programId && data.length >= DLMM_PAIR_LENGTH && hasDiscriminator(data, DLMM_PAIR_DISCRIMINATOR)

const poolsOf = (mint: Mint) =>
  [dlmmPairAt.mintX, dlmmPairAt.mintY].map((offset) => ({
    dataSize: DLMM_PAIR_LENGTH,
    matches: [{ offset, bytes: addressToBytes(mint) }]
  }))

/** The sources from which the arrays of a pair are read. */
interface Site {
  readonly pool: OnChainAccount
  /** The pair's address. */
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

/** The arrays in one direction. The extension is only looked up when the pair's own bitmap does not name enough. */
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

/** Vaults less the fees owed to the protocol. Fees owed to positions stay in: the pair does not sum them. */
const readReserves = ({ data }: OnChainAccount, accounts: Accounts) => {
  const sideOf = (vault: number, mint: number, fee: number) => ({
    address: readAddress(data, vault),
    mint: readAddress(data, mint),
    owed: readU64(data, fee)
  })
  const at = dlmmPairAt
  return reservesOf(
    accounts,
    sideOf(at.reserveX, at.mintX, at.protocolFeeX),
    sideOf(at.reserveY, at.mintY, at.protocolFeeY)
  )
}

interface BinArray {
  readonly index: number
  readonly data: Uint8Array
  readonly slot: number
}

/** The arrays of one direction up to the first that the bitmap names and that does not exist: bins behind it are unknown. */
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
      // The program does not compute a price that the account lacks. A sale of X fails there by a division by zero, so that
      // its bins end; a purchase of X passes over the bin.
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

/** The bins of one direction in the order a swap comes to them, up to the last known array. */
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

/** One table per reference. A pair that stands still knows three at most, as time passes over its filter and decay periods. */
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

/** The last known bin of a direction; null when no array with liquidity lies beyond the known ones. */
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
  const tokenX = readMintFees(accounts, mintA, data[dlmmPairAt.tokenFlagX] !== 0)
  if (isFailure(tokenX)) {
    return tokenX
  }
  const tokenY = readMintFees(accounts, mintB, data[dlmmPairAt.tokenFlagY] !== 0)
  if (isFailure(tokenY)) {
    return tokenY
  }
  const site = siteOf(pool, accounts, derive)
  const below = readArrays(site, true)
  if (isFailure(below)) {
    return below
  }
  const above = readArrays(site, false)
  if (isFailure(above)) {
    return above
  }
  const directionOf = (sellsX: boolean) => {
    const side = { sellsX, takesLimitOrders: pair.takesLimitOrders }
    const ladder = makeLadder(sellsX, binsOf(pair, sellsX ? below : above, side))
    const transfers = sellsX ? transfersOf(tokenX.fees, tokenY.fees) : transfersOf(tokenY.fees, tokenX.fees)
    return { ladder, transfers, quote: makeDirection(pair, ladder) }
  }
  const reserves = readReserves(pool, accounts)
  const edgeOf = (sellsX: boolean) => edgeOfArrays(site, sellsX, sellsX ? below : above)
  const selling = directionOf(true)
  const buying = directionOf(false)
  return {
    address,
    dex,
    mintA,
    mintB,
    slot: Math.max(pool.slot, tokenX.slot, tokenY.slot, ...[...below, ...above].map(({ slot }) => slot)),
    ...(reserves === undefined ? {} : { reserves }),
    swap: (aToB, amountIn, clock) => {
      const { quote, transfers } = aToB ? selling : buying
      const received = transfers.received(amountIn, clock.epoch)
      if (received === 0n || !isOpen(pair, clock) || dlmmOverflows(pair, clock.unixTimestamp)) {
        return REFUSED
      }
      const totals = quote(dlmmReference(pair, clock.unixTimestamp), received)
      const amountOut = transfers.paid(totals.amountOut, clock.epoch)
      if (!totals.complete) {
        return { ending: "exhausted", amountIn: transfers.sent(totals.amountIn, clock.epoch), amountOut }
      }
      return amountOut > 0n ? { ending: "filled", amountIn, amountOut } : REFUSED
    },
    marginalRate: (aToB, clock) => {
      const { ladder, transfers } = aToB ? selling : buying
      const { denominator, numerator } = slope(pair, ladder, dlmmReference(pair, clock.unixTimestamp))
      return { numerator: numerator * transfers.kept(clock.epoch), denominator: denominator * WHOLE }
    },
    feeRate: (_aToB, clock) => dlmmFeeRate(pair, clock.unixTimestamp),
    inputTo: (aToB, share, clock) => {
      const { ladder, transfers } = aToB ? selling : buying
      if (dlmmOverflows(pair, clock.unixTimestamp)) {
        return { amountIn: 0n, complete: true }
      }
      const reference = dlmmReference(pair, clock.unixTimestamp)
      const { amountIn, complete } = dlmmInputTo(pair, ladder, share, reference, edgeOf(aToB))
      return { amountIn: transfers.sent(amountIn, clock.epoch), complete }
    }
  }
}

/** Meteora DLMM pairs of every kind and fee mode, limit orders included. */
export const meteoraDlmm: Program = {
  dex,
  programId,
  poolsOf,
  vaultsOf: namedVaults(
    { mint: dlmmPairAt.mintX, vault: dlmmPairAt.reserveX },
    { mint: dlmmPairAt.mintY, vault: dlmmPairAt.reserveY }
  ),
  isPool: isDlmmPair,
  needs,
  decode
}
