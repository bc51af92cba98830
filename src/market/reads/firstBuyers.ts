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

/** The number of wallets shown. */
export const MOST_BUYERS = 10
/**
 * Purchases are searched up to these times after the creation, in milliseconds. Most tokens have their first buyers at
 * once.
 */
const REACH = [10_000, 120_000, 3_600_000, 86_400_000, Number.POSITIVE_INFINITY]
const PAGE = 500
/** Pages of one search. When the shortest reach has more purchases, they are not searched. */
const MOST_PAGES = 20

type Buyers = LaunchDetail["firstBuyers"]

const unknown = (coverage: Coverage): Buyers => ({ rows: null, coverage })

/** True when the oldest trades are no longer kept, so that the first remaining trades are not the first of all. */
const isGone = ({ reason }: Coverage): boolean => reason === "resolution_retention" || reason === "limit_clipped"

/** The first trade of each wallet, in the order of the chain. */
const firstOfEach = (trades: ReadonlyArray<TapeTrade>): ReadonlyArray<TapeTrade> => {
  const seen = new Set<string>()
  return trades
    .toSorted((a, b) => newestFirst(b, a))
    .filter(({ wallet }) => !seen.has(wallet) && seen.add(wallet).size <= MOST_BUYERS)
}

/** Every purchase of a span; null when there are too many. */
const purchases = Effect.fnUntraced(function* (
  tape: Market["Service"],
  { mint }: LaunchRecord,
  fromMs: number,
  toMs: number | null
) {
  const filter = { side: "buy", wallet: null, pool: null, minUsdNanos: null, fromMs, toMs } as const
  const trades: Array<TapeTrade> = []
  let before: TradePlace | null = null
  for (let page = 0; page < MOST_PAGES; page++) {
    const found: FoundTrades = yield* findTrades(tape, { mints: [mint], filter, before, limit: PAGE })
    trades.push(...found.trades)
    before = found.next
    if (before === null || found.isMissing) {
      return { found: { ...found, trades }, filter }
    }
  }
  return null
})

/** The first buyers of a launch, as of `nowMs`. */
export const firstBuyers = Effect.fnUntraced(function* (
  tape: Market["Service"],
  launch: LaunchRecord,
  nowMs: number
): Effect.fn.Return<Buyers> {
  const { createdAtMs, creator, mint } = launch
  if (createdAtMs === null) {
    return unknown(incomplete("not_captured"))
  }
  for (const reach of REACH) {
    const end = createdAtMs + reach
    const toMs = end < nowMs ? end : null
    const span = yield* purchases(tape, launch, createdAtMs, toMs)
    if (span === null) {
      return unknown(incomplete("limit_clipped"))
    }
    const trades = firstOfEach(span.found.trades)
    const isWhole = trades.length === MOST_BUYERS || toMs === null
    if (isWhole || span.found.isMissing) {
      const last = trades.length === MOST_BUYERS ? (trades.at(-1)?.timeMs ?? nowMs) + 1 : toMs
      const filter = { ...span.filter, toMs: last }
      const coverage = tradesCoverage(tape, { mints: [mint], filter }, span.found, nowMs)
      if (span.found.isMissing || isGone(coverage)) {
        return unknown(coverage)
      }
      const rows = trades.map((trade) => ({
        wallet: trade.wallet,
        isCreator: creator === null ? null : trade.wallet === creator,
        afterMs: trade.timeMs - createdAtMs,
        trade: tokenTrade(trade)
      }))
      return { rows, coverage }
    }
  }
  return unknown(incomplete("not_captured"))
})
