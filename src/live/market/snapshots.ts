/** Snapshots of the channels of the market socket. */
import { Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { ChartRefusal, ChartRequest, KnownChart } from "../../api/schemas/Chart.ts"
import type { EndCode, LiveLaunch, LivePrice } from "../../api/schemas/MarketFrame.ts"
import type { MovementRank } from "../../api/schemas/MarketViews.ts"
import type { SourceFreshness } from "../../api/schemas/SourceFreshness.ts"
import type { LaunchRecord } from "../../market/model/Launches.ts"
import type { MarketReader } from "../../market/reads/MarketReader.ts"
import { priceText, tokenTrade } from "../../market/reads/tokenTrade.ts"
import { livePrice, passesTerms } from "./blockFrames.ts"
import type { MarketFeed } from "./MarketFeed.ts"
import type { Terms } from "./Topic.ts"

/** Reason why there is no snapshot. */
export interface SnapshotRefusal {
  readonly code: EndCode
  readonly message: string
  /** Time after which there may be one; left out when nobody can say. */
  readonly retryAfterMs?: number | null
}

/** The sources of snapshots. */
export interface SnapshotSources {
  readonly feed: MarketFeed["Service"]
  readonly reader: MarketReader["Service"]
  readonly freshness: (nowMs: number) => ReadonlyArray<SourceFreshness>
  /** The newest slot whose frames were published. */
  readonly publishedSlot: () => number
}

export type CandleTerms = Extract<Terms, { readonly channel: "candles" }>
export type MoverTerms = Extract<Terms, { readonly channel: "movers" }>

/** Most trades, bars, launches and rows of a snapshot. */
const MOST = { trades: 50, bars: 100, launches: 50, rows: 50 } as const

const ZERO = { numerator: 0n, denominator: 1n }

const unavailable = (message: string): SnapshotRefusal => ({ code: "data_unavailable", message })

const chartProblem = (refusal: ChartRefusal): SnapshotRefusal => {
  switch (refusal._tag) {
    case "ChartUnknown":
      return { code: "not_found", message: "The token is unknown." }
    case "ChartNotReady":
      return { ...unavailable("The token is being loaded: subscribe again."), retryAfterMs: refusal.retryAfterMs }
    case "ChartChainUnserved":
      return unavailable("The chain has no candles here.")
    case "ChartUnavailable":
      return unavailable(refusal.detail)
  }
}

/** The newest candles of a topic. With `fromMs`, the candles from that time on. */
export const readCandles = (
  { feed, reader }: Pick<SnapshotSources, "feed" | "reader">,
  { denom = "usd", mint, pool, resolution }: CandleTerms,
  fromMs: number | null
): Effect.Effect<KnownChart, SnapshotRefusal> => {
  const charted: Mint | null = mint ?? (pool === undefined ? null : feed.mintOfPool(pool))
  if (charted === null) {
    return Effect.fail({ code: "not_found", message: "The pool is not in memory: ask for its token first." })
  }
  const request: ChartRequest = {
    resolution,
    denom,
    mode: "price",
    ...(pool === undefined ? {} : { pool }),
    from: fromMs === null ? null : Math.floor(fromMs / 1000),
    to: null,
    limit: MOST.bars
  }
  return Effect.mapError(reader.chart(charted, request), chartProblem)
}

/**
 * The ranking of a topic of movers. Also answers while memory is restored: the next round adds what has arrived since.
 */
export const readMovers = (
  { reader }: Pick<SnapshotSources, "reader">,
  { rank = "gainers" satisfies MovementRank, window }: MoverTerms
) =>
  reader.movementNow({ window, rank, minLiquidityUsd: ZERO, minVolumeUsd: ZERO }, { limit: MOST.rows, pin: null }).pipe(
    Effect.map(({ coverage, data, slot, status }) => ({ window, rows: data, slot, status, coverage })),
    Effect.mapError((error): SnapshotRefusal =>
      unavailable(error._tag === "ViewExpired" ? "The ranking expired: subscribe again." : error.detail)
    )
  )

const newestLaunches = (
  all: Iterable<LaunchRecord>,
  timeOf: (record: LaunchRecord) => number | null,
  poolOf: (record: LaunchRecord) => LiveLaunch["pool"]
): ReadonlyArray<LiveLaunch> =>
  Array.from(all)
    .flatMap((record) => {
      const timeMs = timeOf(record)
      return timeMs === null ? [] : [{ mint: record.mint, launchpad: record.launchpad, pool: poolOf(record), timeMs }]
    })
    .toSorted((a, b) => b.timeMs - a.timeMs)
    .slice(0, MOST.launches)

const priceOf = ({ feed, publishedSlot }: SnapshotSources, mint: Mint): LivePrice => {
  const [last] = feed.newest((trade) => trade.mint === mint && trade.role !== "wallet", publishedSlot(), 1)
  return last === undefined
    ? { mint, priceUsd: priceText(feed.lastPriceUsd(mint)), priceSol: null, slot: null, timeMs: null }
    : livePrice(last)
}

/**
 * Reads what a snapshot needs. The returned function makes its data synchronously. Data from trades then matches the
 * blocks whose frames have been published.
 */
export const snapshotOf = (
  sources: SnapshotSources,
  terms: Exclude<Terms, { readonly channel: "quote" }>
): Effect.Effect<(nowMs: number) => unknown, SnapshotRefusal> => {
  const { feed, freshness, publishedSlot } = sources
  switch (terms.channel) {
    case "trades":
      return Effect.succeed(() => ({
        trades: feed.newest(passesTerms(terms), publishedSlot(), MOST.trades).map(tokenTrade),
        slot: publishedSlot()
      }))
    case "candles":
      return Effect.map(readCandles(sources, terms, null), ({ data, knowledge }) => () => ({
        bars: data.bars,
        openBarMs: knowledge.openBarMs,
        slot: knowledge.slot,
        status: knowledge.status
      }))
    case "price":
      return Effect.succeed(() => ({ ...priceOf(sources, terms.mint), asOfSlot: publishedSlot() }))
    case "launches":
      return Effect.succeed(() => ({
        launches: newestLaunches(
          feed.launches(),
          ({ createdAtMs }) => createdAtMs,
          ({ curve }) => curve
        ),
        slot: feed.newestSlot()
      }))
    case "graduations":
      return Effect.succeed(() => ({
        graduations: newestLaunches(
          feed.launches(),
          ({ graduatedAtMs }) => graduatedAtMs,
          ({ pool }) => pool
        ),
        slot: feed.newestSlot()
      }))
    case "movers":
      return Effect.map(readMovers(sources, terms), (data) => () => data)
    case "freshness":
      return Effect.succeed((nowMs) => ({ sources: freshness(nowMs) }))
  }
}
