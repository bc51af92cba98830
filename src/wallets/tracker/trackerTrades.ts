/** Conversion of trades, balances and profits of tracked wallets into the types of the contract. */
import type { LiveEvent, PnlBody, PnlSummaryBody } from "../../api/schemas/LiveFrame.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { uiNumber } from "../../domain/decimal.ts"
import type { Rational } from "../../domain/rational.ts"
import { type Coverage, type Decimal, incomplete } from "../../domain/Scalar.ts"
import type { Signature } from "../../domain/Signature.ts"
import type { BalanceChange } from "../../api/schemas/Trade.ts"
import type { TrackerTrade, TradeFees } from "../../api/schemas/Tracker.ts"
import { USD_DIGITS } from "../../domain/units.ts"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import type { TokenState } from "../../tokens/TokenCache.ts"
import { quotableDex } from "../../chain/decoding/quotableDex.ts"
import type { Position } from "../ledger.ts"
import type { Mark } from "../marks.ts"
import { knownBody, knownWalletBody, quantitiesOf } from "../pnlBodies.ts"
import { PNL_MODE, pnlOf, usdText, usdTextOrNull } from "../pnl.ts"
import type { WalletPnl } from "../walletPnl.ts"
import { markText } from "../walletPositions.ts"
import { OBSERVED_SOURCE } from "../walletSummary.ts"
import type { PnlBook } from "./WalletLedger.ts"

const SOL_DIGITS = 9

/** Commitment of the blocks that trades come from. */
export type TradeCommitment = TrackerTrade["commitment"]

/**
 * Supply times price as the nearest double; null when either is unknown, as for SOL: the mint of wrapped SOL counts no
 * lamports.
 */
const marketCap = ({ mint, priceUsd }: TapeTrade, token: TokenState | null): number | null => {
  const facts = token?._tag === "Token" && mint !== SOL ? token.facts : null
  return priceUsd === null || facts === null ? null : priceUsd * uiNumber(facts.supply, facts.decimals)
}

/** The fees of a trade. A trade whose priority fee is unknown was recorded without its tips. */
const feesOf = ({ feeLamports, feeUsdNanos = 0n, priorityLamports, tipLamports }: TapeTrade): TradeFees => ({
  priorityLamports: priorityLamports ?? null,
  tipLamports: tipLamports ?? (priorityLamports === undefined ? null : 0n),
  frontEndUsd: usdTextOrNull(feeUsdNanos),
  frontEndLamports: feeLamports ?? (feeUsdNanos === 0n ? 0n : null)
})

/** The trade in the contract's type; `token` is the cached state of its mint. */
export const trackerTrade = (trade: TapeTrade, token: TokenState | null, commitment: TradeCommitment): TrackerTrade => {
  const metadata = token?._tag === "Token" ? token.metadata : null
  return {
    type: "trade",
    eventId: `${trade.signature}:${trade.index}`,
    wallet: trade.wallet,
    mint: trade.mint,
    side: trade.side,
    price_usd: trade.priceUsd,
    volume_usd: trade.volumeUsdNanos === null ? null : uiNumber(trade.volumeUsdNanos, USD_DIGITS),
    volume_sol: trade.lamports === null ? null : uiNumber(trade.lamports, SOL_DIGITS),
    market_cap_usd: marketCap(trade, token),
    amount: trade.amount,
    decimals: trade.decimals,
    ts: trade.timeMs,
    slot: trade.slot,
    index: trade.index,
    commitment,
    signature: trade.signature as Signature,
    pool: trade.pool,
    dex: trade.dex,
    quotable: quotableDex(trade.dex),
    fees: feesOf(trade),
    symbol: metadata?.symbol ?? null,
    name: metadata?.name ?? null,
    image: null,
    imageProxyUrl: null,
    imageStatus: "missing"
  }
}

/** Position of a balance change in its block: the position of the trade that caused it, else of its transaction. */
export interface ChainPosition {
  readonly signature: Signature
  readonly slot: number
  readonly index: number
  readonly timeMs: number
}

/** Value of the units in dollars, rounded down to a nano-dollar; null without a mark. */
const valueUsd = (units: bigint, price: Rational | null): Decimal | null =>
  price === null ? null : usdText((units * 1000n * price.numerator) / price.denominator)

type BalanceEvent = Extract<LiveEvent, { readonly type: "balance_update" }>

/** The balance change as an event. */
export const balanceUpdate = (change: BalanceChange, place: ChainPosition, mark: Mark | null): BalanceEvent => ({
  type: "balance_update",
  wallet: change.owner,
  body: {
    wallet: change.owner,
    mint: change.mint,
    native: change.native,
    balance: change.after,
    delta: change.delta.toString(),
    decimals: change.decimals,
    valueUsd: valueUsd(change.after, mark?.price ?? null),
    cause: change.cause,
    signature: place.signature,
    slot: place.slot,
    index: place.index,
    ts: place.timeMs
  }
})

/** The balance of a token after a fill of a replay, by the fills of its wallet. */
export const filledBalance = (trade: TapeTrade, after: bigint, mark: Mark | null): BalanceEvent => {
  const { amount, decimals, mint, side, wallet } = trade
  const delta = side === "buy" ? amount : -amount
  const change = { owner: wallet, mint, before: after - delta, after, delta, decimals, native: false } as const
  const place = { ...trade, signature: trade.signature as Signature }
  return { ...balanceUpdate({ ...change, cause: "trade" }, place, mark), isOfFill: true }
}

/**
 * Coverage of a book: `backfill_running` or `not_captured` without the token accounts, `source_gap` before missing blocks,
 * `limit_clipped` after drops, else observed swaps only.
 */
const coverageOf = ({ clipped, sinceMs, unread }: PnlBook, gapMs: number): Coverage =>
  incomplete(unread ?? (sinceMs < gapMs ? "source_gap" : clipped ? "limit_clipped" : "observed_swaps_only"))

/** Sums as decimal text, in the order of the contract. */
const sumsOf = (pnl: Pick<WalletPnl, "cost" | "proceeds" | "realized" | "roiPct" | "total" | "unrealized">) => ({
  realized: usdTextOrNull(pnl.realized),
  unrealized: usdTextOrNull(pnl.unrealized),
  total: usdTextOrNull(pnl.total),
  roiPct: pnl.roiPct,
  costUsd: usdTextOrNull(pnl.cost),
  proceedsUsd: usdTextOrNull(pnl.proceeds)
})

const sourceOf = (book: PnlBook, gapMs: number, nowMs: number) =>
  ({ pnlMode: PNL_MODE, source: OBSERVED_SOURCE, coverage: coverageOf(book, gapMs), asOf: nowMs }) as const

export const pnlBody = (input: {
  readonly book: PnlBook
  readonly position: Position
  readonly mark: Mark | null
  /** Blocks before this time may be missing, in milliseconds. */
  readonly gapMs: number
  readonly trigger: PnlBody["trigger"]
  readonly nowMs: number
}): PnlBody => {
  const { book, gapMs, mark, nowMs, position, trigger } = input
  const pnl = pnlOf(position, mark?.price ?? null)
  return {
    wallet: book.wallet,
    mint: position.mint,
    ...sumsOf(pnl),
    avgCostUsd: pnl.avgCost,
    holding: position.held,
    quantities: quantitiesOf(position),
    known: knownBody(pnl),
    decimals: position.decimals,
    markUsd: markText(mark?.price ?? null, position.decimals),
    markMethod: mark?.method ?? null,
    markAtMs: mark?.atMs ?? null,
    buys: position.buys,
    sells: position.sells,
    open: pnl.open,
    ...sourceOf(book, gapMs, nowMs),
    trigger
  }
}

/** Profit and loss of a wallet whose stored trades are not restored yet: nothing of it is known. */
export const unrestoredSummaryBody = (wallet: Address, nowMs: number): PnlSummaryBody => ({
  wallet,
  realized: null,
  unrealized: null,
  total: null,
  roiPct: null,
  costUsd: null,
  proceedsUsd: null,
  openCostUsd: null,
  openValueUsd: null,
  positionsOpen: 0,
  positionsClosed: 0,
  positionsUnknownBasis: 0,
  trades: 0,
  winRatePct: null,
  known: {
    realized: null,
    unrealized: null,
    total: null,
    cost: null,
    volumeShare: null,
    openValueShare: null,
    unpricedTrades: 0,
    unmarkedPositions: 0
  },
  pnlMode: PNL_MODE,
  source: OBSERVED_SOURCE,
  coverage: incomplete("backfill_running"),
  asOf: nowMs
})

export const pnlSummaryBody = (input: {
  readonly book: PnlBook
  readonly marks: (mint: Mint) => Mark | null
  readonly gapMs: number
  readonly nowMs: number
}): PnlSummaryBody => {
  const { book, gapMs, marks, nowMs } = input
  const pnl = book.pnlAt((mint) => marks(mint)?.price ?? null)
  return {
    wallet: book.wallet,
    ...sumsOf(pnl),
    openCostUsd: usdTextOrNull(pnl.openCost),
    openValueUsd: usdTextOrNull(pnl.openValue),
    positionsOpen: pnl.positionsOpen,
    positionsClosed: pnl.positionsClosed,
    positionsUnknownBasis: pnl.positionsUnknownBasis,
    trades: pnl.trades,
    winRatePct: pnl.winRatePct,
    known: knownWalletBody(pnl),
    ...sourceOf(book, gapMs, nowMs)
  }
}
