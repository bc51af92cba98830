/** The summary of one wallet with its coverage. */
import type { Mint } from "../domain/Address.ts"
import type { Status } from "../domain/Scalar.ts"
import type {
  CoverageShare,
  WalletHistoryCoverage,
  WalletIndexCoverage,
  WalletSummary
} from "../api/schemas/WalletSummary.ts"
import type { AccountedEvents } from "./accountedEvents.ts"
import type { HistoryProgress } from "./historyProgress.ts"
import { historyReason, isWholeLife } from "./joinHistory.ts"
import { type EventOfMint, isBasisKnown, isOpen, type Position } from "./ledger.ts"
import type { LedgerProjection } from "./LedgerReader.ts"
import { knownWalletBody } from "./pnlBodies.ts"
import type { Mark } from "./marks.ts"
import { PNL_MODE, usdTextOrNull } from "./pnl.ts"
import { summaryOf } from "./walletPnl.ts"
import type { WalletHistory } from "./WalletIndex.ts"
import type { WalletShare } from "./walletShare.ts"

/** Source of sums over observed swaps. */
export const OBSERVED_SOURCE = "wallet-trade-index:observed-average-cost"
/** Source of sums from a native ledger. */
export const NATIVE_SOURCE = "wallet-trade-ledger:fee-inclusive-average-cost"

const OBSERVED_EXCLUSIONS = ["transfers", "fees", "pre_window_inventory", "unobserved_assets"]
/** Exclusions of a history that begins with the wallet's first transaction. */
const WHOLE_EXCLUSIONS = OBSERVED_EXCLUSIONS.filter((exclusion) => exclusion !== "pre_window_inventory")
const NATIVE_EXCLUSIONS = ["transfers", "pre_window_inventory"]

/** Data held of one wallet by the index, the ledger, or both. */
export interface Holdings {
  readonly positions: ReadonlyArray<Position>
  /** The events that make up the positions, in the order of the chain. */
  readonly events: ReadonlyArray<EventOfMint>
  /** Null without observed trades. */
  readonly history: WalletHistory | null
  /** Null without a consistent projection. */
  readonly projection: LedgerProjection | null
  /** The progress of reading the wallet's transactions; null when it was never requested. */
  readonly backfill: HistoryProgress | null
  /** The state of the balances. */
  readonly accounts: Pick<AccountedEvents, "isUnread" | "status" | "units">
}

/** Marks, time and share of a summary. A mint without an entry has no mark. */
export interface Valuation {
  readonly marks: ReadonlyMap<Mint, Mark>
  readonly nowMs: number
  readonly share: WalletShare
}

/** Coverage of `known` out of `total`; complete when the total is zero. */
const shareOf = (known: number, total: number): CoverageShare => {
  const status: Status = known === total ? "known" : known === 0 ? "unavailable" : "partial"
  return { complete: known === total, known, status, total }
}

/** The held trades, without transfers. */
const tradesIn = (history: WalletHistory | null): WalletHistory["trades"] =>
  history?.trades.filter(({ role }) => role !== "transfer") ?? []

const transactionsOf = (trades: WalletHistory["trades"]): number =>
  new Set(trades.map(({ signature }) => signature)).size

const indexOf = (history: WalletHistory | null, { events }: WalletShare): WalletIndexCoverage => {
  const trades = tradesIn(history)
  const liveSinceMs = history?.liveSinceMs ?? null
  const coveredFromMs = history?.coveredFromMs ?? null
  const isUnbroken = liveSinceMs !== null && coveredFromMs !== null && liveSinceMs <= coveredFromMs
  return {
    backfillDaysDone: 0,
    backfillDaysTarget: 0,
    coveredFromMs,
    coveredUntilMs: history?.coveredUntilMs ?? null,
    error: null,
    eventCap: events,
    eventCount: trades.length,
    exclusions: OBSERVED_EXCLUSIONS,
    historyTransport: "confirmed_blocks",
    liveSinceMs,
    scannedTransactions: transactionsOf(trades),
    source: "wallet-trade-index",
    status: history === null ? "unavailable" : "partial",
    truncated: history?.truncated ?? false,
    // Nobody knows what the missing blocks contain.
    unfetchedTransactions: isUnbroken ? 0 : null,
    unpricedTransactions: transactionsOf(trades.filter(({ volumeUsdNanos }) => volumeUsdNanos === null)),
    // An undecodable swap cannot be attributed to a wallet.
    unprovableTransactions: null
  }
}

/** Coverage of cost basis and valuation, for either source. */
const coverageOf = (positions: ReadonlyArray<Position>, { marks }: Valuation) => {
  const open = positions.filter(isOpen)
  return {
    holdings: shareOf(positions.filter(({ held }) => held !== null).length, positions.length),
    costBasis: shareOf(positions.filter(isBasisKnown).length, positions.length),
    valuation: shareOf(open.filter((position) => isValued(position, marks)).length, open.length)
  }
}

/** True when the position has a value: its units and a mark are known. */
const isValued = ({ held, mint }: Position, marks: Valuation["marks"]): boolean => held !== null && marks.has(mint)

/** How the open positions that have a value are marked. */
const marksOf = (positions: ReadonlyArray<Position>, { marks }: Valuation): WalletSummary["marks"] => {
  const used = positions.filter(isOpen).flatMap((position) => {
    const mark = isValued(position, marks) ? marks.get(position.mint) : undefined
    return mark === undefined ? [] : [mark]
  })
  const times = used.flatMap(({ atMs }) => atMs ?? [])
  const poolMedian = used.filter(({ method }) => method === "pool_median").length
  return {
    poolMedian,
    lastTrade: used.length - poolMedian,
    oldestAtMs: times.length === 0 ? null : Math.min(...times)
  }
}

const historyShare = (events: number): CoverageShare => ({
  complete: false,
  known: events,
  status: "partial",
  total: null
})

const observed = (
  { backfill, positions }: Holdings,
  history: WalletHistory,
  valuation: Valuation,
  events = tradesIn(history).length
) => ({
  scope: "observed_swaps",
  source: OBSERVED_SOURCE,
  fromMs: history.coveredFromMs,
  throughMs: history.coveredUntilMs,
  observedFromMs: history.trades.at(-1)?.timeMs ?? null,
  observedThroughMs: history.trades[0]?.timeMs ?? null,
  observedEvents: events,
  undatedEvents: history.undated,
  exclusions: isWholeLife(backfill, history) ? WHOLE_EXCLUSIONS : OBSERVED_EXCLUSIONS,
  ...coverageOf(positions, valuation),
  fees: shareOf(0, events),
  history: isWholeLife(backfill, history) ? shareOf(events, events) : historyShare(events)
})

const native = (projection: LedgerProjection, valuation: Valuation) => ({
  scope: "native_ledger",
  source: NATIVE_SOURCE,
  fromMs: projection.fromMs,
  throughMs: projection.throughMs,
  observedFromMs: projection.fromMs,
  observedThroughMs: projection.throughMs,
  observedEvents: projection.events,
  undatedEvents: 0,
  exclusions: NATIVE_EXCLUSIONS,
  ...coverageOf(projection.positions, valuation),
  fees: shareOf(projection.events, projection.events),
  history: historyShare(projection.events)
})

/** The positions of the projection if there is one, else the observed positions. */
export const positionsThatCount = ({ positions, projection }: Holdings): ReadonlyArray<Position> =>
  projection?.positions ?? positions

/** The summary of a wallet in the contract's type; null when no data is held. */
export const walletSummary = (holdings: Holdings, valuation: Valuation): WalletSummary | null => {
  const { accounts, backfill, history, projection } = holdings
  const positions = positionsThatCount(holdings)
  const basis = projection === null ? history && observed(holdings, history, valuation) : native(projection, valuation)
  if (basis === null) {
    return null
  }
  const pnl = summaryOf(
    positions.map((position) => ({ position, mark: valuation.marks.get(position.mint)?.price ?? null }))
  )
  const index = indexOf(history, valuation.share)
  const solana: WalletHistoryCoverage = {
    chain: "solana",
    complete: false,
    status: "partial",
    reason:
      projection !== null
        ? "not_captured"
        : accounts.status === "waiting"
          ? "backfill_running"
          : historyReason(backfill, history),
    // Blocks are read once confirmed; later orphaning is not reported.
    orphanedEvents: null,
    transfersIncluded: false,
    ...basis,
    index
  }
  return {
    asOf: valuation.nowMs,
    complete: false,
    coverage: projection === null ? "observed_swaps_only" : "native_ledger",
    historyCoverage: { solana },
    index,
    pnlMode: PNL_MODE,
    source: basis.source,
    token: null,
    wallet: {
      realized: usdTextOrNull(pnl.realized),
      unrealized: usdTextOrNull(pnl.unrealized),
      total: usdTextOrNull(pnl.total)
    },
    known: knownWalletBody(pnl),
    marks: marksOf(positions, valuation)
  }
}
