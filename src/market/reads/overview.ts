/** The whole market in one window. */
import type { Overview } from "../../api/schemas/MarketViews.ts"
import { decimalText } from "../../domain/rational.ts"
import { type Coverage, type Lifetime, type Scalar } from "../../domain/Scalar.ts"
import { changed, measured, NOT_CAPTURED, priceChange, volumeChange, volumeScalar, type VolumeSum } from "./measures.ts"
import { compared } from "./coverageRule.ts"
import type { ActivitySums, ActivityWindow } from "../memory/MarketActivity.ts"
import type { Breadth } from "../memory/TokenRanking.ts"
import type { TokenWindow } from "../memory/TokenWindows.ts"
import type { WindowName } from "../model/windows.ts"

/** The sources of an overview. */
export interface OverviewSources {
  readonly window: WindowName
  readonly activity: ActivityWindow
  readonly breadth: Breadth
  readonly solUsd: Scalar
  /** The trades of SOL in the window; null when it did not trade. */
  readonly sol: TokenWindow | null
  /** The coverage of the window and of the previous window. */
  readonly now: Coverage
  readonly before: Coverage
  /** True when the feed reports launches. */
  readonly reportsLaunches: boolean
  readonly life: Lifetime
}

const countText = (count: number): string => String(count)

const launchesOf = ({ activity, life, now: covered, reportsLaunches }: OverviewSources): Overview["launches"] => {
  const { migrations, tokensCreated } = activity.now
  const seen = reportsLaunches ? covered : NOT_CAPTURED
  const rate =
    tokensCreated === 0
      ? null
      : decimalText({ numerator: 100n * BigInt(migrations), denominator: BigInt(tokensCreated) })
  return {
    tokensCreated: measured("count", countText(tokensCreated), seen, life),
    migrations: measured("count", countText(migrations), seen, life),
    migrationRatePct: measured("percent", rate, seen, life)
  }
}

const volumeOf = (sums: ActivitySums): VolumeSum => ({
  nanos: sums.buyUsdNanos + sums.sellUsdNanos,
  trades: sums.buys + sums.sells,
  unpriced: sums.unpricedBuys + sums.unpricedSells
})

/**
 * The values that decide the status of an overview: its sums, its counts and the price of SOL. Changes, rates and the
 * estimate of traders have only their own status. A change compares with another window, and a rate may have no base.
 */
export const decisive = ({ activity, breadth, launches, reference }: Overview): ReadonlyArray<Scalar> => {
  const { traders: _traders, ...sums } = activity
  return [
    ...Object.values(sums),
    launches.tokensCreated,
    launches.migrations,
    ...Object.values(breadth),
    reference.solUsd
  ]
}

/** The overview. The number of traders is an estimate, so it is partial, and so are the values computed from it. */
export const overview = (sources: OverviewSources): Overview => {
  const { activity, breadth, life, now: covered, solUsd, window } = sources
  const { after, before, now } = activity
  const comparison = compared(covered, sources.before)
  const count = (value: number) => measured("count", countText(value), covered, life)
  const volume = volumeOf(now)
  const [volumeBefore, volumeAfter] = [volumeOf(before), volumeOf(after)]
  return {
    chain: "solana",
    window,
    activity: {
      volumeUsd: volumeScalar(volume, covered, life),
      buyVolumeUsd: volumeScalar(
        { nanos: now.buyUsdNanos, trades: now.buys, unpriced: now.unpricedBuys },
        covered,
        life
      ),
      sellVolumeUsd: volumeScalar(
        { nanos: now.sellUsdNanos, trades: now.sells, unpriced: now.unpricedSells },
        covered,
        life
      ),
      trades: count(volume.trades),
      buys: count(now.buys),
      sells: count(now.sells),
      traders: measured("count", countText(now.traders), covered, life, "budget")
    },
    change: {
      volumeChangePct: volumeChange(volumeBefore, volumeAfter, comparison, life),
      tradesChangePct: changed(BigInt(volumeBefore.trades), BigInt(volumeAfter.trades), comparison, life),
      tradersChangePct: changed(BigInt(before.traders), BigInt(after.traders), comparison, life, "budget")
    },
    launches: launchesOf(sources),
    breadth: {
      advancing: count(breadth.advancing),
      declining: count(breadth.declining),
      unchanged: count(breadth.unchanged)
    },
    reference: { solUsd, solChangePct: priceChange(sources.sol, covered, life) }
  }
}
