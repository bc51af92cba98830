/** Prices of tokens of a block, which value swaps of two tokens, from the swaps of tokens against SOL or dollars up to and including it. */
import type { Fraction } from "./solPrice.ts"

/** A swap of a token against SOL, in lamports, or a dollar, in micro-dollars. */
export interface MoneySwap {
  readonly mint: string
  readonly second: number
  readonly units: bigint
  readonly money: bigint
  readonly isSol: boolean
}

/** Micro-dollars for the smallest unit of a mint. */
export interface PricedMint {
  readonly mint: string
  readonly price: Fraction
}

const NEWEST = 16
const SECONDS = 300
/** Micro-dollars of the swaps that price a token, at least. */
const LEAST = 10_000_000n
/** Nano-dollars for a SOL are this many times the micro-dollars for a lamport. */
const SCALE = 10n ** 12n

/** Nano-dollars of a SOL, rounded down; null when its price is unknown. */
export const solNanosOf = (sol: Fraction | null): bigint | null => {
  const nanos = sol === null ? 0n : (sol.numerator * SCALE) / sol.denominator
  return nanos > 0n ? nanos : null
}

/** Prices tokens in the order of the chain. */
export const makeTokenPrice = () => {
  const swaps = new Map<string, ReadonlyArray<MoneySwap>>()

  /** The lowest price at which half of the dollars are reached, and the dollars. */
  const priceOf = (mint: string, second: number, solNanos: bigint | null) => {
    const recent = (swaps.get(mint) ?? [])
      .filter((swap) => Math.abs(second - swap.second) <= SECONDS && (!swap.isSol || solNanos !== null))
      .map(({ isSol, money, units }) =>
        isSol
          ? {
              numerator: money * (solNanos ?? 0n),
              denominator: units * SCALE,
              dollars: (money * (solNanos ?? 0n)) / SCALE
            }
          : { numerator: money, denominator: units, dollars: money }
      )
      .toSorted((a, b) => {
        const order = a.numerator * b.denominator - b.numerator * a.denominator
        return order < 0n ? -1 : order > 0n ? 1 : 0
      })
    const total = recent.reduce((sum, { dollars }) => sum + dollars, 0n)
    let reached = 0n
    for (const { denominator, dollars, numerator } of total < LEAST ? [] : recent) {
      reached += dollars
      if (reached * 2n >= total) {
        return { mint, total, price: { numerator, denominator } }
      }
    }
    return null
  }

  return {
    /** Adds swaps in the order of the chain. */
    add: (found: ReadonlyArray<MoneySwap>): void => {
      for (const swap of found.filter(({ money, units }) => money > 0n && units > 0n)) {
        swaps.set(swap.mint, [...(swaps.get(swap.mint) ?? []), swap].slice(-NEWEST))
      }
    },
    /** The price of the one of two tokens that was swapped for more dollars; null when neither has one. */
    betterOf: (a: string, b: string, second: number, sol: Fraction | null): PricedMint | null => {
      const nanos = solNanosOf(sol)
      const [first, last] = [priceOf(a < b ? a : b, second, nanos), priceOf(a < b ? b : a, second, nanos)]
      return first === null || (last !== null && last.total > first.total) ? last : first
    }
  }
}
