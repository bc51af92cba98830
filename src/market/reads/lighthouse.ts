/**
 * The markets of the chain, venue by venue. Values are numbers, because the contract of this endpoint is older than
 * exact text.
 */
import type { Lighthouse, MarketRow, MarketStats, WindowCoverage } from "../../api/schemas/MarketViews.ts"
import { type Coverage, incomplete } from "../../domain/Scalar.ts"
import { quotient } from "../../domain/decimal.ts"
import { NANOS_PER_USD } from "../../domain/units.ts"
import { compared, isShown } from "./coverageRule.ts"
import type { ActivitySums, ActivityWindow } from "../memory/MarketActivity.ts"
import type { Market, MarketKey } from "../memory/Markets.ts"
import { eachWindow, type WindowName, windowIndex, windowNames } from "../model/windows.ts"

/** The coverage of each window, and of the previous window of equal length. */
export interface Seen {
  readonly now: Readonly<Record<WindowName, Coverage>>
  readonly before: Readonly<Record<WindowName, Coverage>>
  /** True when the feed reports launches. */
  readonly launches: boolean
}

const MOST_ROWS = 100

const labels: Readonly<Record<string, string>> = {
  all: "All markets",
  "meteora-damm-v2": "Meteora DAMM v2",
  "meteora-dbc": "Meteora DBC",
  "meteora-dbc-curve": "Meteora DBC curves",
  "meteora-dlmm": "Meteora DLMM",
  "orca-whirlpool": "Orca Whirlpools",
  "pump-fun": "Pump.fun",
  "pump-fun-curve": "Pump.fun curves",
  pumpswap: "PumpSwap",
  "raydium-amm-v4": "Raydium AMM v4",
  "raydium-clmm": "Raydium CLMM",
  "raydium-cpmm": "Raydium CPMM",
  "raydium-launchlab": "Raydium LaunchLab",
  "raydium-launchlab-curve": "Raydium LaunchLab curves"
}

/**
 * The keys of venues that share their name with a launchpad. The launchpad keeps the name, because filters ask for it.
 */
const venueKeys: Readonly<Record<string, string>> = {
  "meteora-dbc": "meteora-dbc-curve",
  "raydium-launchlab": "raydium-launchlab-curve"
}

/** A key that no other row has. */
const keyOf = ({ kind, name }: MarketKey): string => (kind === "dex" ? (venueKeys[name] ?? name) : name)

const priced = (sums: ActivitySums): boolean =>
  sums.buys + sums.sells === 0 || sums.unpricedBuys + sums.unpricedSells < sums.buys + sums.sells

const usd = (nanos: bigint): number => quotient(nanos, NANOS_PER_USD)

const volumeOf = (sums: ActivitySums): bigint => sums.buyUsdNanos + sums.sellUsdNanos

/** Percent to two decimals, half away from zero; null when the base is zero. */
const changePct = (before: bigint, after: bigint): number | null => {
  if (before <= 0n) {
    return null
  }
  const twice = 20_000n * (after - before)
  return Number((twice + (twice < 0n ? -before : before)) / (2n * before)) / 100
}

const change = (isSeen: boolean, before: number, after: number): number | null =>
  isSeen ? changePct(BigInt(before), BigInt(after)) : null

const UNKNOWN: MarketStats = {
  trades: { total: null, buys: null, sells: null, changePct: null },
  volumeUsd: { total: null, buys: null, sells: null, changePct: null },
  traders: { total: null, approximate: true, changePct: null },
  tokensCreated: { total: null, changePct: null },
  migrations: { total: null, changePct: null }
}

const statsOf = (
  { after, before, now }: ActivityWindow,
  kind: MarketKey["kind"],
  name: WindowName,
  seen: Seen
): MarketStats => {
  if (!isShown(seen.now[name])) {
    return UNKNOWN
  }
  const isCompared = isShown(compared(seen.now[name], seen.before[name]))
  const launched = seen.launches && kind !== "dex"
  const knowsVolume = priced(now)
  return {
    trades: {
      total: now.buys + now.sells,
      buys: now.buys,
      sells: now.sells,
      changePct: change(isCompared, before.buys + before.sells, after.buys + after.sells)
    },
    volumeUsd: knowsVolume
      ? {
          total: usd(volumeOf(now)),
          buys: usd(now.buyUsdNanos),
          sells: usd(now.sellUsdNanos),
          changePct: isCompared && priced(before) && priced(after) ? changePct(volumeOf(before), volumeOf(after)) : null
        }
      : UNKNOWN.volumeUsd,
    traders: { total: now.traders, approximate: true, changePct: change(isCompared, before.traders, after.traders) },
    tokensCreated: launched
      ? {
          total: now.tokensCreated,
          changePct: change(isCompared, before.tokensCreated, after.tokensCreated)
        }
      : UNKNOWN.tokensCreated,
    migrations: launched
      ? { total: now.migrations, changePct: change(isCompared, before.migrations, after.migrations) }
      : UNKNOWN.migrations
  }
}

interface Row {
  readonly row: MarketRow
  readonly dayNanos: bigint
  readonly unpriced: Readonly<Record<WindowName, number>>
}

const rowOf = (market: Market, seen: Seen): Row => {
  const key = keyOf(market)
  const windows = eachWindow((name) => market.activity.read(windowIndex[name]))
  return {
    row: {
      key,
      kind: market.kind,
      label: labels[key] ?? key,
      parentKey: null,
      iconUrl: null,
      url: null,
      stats: eachWindow((name) => statsOf(windows[name], market.kind, name, seen))
    },
    dayNanos: volumeOf(windows["24h"].now),
    unpriced: eachWindow((name) => windows[name].now.unpricedBuys + windows[name].now.unpricedSells)
  }
}

const byVolume = (a: Row, b: Row): number => {
  if (a.row.kind === "all" || b.row.kind === "all") {
    return a.row.kind === "all" ? -1 : 1
  }
  return a.dayNanos === b.dayNanos ? (a.row.key < b.row.key ? -1 : 1) : a.dayNanos > b.dayNanos ? -1 : 1
}

/** The lighthouse and the coverage of its windows. Trades of unknown value are missing from volumes. */
export const lighthouse = (
  markets: ReadonlyArray<Market>,
  seen: Seen
): { readonly data: Lighthouse; readonly windowCoverage: WindowCoverage } => {
  const rows = markets.map((market) => rowOf(market, seen)).toSorted(byVolume)
  const all = rows[0]?.unpriced
  return {
    data: { chain: "solana", windows: windowNames, markets: rows.slice(0, MOST_ROWS).map(({ row }) => row) },
    windowCoverage: eachWindow((name) =>
      seen.now[name].complete && (all?.[name] ?? 0) > 0 ? incomplete("mark_unknown") : seen.now[name]
    )
  }
}
