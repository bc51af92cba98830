/** Finds the outliers of a chart's bars in the stored trades of the bars that can have any. */
import { Effect } from "effect"
import { type Mint, USDC } from "../../domain/Address.ts"
import type { ChartBar, ChartRequest } from "../../api/schemas/Chart.ts"
import { nextBucket } from "./chartWindow.ts"
import { type Outliers, outliersOf } from "../model/outliers.ts"
import type { CandleHistory } from "../model/CandleHistory.ts"

/** Outliers by the second at which their bar begins. */
export type OutliersByBar = ReadonlyMap<number, Outliers>

export const NO_OUTLIERS: OutliersByBar = new Map()

/** The most bars of one chart that are searched, and the most of their trades. The newest come first. */
const MOST_BARS = 20
const MOST_TRADES = 5000

/** The bars whose outliers are not known yet, newest first, within the bounds. */
const wantedOf = (bars: ReadonlyArray<ChartBar>): ReadonlyArray<ChartBar> => {
  let room = MOST_TRADES
  return bars
    .filter(({ outliers }) => outliers === null)
    .toReversed()
    .slice(0, MOST_BARS)
    .filter(({ n }) => (room -= n ?? MOST_TRADES) >= 0)
}

/** The outliers of bars that can have some. Leaves out bars whose trades are too many, not stored or no longer kept. */
export const findOutliers = (
  stored: Pick<CandleHistory["Service"], "prints"> | null,
  mint: Mint,
  { denom, pool, resolution }: ChartRequest,
  bars: ReadonlyArray<ChartBar>
): Effect.Effect<OutliersByBar> => {
  const wanted = wantedOf(bars)
  // Bars of USDC are the bars of SOL seen from the other side, which never spread so far.
  if (stored === null || wanted.length === 0 || mint === USDC) {
    return Effect.succeed(NO_OUTLIERS)
  }
  const of = pool === undefined ? { mint, denom } : { mint, denom, pool }
  const find = Effect.fnUntraced(function* ({ n, t }: ChartBar) {
    const from = t / 1000
    const prints = yield* stored.prints({ ...of, from, before: nextBucket(resolution, from), limit: (n ?? 0) + 1 })
    const found: ReadonlyArray<readonly [number, Outliers]> = prints.length === n ? [[from, outliersOf(prints)]] : []
    return found
  })
  return Effect.forEach(wanted, find, { concurrency: 4 }).pipe(
    Effect.map((found) => new Map(found.flat())),
    Effect.catchTag("TradeStoreUnavailable", () => Effect.succeed(NO_OUTLIERS))
  )
}
