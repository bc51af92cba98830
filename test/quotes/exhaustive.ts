import type { Pool } from "../../src/programs/interface/Program.ts"
import type { ChainClock } from "../../src/domain/OnChainAccount.ts"
import type { Mint } from "../../src/domain/Address.ts"
import type { Trade } from "../../src/quotes/bestPath.ts"

/** Output of the best path, found by trying every path without a repeated mint. Zero when none fills. */
export const exhaustive = (
  pools: ReadonlyArray<Pool>,
  { inputMint, outputMint, amount, maxHops }: Trade,
  clock: ChainClock
): bigint => {
  const walk = (mint: Mint, held: bigint, hops: number, seen: ReadonlyArray<Mint>): bigint => {
    if (mint === outputMint || hops === maxHops) {
      return mint === outputMint ? held : 0n
    }
    return pools.reduce((most, pool) => {
      const next = pool.mintA === mint ? pool.mintB : pool.mintB === mint ? pool.mintA : null
      if (next === null || seen.includes(next)) {
        return most
      }
      const swap = pool.swap(pool.mintA === mint, held, clock)
      const end = swap.ending === "filled" ? walk(next, swap.amountOut, hops + 1, [...seen, next]) : 0n
      return end > most ? end : most
    }, 0n)
  }
  return walk(inputMint, amount, 0, [inputMint])
}
