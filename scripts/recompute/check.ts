/** Every comparison of a service with the record. */
import {
  compareBars,
  compareLighthouse,
  compareMovement,
  compareOverview,
  compareLeaders,
  compareTraders,
  rankNames,
  type Recomputed
} from "./compare.ts"
import { compareMarketValues } from "./compareSupply.ts"
import { compareScreen } from "./compareScreen.ts"
import { compareLiquidity, comparePoolVolumes } from "./comparePools.ts"
import type { Findings } from "./differences.ts"
import { SOL } from "./legs.ts"
import { venues } from "./programs.ts"
import type { TradeRecord } from "./record.ts"
import type { Service } from "./service.ts"
import { reservesOf, type SeenPool } from "./vaults.ts"
import { windowNames } from "./windows.ts"

/**
 * A comparison of answers that show one moment: they are read once, and compared with the record as often as wanted.
 */
export type Comparison = (service: Service, found: Recomputed, findings: Findings) => Promise<void>

const keys = [
  ...new Set(["all", ...Array.from(venues.values()).flatMap(({ dex, launchpad }) => [dex, launchpad ?? dex])])
]

/** Windows, rankings and totals, and the rankings of the wallets of some mints. */
export const comparisons = (mints: ReadonlyArray<string>): ReadonlyArray<Comparison> => [
  ...windowNames.flatMap((window): ReadonlyArray<Comparison> => [
    ...rankNames.map(
      (rank): Comparison =>
        (service, found, findings) =>
          compareMovement(service, found, findings, window, rank)
    ),
    (service, found, findings) => compareScreen(service, found, findings, window),
    (service, found, findings) => compareOverview(service, found, findings, window),
    (service, found, findings) => compareLighthouse(service, found, findings, window, keys)
  ]),
  ...mints.map(
    (mint): Comparison =>
      (service, found, findings) =>
        comparePoolVolumes(service, found, findings, mint)
  ),
  ...mints.map(
    (mint): Comparison =>
      (service, found, findings) =>
        compareMarketValues(service, found, findings, mint)
  ),
  // One order at a time: each answer has to be of the same slot.
  ...(["1h", "24h", "all"] as const).flatMap((window) =>
    (["volume", "realized", "trades"] as const).map(
      (sort): Comparison =>
        (service, found, findings) =>
          compareLeaders(service, found, findings, window, sort)
    )
  ),
  ...mints.flatMap((mint) =>
    (["1h", "24h", "all"] as const).map(
      (window): Comparison =>
        (service, found, findings) =>
          compareTraders(service, found, findings, mint, window)
    )
  )
]

/** The most traded mints of a record. */
export const mostTraded = ({ pools }: TradeRecord, most: number): ReadonlyArray<string> =>
  Array.from(Map.groupBy(pools, ({ mint }) => mint))
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, most)
    .map(([mint]) => mint)

/** The candles of some mints, and of the busiest pool of each. */
export const checkBars = async (
  service: Service,
  found: Recomputed,
  findings: Findings,
  mints: ReadonlyArray<string>
): Promise<void> => {
  for (const mint of mints) {
    await compareBars(service, found, findings, mint)
    const own = found.record.pools.filter((trade) => trade.mint === mint)
    const [busiest] = Array.from(Map.groupBy(own, ({ pool }) => pool)).toSorted(([, a], [, b]) => b.length - a.length)
    if (busiest !== undefined) {
      await compareBars(service, found, findings, mint, busiest[0])
    }
  }
}

const TRIES = 8

/** Liquidity of the pools of some mints. Pools that changed while they were read are read again; returns those that always did. */
export const checkLiquidity = async (
  service: Service,
  rpc: string,
  { decimals, pools }: TradeRecord,
  findings: Findings,
  mints: ReadonlyArray<string>
): Promise<number> => {
  let moving = 0
  for (const mint of mints) {
    const seen = new Map(
      pools.filter((each) => each.mint === mint).map((each): [string, SeenPool] => [each.pool, each])
    )
    const left = new Map(seen)
    for (let tries = 0; tries < TRIES && left.size > 0; tries++) {
      const before = await reservesOf(rpc, Array.from(left.values()))
      const rows = await service.liquidity(mint)
      const prices = await service.prices(Array.from(new Set([mint, SOL, ...rows.map(({ quoteMint }) => quoteMint)])))
      const after = await reservesOf(rpc, Array.from(left.values()))
      for (const pool of Array.from(left.keys())) {
        const row = rows.find((each) => each.pool === pool)
        const reserves = after.get(pool)
        const isStill =
          JSON.stringify(Array.from(before.get(pool) ?? [], String)) ===
          JSON.stringify(Array.from(reserves ?? [], String))
        if (row === undefined || reserves === undefined || isStill) {
          left.delete(pool)
        }
        if (row !== undefined && reserves !== undefined && isStill) {
          compareLiquidity(findings, mint, row, reserves, { decimals, prices })
        }
      }
    }
    moving += left.size
  }
  return moving
}
