/**
 * Turns a concentrated-liquidity pool into a `Pool`: quotes come from price tables, with the mints' transfer fees
 * applied.
 */
import type { ChainClock } from "../../domain/OnChainAccount.ts"
import {
  type Accounts,
  type Pool,
  type PriceMove,
  type Rate,
  refused,
  type Swap,
  type Unpriceable
} from "../interface/Program.ts"
import { type PairFees, readPairFees } from "../layout/tokenAccount.ts"
import { isFailure } from "../layout/unpriceable.ts"
import { FEE_DENOMINATOR } from "./concentrated.ts"
import type { Directions } from "./directions.ts"
import { pathInputTo } from "./priceMove.ts"
import { makePriceTable, type PriceTable } from "./priceTable.ts"
import type { SwapPath } from "./swapPath.ts"
import { swapSteps } from "./swapSteps.ts"
import { withTransferFees } from "./transferFee.ts"

/** Input of `makeConcentratedPool`. */
export interface ConcentratedPool extends Pick<Pool, "address" | "dex" | "mintA" | "mintB" | "slot" | "reserves"> {
  /** True when the program refuses a swap with zero output. */
  readonly refusesZeroOutput: boolean
  /**
   * The swap paths at a clock. Returns the same objects while they do not change. Null while the program rejects
   * every swap.
   */
  readonly paths: (clock: ChainClock) => Directions<SwapPath> | null
}

/** Caches the price tables of swap paths for as long as the paths stay the same objects. */
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

const sideOf = <A>(sides: Directions<A> | null, aToB: boolean): A | undefined => (aToB ? sides?.down : sides?.up)

const NO_RATE: Rate = { numerator: 0n, denominator: 1n }
const NO_FEE: Rate = { numerator: 0n, denominator: 0n }
const NO_MOVE: PriceMove = { amountIn: 0n, complete: true }

/** Makes the pool that can be quoted. */
export const makeConcentratedPool = (pool: ConcentratedPool, mints: PairFees): Pool => {
  const { paths, refusesZeroOutput, slot, ...fields } = pool
  const tables = memoTables(paths)
  const unlessNothing = (swap: Swap, amount: bigint): Swap =>
    refusesZeroOutput && swap.ending === "filled" && amount === 0n ? refused : swap
  return {
    ...fields,
    slot: Math.max(slot, mints.slot),
    feeRate: (aToB, clock) => {
      const path = sideOf(paths(clock), aToB)
      return path === undefined
        ? NO_FEE
        : { numerator: path.fee().rateToward(path.sqrtPrice, path.liquidity).feeRate, denominator: FEE_DENOMINATOR }
    },
    ...withTransferFees(mints, {
      swap: (aToB, amountIn, clock) => {
        const swap = sideOf(tables(clock), aToB)?.quote(amountIn) ?? refused
        return unlessNothing(swap, swap.amountOut)
      },
      swapExactOut: (aToB, amountOut, clock) => {
        const path = sideOf(paths(clock), aToB)
        const swap = path === undefined ? refused : swapSteps(path, amountOut, false)
        return unlessNothing(swap, swap.amountIn)
      },
      marginalRate: (aToB, clock) => sideOf(tables(clock), aToB)?.marginalRate() ?? NO_RATE,
      inputTo: (aToB, share, clock) => {
        const path = sideOf(paths(clock), aToB)
        return path === undefined ? NO_MOVE : pathInputTo(path, share)
      }
    })
  }
}

/** Reads the transfer fees of both mints and makes the pool. */
export const decodeConcentratedPool = (accounts: Accounts, pool: ConcentratedPool): Pool | Unpriceable => {
  const mints = readPairFees(accounts, [pool.mintA, pool.mintB])
  return isFailure(mints) ? mints : makeConcentratedPool(pool, mints)
}
