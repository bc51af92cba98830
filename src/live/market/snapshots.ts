/** Snapshots of the channels of the market socket. */
import { Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { ChartRefusal, ChartRequest, KnownChart } from "../../api/schemas/Chart.ts"
import type { EndCode, LiveLaunch, LivePrice } from "../../api/schemas/MarketFrame.ts"
import type { MarketUnavailable, MovementRank } from "../../api/schemas/MarketViews.ts"
import type { SourceFreshness } from "../../api/schemas/SourceFreshness.ts"
import type { TokenNotLoaded, UnknownPool, UnknownToken } from "../../api/schemas/Token.ts"
import type { LaunchRecord } from "../../market/model/Launches.ts"
import type { LiquidityRecord } from "../../market/model/StoredLiquidity.ts"
import { newestFirst } from "../../market/model/TradesRequest.ts"
import { liquidityEvent } from "../../market/reads/liquidityEvents.ts"
import type { MarketReader } from "../../market/reads/MarketReader.ts"
import type { LiquidityPage, TradesReader } from "../../market/reads/TradesReader.ts"
import { priceText, tokenTrade } from "../../market/reads/tokenTrade.ts"
import { livePrice, passesLiquidity, passesTerms } from "./blockFrames.ts"
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
  readonly trades: TradesReader["Service"]
  /** The newest changes of liquidity whose frames were published, oldest first. */
  readonly publishedLiquidity: () => ReadonlyArray<LiquidityRecord>
  readonly freshness: (nowMs: number) => ReadonlyArray<SourceFreshness>
  /** The newest slot whose frames were published. */
  readonly publishedSlot: () => number
}

export type LiquidityTerms = Extract<Terms, { readonly channel: "liquidity" }>
export type CandleTerms = Extract<Terms, { readonly channel: "candles" }>
export type MoverTerms = Extract<Terms, { readonly channel: "movers" }>

/** Most trades, changes of liquidity, bars, launches and rows of a snapshot. */
const MOST = { trades: 50, changes: 50, bars: 100, launches: 50, rows: 50 } as const

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

const liquidityProblem = (
  refusal: MarketUnavailable | TokenNotLoaded | UnknownPool | UnknownToken
): SnapshotRefusal => {
  switch (refusal._tag) {
    case "UnknownPool":
      return { code: "not_found", message: "The pool is not in memory: ask for its token first." }
    case "UnknownToken":
      return { code: "not_found", message: "The token is unknown." }
    case "TokenNotLoaded":
      return unavailable("The token is being loaded: subscribe again.")
    case "MarketUnavailable":
      return unavailable(refusal.detail)
  }
}

/** The newest changes of liquidity of a topic in the record. */
const readLiquidity = (
  { trades }: Pick<SnapshotSources, "trades">,
  { kind, mint, pool }: LiquidityTerms
): Effect.Effect<LiquidityPage, SnapshotRefusal> => {
  const request = { kind: kind ?? null, fromMs: null, toMs: null, before: null, limit: MOST.changes }
  if (mint !== undefined) {
    return Effect.mapError(trades.liquidityOfToken(mint, { ...request, pool: null }), liquidityProblem)
  }
  return pool === undefined
    ? Effect.fail({ code: "not_found", message: "Neither a token nor a pool is named." })
    : Effect.mapError(trades.liquidityOfPool(pool, { ...request, pool }), liquidityProblem)
}

/** What was read, with what was published since. Frames bring what comes after the published slot. */
const withPublished = (
  { publishedLiquidity, publishedSlot }: SnapshotSources,
  terms: LiquidityTerms,
  { coverage, events, slot }: LiquidityPage
) => {
  const published = publishedSlot()
  const read = slot ?? 0
  const later = publishedLiquidity().filter((change) => change.slot > read && passesLiquidity(terms, change))
  const known = events.filter((event) => event.slot <= Math.min(read, published))
  const all = [...later.toSorted(newestFirst).map(liquidityEvent), ...known]
  return { events: all.slice(0, MOST.changes), slot: published, coverage }
}

/**
 * Reads what a snapshot needs. The returned function makes its data synchronously. Data from trades then matches the
 * blocks whose frames have been published.
 */
export const snapshotOf = (
  sources: SnapshotSources,
  terms: Exclude<Terms, { readonly channel: "holders" | "quote" | "screen" }>
): Effect.Effect<(nowMs: number) => unknown, SnapshotRefusal> => {
  const { feed, freshness, publishedSlot } = sources
  switch (terms.channel) {
    case "trades":
      return Effect.succeed(() => ({
        trades: feed.newest(passesTerms(terms), publishedSlot(), MOST.trades).map(tokenTrade),
        slot: publishedSlot()
      }))
    case "liquidity":
      return Effect.map(readLiquidity(sources, terms), (page) => () => withPublished(sources, terms, page))
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
