/** A ranking of wallets as the API shows it: exact texts, and null for unknown values. */
import type { Mint } from "../../domain/Address.ts"
import { Address } from "../../domain/Address.ts"
import { fromAtomic } from "../../domain/decimal.ts"
import { decimalText } from "../../domain/rational.ts"
import type { Status } from "../../domain/Scalar.ts"
import type { TopTrader, TraderCoverage, TraderWindow } from "../../api/schemas/TopTraders.ts"
import { dollarsText } from "./measures.ts"
import { coverageOf } from "./tokenMeasures.ts"
import { MARKET_STALE_MS } from "../tape/freshness.ts"
import type { Market } from "../tape/Market.ts"
import { rankingFrom } from "../memory/Traders.ts"
import type { Pin } from "../memory/PinnedViews.ts"
import type { TraderPage } from "../memory/TraderViews.ts"

/** The record behind a view, as it was when the view was made. */
export interface RankingKnowledge {
  readonly slot: number
  readonly observedAtMs: number
  readonly status: Status
  readonly coverage: TraderCoverage
}

/** A page of a token's ranking. */
export interface TraderRanking extends RankingKnowledge {
  readonly rows: ReadonlyArray<TopTrader>
  /** Wallets in the whole ranking. */
  readonly total: number
  /** The start of the next page; null at the end. */
  readonly next: Pin | null
}

/** The token and the window of a page. */
export interface RankedTokenRequest {
  readonly mint: Mint
  readonly window: TraderWindow
  readonly nowMs: number
}

const SOL_DECIMALS = 9
const REASON = "observed_swaps_only_not_transfer_aware"

export const signedText = (value: bigint, decimals: number): string =>
  value < 0n ? `-${fromAtomic(-value, decimals)}` : fromAtomic(value, decimals)

const tokensText = (units: bigint, decimals: number | null): string | null =>
  decimals === null ? null : fromAtomic(units, decimals)

type Row = TraderPage["rows"][number]

const realizedPnl = (row: Row, observedAtMs: number): TopTrader["realizedPnl"] => {
  const { costUsdNanos, realizedLamports, realizedUsdNanos } = row
  const hasCost = realizedUsdNanos !== null && costUsdNanos !== null && costUsdNanos > 0n
  const value = {
    usd: realizedUsdNanos === null ? null : signedText(realizedUsdNanos, 9),
    native: realizedLamports === null ? null : signedText(realizedLamports, SOL_DECIMALS),
    roiPct: hasCost ? decimalText({ numerator: 100n * realizedUsdNanos, denominator: costUsdNanos }) : null
  }
  const status: Status = value.usd === null && value.native === null ? "unavailable" : "partial"
  return { value, status, reason: REASON, observedAtMs }
}

/** Amounts of tokens are unknown while the decimals are. */
const traderOf = (row: Row, decimals: number | null, observedAtMs: number): TopTrader => ({
  wallet: Address.make(row.wallet),
  rank: row.rank,
  boughtTokens: tokensText(row.bought, decimals),
  soldTokens: tokensText(row.sold, decimals),
  boughtUsd: row.unpricedBuys > 0 ? null : dollarsText(row.boughtUsdNanos),
  soldUsd: row.unpricedSells > 0 ? null : dollarsText(row.soldUsdNanos),
  buys: row.buys,
  sells: row.sells,
  lastTradeAtMs: row.lastTradeMs,
  realizedPnl: realizedPnl(row, observedAtMs)
})

/** True when every trade of the token in the window was seen. For `all`, its launch must have been seen too. */
const isComplete = (tape: Market["Service"], { mint, nowMs, window }: RankedTokenRequest): boolean => {
  if (window !== "all") {
    return coverageOf(tape, mint, window, nowMs).complete
  }
  const createdAtMs = tape.launches.of(mint)?.createdAtMs ?? null
  return createdAtMs !== null && tape.readFrom(Math.floor(createdAtMs / 1000) + 1).complete
}

/** The record behind a view that is made now. */
export const rankingKnowledge = (
  tape: Market["Service"],
  page: TraderPage,
  token: RankedTokenRequest
): RankingKnowledge => {
  const { nowMs, window } = token
  const heardAtMs = tape.heardAtMs() ?? 0
  const windowToMs = tape.state.now * 1000
  // The view may be older than the newest block, and the newest block older than the view.
  const observedAtMs = Math.min(page.asOfMs, windowToMs, heardAtMs)
  const windowFrom = rankingFrom(window, tape.state.now)
  const since = tape.since()
  const covered = windowFrom === null ? since : Math.max(since, windowFrom, tape.state.heldFrom)
  const isUnknown = page.total === 0 && !tape.state.has(token.mint)
  const isStale = nowMs - heardAtMs > MARKET_STALE_MS
  return {
    slot: tape.newestSlot(),
    observedAtMs,
    status: isStale ? "stale" : isUnknown ? "unavailable" : "partial",
    coverage: {
      basis: "observed_swaps_only",
      transferAware: false,
      windowFromMs: windowFrom === null ? null : windowFrom * 1000,
      windowToMs,
      coveredFromMs: covered * 1000,
      historyComplete: !isUnknown && isComplete(tape, token)
    }
  }
}

/** The page, with the record behind its view. */
export const traderRanking = (
  page: TraderPage,
  decimals: number | null,
  knowledge: RankingKnowledge
): TraderRanking => ({
  ...knowledge,
  rows: page.rows.map((row) => traderOf(row, decimals, knowledge.observedAtMs)),
  total: page.total,
  next: page.next
})
