/** The first wallets that bought a token after its creation. */
import { Effect } from "effect"
import type { LaunchDetail } from "../../api/schemas/LaunchView.ts"
import { type Coverage, incomplete } from "../../domain/Scalar.ts"
import type { LaunchRecord } from "../model/Launches.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import type { Market } from "../tape/Market.ts"
import { newestFirst, type TradePlace } from "../model/TradesRequest.ts"
import { findTrades, type FoundTrades } from "./findTrades.ts"
import { tokenTrade } from "./tokenTrade.ts"
import { tradesCoverage } from "./tradesCoverage.ts"

/** The number of wallets that a launch shows, and that its signals look at. */
export const LAUNCH_BUYERS = 10
/**
 * Purchases are searched up to these times after the creation, in milliseconds. Most tokens have their first buyers at
 * once.
 */
const REACH = [10_000, 120_000, 3_600_000, 86_400_000, Number.POSITIVE_INFINITY]
const PAGE = 500
const DAY_MS = 86_400_000
/** Pages of one search. When the shortest reach has more purchases, they are not searched. */
const MOST_PAGES = 20

/** The first purchase of each of the first wallets. */
export interface FirstPurchases {
  /** In the order of the chain; null when unknown. */
  readonly trades: ReadonlyArray<TapeTrade> | null
  /** True when more wallets may have bought than are listed. */
  readonly isCut: boolean
  readonly coverage: Coverage
  /** Pages of trades that were read for it. */
  readonly pages: number
}

const unknown = (coverage: Coverage, pages: number): FirstPurchases => ({ trades: null, isCut: false, coverage, pages })

/** True when the oldest trades are no longer kept, so that the first remaining trades are not the first of all. */
const isGone = ({ reason }: Coverage): boolean => reason === "resolution_retention" || reason === "limit_clipped"

/** The first trade of each of the first `most` wallets, in the order of the chain. */
const firstOfEach = (trades: ReadonlyArray<TapeTrade>, most: number): ReadonlyArray<TapeTrade> => {
  const seen = new Set<string>()
  return trades
    .toSorted((a, b) => newestFirst(b, a))
    .filter(({ wallet }) => !seen.has(wallet) && seen.add(wallet).size <= most)
}

/** The reaches of a search. A young token with few purchases is read at once, because it has hardly more than it shows. */
const reachesOf = ({ state }: Market["Service"], { mint }: LaunchRecord, ageMs: number): ReadonlyArray<number> => {
  const isYoung = ageMs < DAY_MS
  return isYoung && (state.window(mint, "24h")?.buys ?? PAGE) < PAGE ? REACH.slice(-1) : REACH
}

/** Every purchase of a span, with the pages that were read; without what was found when there are too many. */
const purchases = Effect.fnUntraced(function* (
  tape: Market["Service"],
  { mint }: LaunchRecord,
  fromMs: number,
  toMs: number | null
) {
  const filter = { side: "buy", wallet: null, pool: null, minUsdNanos: null, fromMs, toMs } as const
  const trades: Array<TapeTrade> = []
  let before: TradePlace | null = null
  for (let pages = 1; pages <= MOST_PAGES; pages++) {
    const found: FoundTrades = yield* findTrades(tape, { mints: [mint], filter, before, limit: PAGE })
    trades.push(...found.trades)
    before = found.next
    if (before === null || found.isMissing) {
      return { span: { found: { ...found, trades }, filter }, pages }
    }
  }
  return { span: null, pages: MOST_PAGES }
})

/** The first purchases of `most` wallets since the creation of a token, as of `nowMs`. */
export const firstPurchases = Effect.fnUntraced(function* (
  tape: Market["Service"],
  launch: LaunchRecord,
  most: number,
  nowMs: number
): Effect.fn.Return<FirstPurchases> {
  const { createdAtMs, mint } = launch
  if (createdAtMs === null) {
    return unknown(incomplete("not_captured"), 0)
  }
  let pages = 0
  for (const reach of reachesOf(tape, launch, nowMs - createdAtMs)) {
    const end = createdAtMs + reach
    const toMs = end < nowMs ? end : null
    const read = yield* purchases(tape, launch, createdAtMs, toMs)
    const { span } = read
    pages += read.pages
    if (span === null) {
      return unknown(incomplete("limit_clipped"), pages)
    }
    const trades = firstOfEach(span.found.trades, most)
    const isFull = trades.length === most
    if (isFull || toMs === null || span.found.isMissing) {
      const last = isFull ? (trades.at(-1)?.timeMs ?? nowMs) + 1 : toMs
      const filter = { ...span.filter, toMs: last }
      const coverage = tradesCoverage(tape, { mints: [mint], filter }, span.found, nowMs)
      return span.found.isMissing || isGone(coverage)
        ? unknown(coverage, pages)
        : { trades, isCut: isFull, coverage, pages }
    }
  }
  return unknown(incomplete("not_captured"), pages)
})

/** The first buyers of a launch, as of `nowMs`. */
export const firstBuyers = Effect.fnUntraced(function* (
  tape: Market["Service"],
  launch: LaunchRecord,
  nowMs: number
): Effect.fn.Return<LaunchDetail["firstBuyers"]> {
  const { coverage, trades } = yield* firstPurchases(tape, launch, LAUNCH_BUYERS, nowMs)
  const rows = trades?.map((trade) => buyerOf(launch, trade)) ?? null
  return { rows, coverage }
})

/** A first purchase as answers show it. The creation of the launch was seen. */
export const buyerOf = ({ createdAtMs, creator }: LaunchRecord, trade: TapeTrade) => ({
  wallet: trade.wallet,
  isCreator: creator === null ? null : trade.wallet === creator,
  afterMs: trade.timeMs - (createdAtMs ?? trade.timeMs),
  trade: tokenTrade(trade)
})
