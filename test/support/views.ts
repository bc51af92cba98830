/** Fixtures of the ranking tests: a busy market, and pools for it. */
import type { Pool } from "../../src/programs/interface/Program.ts"
import { type Mint, SOL } from "../../src/domain/Address.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { mintOf, MONDAY, trade, walletOf } from "../market/tape/tape.ts"
import { poolOf } from "../market/tape/decoded.ts"
import type { Books } from "./reads.ts"

export const DOLLAR = 1_000_000_000n

/** A trade so many seconds after `MONDAY`. */
export const at = (second: number, given: Partial<TapeTrade> = {}): TapeTrade =>
  trade({ timeMs: (MONDAY + second) * 1000, slot: 1000 + second, ...given })

/** A pool that states its reserves and prices nothing by itself. */
export const poolWith = (mint: Mint, dex: string, reserves: readonly [bigint, bigint]): Pool => ({
  address: poolOf(1),
  dex,
  mintA: mint,
  mintB: SOL,
  slot: 1,
  reserves,
  swap: () => ({ ending: "refused", amountIn: 0n, amountOut: 0n }),
  marginalRate: () => ({ numerator: 1n, denominator: 1n })
})

/** So many micro-dollars for a unit of everything. */
export const priceAll = (books: Books, mints: ReadonlyArray<Mint>): void => {
  for (const mint of [...mints, SOL]) {
    books.prices.set(mint, { sol: { numerator: 1n, denominator: 1n }, usd: { numerator: 1n, denominator: 1n } })
  }
}

/**
 * Tokens 1 to `count`, oldest first: token n traded a dollar at 1 in the first seconds, and again at `1 + n / 10` so many
 * times as its number, each time by another wallet, for n dollars.
 */
export const gainers = (count: number, early: number, late: number): ReadonlyArray<TapeTrade> => [
  ...Array.from({ length: count }, (_, i) => at(early, { mint: mintOf(i + 1), index: i })),
  ...Array.from({ length: count }, (_, i) =>
    Array.from({ length: i + 1 }, (__, n) =>
      at(late, {
        mint: mintOf(i + 1),
        index: i * count + n,
        wallet: walletOf(n + 1),
        priceUsd: 1 + (i + 1) / 10,
        volumeUsdNanos: BigInt(i + 1) * DOLLAR
      })
    )
  ).flat()
]
