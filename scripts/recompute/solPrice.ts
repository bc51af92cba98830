/** The price of SOL by the swaps of the chain, as docs/numbers.md states it. */
import { DOLLARS } from "./bars.ts"
import { type RawLeg, SOL } from "./legs.ts"

/** Micro-dollars for a lamport. */
export interface SolRate {
  readonly micros: bigint
  readonly lamports: bigint
}

interface SolSwap extends SolRate {
  readonly timeMs: number
}

const NEWEST = 64
const AGE_MS = 300_000

const swapOf = ({ input, output }: RawLeg, timeMs: number): ReadonlyArray<SolSwap> => {
  const [sol, dollars] = input.mint === SOL ? [input, output] : [output, input]
  return sol.mint === SOL && DOLLARS.includes(dollars.mint) && sol.amount > 0n && dollars.amount > 0n
    ? [{ micros: dollars.amount, lamports: sol.amount, timeMs }]
    : []
}

/** Follows the chain: each call gives the rate of a block, its own legs included; null when unknown. */
export const makeSolRate = (): ((legs: ReadonlyArray<RawLeg>, timeMs: number) => SolRate | null) => {
  let swaps: ReadonlyArray<SolSwap> = []
  return (legs, timeMs) => {
    swaps = [...swaps, ...legs.flatMap((leg) => swapOf(leg, timeMs))].slice(-NEWEST)
    const recent = swaps
      .filter((swap) => Math.abs(timeMs - swap.timeMs) <= AGE_MS)
      .toSorted((a, b) => Number(a.micros * b.lamports - b.micros * a.lamports))
    const total = recent.reduce((sum, { micros }) => sum + micros, 0n)
    let below = 0n
    return recent.find(({ micros }) => 2n * (below += micros) >= total) ?? null
  }
}
