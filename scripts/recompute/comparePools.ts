/** Comparisons of the pools of a token: reserves, value and volume. */
import { isStated, reaches, type Recomputed } from "./compare.ts"
import { type Findings, isClose, numberOf, unitsOf } from "./differences.ts"
import { SOL } from "./legs.ts"
import type { Service, WirePool } from "./service.ts"
import type { Reserves } from "./vaults.ts"
import { beginOf, WINDOWS } from "./windows.ts"

const valueOf = (units: bigint, decimals: number, price: string | null | undefined): number | null =>
  price === null || price === undefined ? null : (Number(units) / 10 ** decimals) * Number(price)

/** Dollars are written in whole millionths. */
const MICRO = 2e-6

/** Reserves and value of a pool, from its vaults and the service's own prices. */
export const compareLiquidity = (
  findings: Findings,
  mint: string,
  { baseReserve, liquidityUsd, pool, quoteMint, quoteReserve }: WirePool,
  reserves: Reserves,
  {
    decimals,
    prices
  }: { readonly decimals: ReadonlyMap<string, number>; readonly prices: ReadonlyMap<string, string | null> }
) => {
  const [base, quote] = [reserves.get(mint) ?? null, reserves.get(quoteMint) ?? reserves.get("") ?? null]
  findings.exact("liquidity", pool, "baseReserve", baseReserve, base)
  findings.exact("liquidity", pool, "quoteReserve", quoteReserve, quote)
  const digits = (of: string) => (of === SOL ? 9 : (decimals.get(of) ?? 0))
  const a = base === null ? null : valueOf(base, digits(mint), prices.get(mint))
  const b = quote === null ? null : valueOf(quote, digits(quoteMint), prices.get(quoteMint))
  const value = a === null || b === null ? null : a + b
  const given = numberOf(liquidityUsd)
  // The price is written with 15 digits.
  const isNear = value !== null && given !== null && isClose(given, value, MICRO + 1e-10 * value)
  findings.number("liquidity", pool, "liquidityUsd", given, isNear ? given : value)
}

/** The volume of each pool of a token in 24 hours. Null where none of its swaps has a value. */
export const comparePoolVolumes = async (service: Service, found: Recomputed, findings: Findings, mint: string) => {
  if (!reaches(found, "24h") || found.record.unknown.has(mint) || !(await isStated(service, found, "24h"))) {
    return
  }
  const from = beginOf(WINDOWS["24h"].width, WINDOWS["24h"].bucket, found.now)
  for (const { pool, volume24hUsd } of await service.liquidity(mint)) {
    const swaps = found.record.pools.filter((trade) => trade.pool === pool && trade.second >= from)
    const known = swaps.flatMap(({ usdNanos }) => usdNanos ?? [])
    const sum = known.length === 0 && swaps.length > 0 ? null : known.reduce((total, each) => total + each, 0n)
    findings.exact("pool volumes", pool, "volume24hUsd", unitsOf(volume24hUsd.value, 9), sum)
  }
}
