/** The price of SOL of a block, from the swaps of SOL against dollars up to and including it. */

/** An exact price: micro-dollars for a lamport. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** A swap of SOL against dollars: micro-dollars and lamports. */
export interface SolSwap {
  readonly second: number
  readonly micros: bigint
  readonly lamports: bigint
}

const NEWEST = 64
const SECONDS = 300

/** Prices blocks in the order of the chain. */
export const makeSolPrice = () => {
  let swaps: ReadonlyArray<SolSwap> = []
  return {
    /** Adds swaps in the order of the chain. */
    add: (found: ReadonlyArray<SolSwap>) => {
      swaps = [...swaps, ...found.filter(({ lamports, micros }) => lamports > 0n && micros > 0n)].slice(-NEWEST)
    },
    /** The lowest price at which half of the dollars are reached; null without a swap of the five minutes around. */
    at: (second: number): Fraction | null => {
      const recent = swaps
        .filter((swap) => Math.abs(second - swap.second) <= SECONDS)
        .toSorted((a, b) => {
          const order = a.micros * b.lamports - b.micros * a.lamports
          return order < 0n ? -1 : order > 0n ? 1 : 0
        })
      const total = recent.reduce((sum, { micros }) => sum + micros, 0n)
      let reached = 0n
      for (const { lamports, micros } of recent) {
        reached += micros
        if (reached * 2n >= total) {
          return { numerator: micros, denominator: lamports }
        }
      }
      return null
    }
  }
}
