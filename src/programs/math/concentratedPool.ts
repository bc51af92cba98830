/** Concentrated-liquidity pools as `Pool`: quotes from price tables, with the transfer fees of the mints around them. */
import type { ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { MAX_U64 } from "../../domain/Amount.ts"
import { refused } from "./constantProduct.ts"
import type { SwapPath } from "./swapPath.ts"
import { beforeTransfer, type Transfers, transfersOf } from "./transferFee.ts"
import { makePriceTable, type PriceTable } from "./priceTable.ts"
import { FEE_DENOMINATOR } from "./concentrated.ts"
import { pathInputTo } from "./priceMove.ts"
import type { Accounts, Pool, PriceMove, Swap, Unpriceable } from "../Program.ts"
import { type MintFees, readMintFees } from "./tokenAccount.ts"
import { swapSteps } from "./swapSteps.ts"
import { isFailure } from "./unpriceable.ts"

/** Both directions of a pool. Down sells A. */
export interface Directions<A> {
  readonly down: A
  readonly up: A
}

/** Input of `makeConcentratedPool`. */
export interface ConcentratedPool {
  readonly address: Address
  readonly dex: string
  readonly mintA: Mint
  readonly mintB: Mint
  readonly slot: number
  /** Balances of the vaults less fees owed; absent while they have not been read. */
  readonly reserves?: readonly [bigint, bigint] | undefined
  readonly feesA: MintFees
  readonly feesB: MintFees
  /** Prices at this clock; null while the program rejects every swap. */
  readonly tables: (clock: ChainClock) => Directions<PriceTable> | null
  /** True when the program refuses a swap whose output is zero. */
  readonly refusesZeroOutput: boolean
  /** Swap paths at this clock, for exact output and depth. */
  readonly paths?: (clock: ChainClock) => Directions<SwapPath> | null
}

/** The price tables of swap paths, cached for as long as the paths at a clock stay the same objects. */
const memoTables = (at: (clock: ChainClock) => Directions<SwapPath> | null) => {
  const known = new WeakMap<Directions<SwapPath>, Directions<PriceTable>>()
  return (clock: ChainClock): Directions<PriceTable> | null => {
    const swapPaths = at(clock)
    if (swapPaths === null) {
      return null
    }
    const found = known.get(swapPaths)
    if (found !== undefined) {
      return found
    }
    const tables = { down: makePriceTable(swapPaths.down), up: makePriceTable(swapPaths.up) }
    known.set(swapPaths, tables)
    return tables
  }
}

const sell = (
  pool: ConcentratedPool,
  transfers: Transfers,
  quote: PriceTable["quote"],
  amountIn: bigint,
  epoch: number
): Swap => {
  const received = transfers.received(amountIn, epoch)
  if (received <= 0n || received > MAX_U64) {
    return refused
  }
  const inner = quote(received)
  if (inner.ending === "refused" || (inner.ending === "filled" && inner.amountOut === 0n && pool.refusesZeroOutput)) {
    return refused
  }
  const taken = inner.ending === "filled" ? amountIn : transfers.sent(inner.amountIn, epoch)
  return { ending: inner.ending, amountIn: taken, amountOut: transfers.paid(inner.amountOut, epoch) }
}

const buy = (pool: ConcentratedPool, aToB: boolean, swapPath: SwapPath, amountOut: bigint, epoch: number): Swap => {
  const [input, output] = aToB ? [pool.feesA.fees, pool.feesB.fees] : [pool.feesB.fees, pool.feesA.fees]
  const gross = beforeTransfer(output, amountOut, epoch)
  if (gross <= 0n || gross > MAX_U64) {
    return refused
  }
  const { amountIn, amountOut: paid, ending } = swapSteps(swapPath, gross, false)
  const sent = beforeTransfer(input, amountIn, epoch)
  const nothing = amountIn === 0n && pool.refusesZeroOutput
  if (ending === "refused" || sent > MAX_U64 || (ending === "filled" && nothing)) {
    return refused
  }
  return { ending, amountIn: sent, amountOut: transfersOf(input, output).paid(paid, epoch) }
}

const NO_MOVE: PriceMove = { amountIn: 0n, complete: true }

/** Methods that need the swap paths themselves. */
const pathMethods = (
  pool: ConcentratedPool,
  paths: NonNullable<ConcentratedPool["paths"]>,
  transfers: Directions<Transfers>
): Required<Pick<Pool, "swapExactOut" | "feeRate" | "inputTo">> => {
  const pathAt = (aToB: boolean, clock: ChainClock) => (aToB ? paths(clock)?.down : paths(clock)?.up)
  return {
    swapExactOut: (aToB, amountOut, clock) => {
      const swapPath = pathAt(aToB, clock)
      return swapPath === undefined ? refused : buy(pool, aToB, swapPath, amountOut, clock.epoch)
    },
    feeRate: (aToB, clock) => {
      const swapPath = pathAt(aToB, clock)
      const numerator = swapPath?.fee().rateToward(swapPath.sqrtPrice, swapPath.liquidity).feeRate
      return numerator === undefined ? { numerator: 0n, denominator: 0n } : { numerator, denominator: FEE_DENOMINATOR }
    },
    inputTo: (aToB, share, clock) => {
      const swapPath = pathAt(aToB, clock)
      if (swapPath === undefined) {
        return NO_MOVE
      }
      const { amountIn, complete } = pathInputTo(swapPath, share)
      return { amountIn: (aToB ? transfers.down : transfers.up).sent(amountIn, clock.epoch), complete }
    }
  }
}

/** The pool that engines quote. */
export const makeConcentratedPool = (pool: ConcentratedPool): Pool => {
  const { address, dex, paths, reserves, feesA, feesB, mintA, mintB, tables } = pool
  const down = transfersOf(feesA.fees, feesB.fees)
  const up = transfersOf(feesB.fees, feesA.fees)
  return {
    address,
    dex,
    mintA,
    mintB,
    slot: Math.max(pool.slot, feesA.slot, feesB.slot),
    ...(reserves === undefined ? {} : { reserves }),
    swap: (aToB, amountIn, clock) => {
      const sides = tables(clock)
      return sides === null
        ? refused
        : sell(pool, aToB ? down : up, (aToB ? sides.down : sides.up).quote, amountIn, clock.epoch)
    },
    marginalRate: (aToB, clock) => {
      const sides = tables(clock)
      const rate = (aToB ? sides?.down : sides?.up)?.marginalRate()
      return rate === undefined
        ? { numerator: 0n, denominator: 1n }
        : {
            numerator: rate.numerator * (aToB ? down : up).kept(clock.epoch),
            denominator: rate.denominator * 100_000_000n
          }
    },
    ...(paths === undefined ? {} : pathMethods(pool, paths, { down, up }))
  }
}

/** Reads the transfer fees of both mints and makes the pool, whose swap paths at a clock are `at`. */
export const decodeConcentratedPool = (
  accounts: Accounts,
  pool: Omit<ConcentratedPool, "feesA" | "feesB" | "tables" | "paths">,
  at: (clock: ChainClock) => Directions<SwapPath> | null
): Pool | Unpriceable => {
  const feesA = readMintFees(accounts, pool.mintA)
  if (isFailure(feesA)) {
    return feesA
  }
  const feesB = readMintFees(accounts, pool.mintB)
  if (isFailure(feesB)) {
    return feesB
  }
  return makeConcentratedPool({ ...pool, feesA, feesB, tables: memoTables(at), paths: at })
}
