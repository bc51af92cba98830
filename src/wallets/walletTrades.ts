/** Pages of the trades and transfers of one wallet, from what is held of it. Pure. */
import type { WalletTrade, WalletTransfer } from "../api/schemas/WalletTrades.ts"
import type { WalletFunding } from "../api/schemas/WalletBalances.ts"
import type { Address, Mint } from "../domain/Address.ts"
import { type Coverage, COMPLETE, incomplete, type Status } from "../domain/Scalar.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import type { OlderFound } from "../market/model/TradesRequest.ts"
import { tokenTrade } from "../market/reads/tokenTrade.ts"
import type { OpeningRecord } from "../market/model/WalletOpenings.ts"
import { openingTransfer } from "./relatedWallets.ts"
import { historyReason } from "./joinHistory.ts"
import type { Holdings } from "./walletSummary.ts"

/**
 * A place among the rows of a wallet. The signature belongs to it, because rows that were read from the wallet's own
 * transactions are not counted with the other trades of their slot.
 */
export type WalletPlace = Pick<TapeTrade, "slot" | "index" | "signature" | "mint">

/** Selects rows of a wallet. Null does not filter. */
export interface WalletRowsRequest {
  readonly mint: Mint | null
  /** For transfers `buy` is what came in. */
  readonly side: TapeTrade["side"] | null
  /** Block times in `[fromMs, toMs)`. */
  readonly fromMs: number | null
  readonly toMs: number | null
  /** Null starts with the newest row. */
  readonly before: WalletPlace | null
  readonly limit: number
  /** True to leave out rows that only the store has. */
  readonly isHeldOnly?: boolean
}

/** A page of rows, newest first, and how well the wallet is known. */
export interface WalletRowsPage<Row> {
  readonly rows: ReadonlyArray<Row>
  /** The place after which the next page begins; null at the end. */
  readonly next: WalletPlace | null
  /** Times between which rows are held; null without any. */
  readonly coveredFromMs: number | null
  readonly observedAtMs: number | null
  readonly status: Status
  readonly coverage: Coverage
}

const compareText = (a: string, b: string): number => (a < b ? 1 : Number(a > b) * -1)

/** Compares places for sorting, newest first. */
const newestFirst = (a: WalletPlace, b: WalletPlace): number =>
  b.slot - a.slot || b.index - a.index || compareText(a.signature, b.signature) || compareText(a.mint, b.mint)

const passes =
  ({ before, fromMs, mint, side, toMs }: WalletRowsRequest) =>
  (trade: TapeTrade): boolean =>
    (mint === null || trade.mint === mint) &&
    (side === null || trade.side === side) &&
    (fromMs === null || trade.timeMs >= fromMs) &&
    (toMs === null || trade.timeMs < toMs) &&
    (before === null || newestFirst(before, trade) < 0)

const placeOf = ({ index, mint, signature, slot }: WalletPlace): WalletPlace => ({ slot, index, signature, mint })

const page = <Row>(
  { backfill, history }: Pick<Holdings, "backfill" | "history">,
  request: WalletRowsRequest,
  isWanted: (trade: TapeTrade) => boolean,
  rowOf: (trade: TapeTrade) => Row
): Omit<WalletRowsPage<Row>, "coverage" | "status"> & { readonly reason: Coverage["reason"] } => {
  const found = (history?.trades ?? []).filter(isWanted).filter(passes(request)).toSorted(newestFirst)
  const trades = found.slice(0, request.limit)
  const last = found.length > request.limit ? trades.at(-1) : undefined
  const isClipped = history?.truncated === true && last === undefined
  return {
    rows: trades.map(rowOf),
    next: last === undefined ? null : placeOf(last),
    coveredFromMs: history?.coveredFromMs ?? null,
    observedAtMs: history?.coveredUntilMs ?? null,
    reason: history === null ? "not_captured" : isClipped ? "limit_clipped" : historyReason(backfill, history)
  }
}

const known = <Row>({ reason, ...rest }: ReturnType<typeof page<Row>>): WalletRowsPage<Row> => ({
  ...rest,
  status: rest.coveredFromMs === null ? "unavailable" : reason === null ? "known" : "partial",
  coverage: reason === null ? COMPLETE : incomplete(reason)
})

export const walletTrade = (trade: TapeTrade): WalletTrade => {
  const { isWhole: _, wallet: __, ...row } = tokenTrade(trade)
  return row
}

export const walletTransfer = ({
  amount,
  counterparty,
  decimals,
  index,
  mint,
  side,
  signature,
  slot,
  timeMs,
  wallet
}: TapeTrade): WalletTransfer => ({
  id: `${signature}:${index}`,
  signature,
  slot,
  index,
  timeMs,
  direction: side === "buy" ? "in" : "out",
  from: side === "buy" ? (counterparty ?? null) : wallet,
  to: side === "buy" ? wallet : (counterparty ?? null),
  mint,
  amount,
  decimals
})

/** A page beyond the held rows. */
interface Older<Row> {
  /** Where the held rows ended. */
  readonly from: WalletPlace
  /** One row more than the page has room for shows that there is another page. */
  readonly older: OlderFound
  readonly rowOf: (trade: TapeTrade) => Row
}

/**
 * The place where rows that only the store has begin; null when the held ones suffice. The store has every older row of a
 * wallet whose transactions were not read.
 */
export const olderFrom = (
  { backfill, history }: Pick<Holdings, "backfill" | "history">,
  { before, fromMs, isHeldOnly = false }: WalletRowsRequest,
  { next }: Pick<WalletRowsPage<never>, "next">
): WalletPlace | null => {
  const oldest = history?.trades.at(-1)
  if (isHeldOnly || next !== null || backfill !== null || history?.truncated !== true || oldest === undefined) {
    return null
  }
  const from = before === null || newestFirst(oldest, before) > 0 ? placeOf(oldest) : before
  return fromMs !== null && oldest.timeMs < fromMs ? null : from
}

/** The page with rows that the store has beyond the held ones. */
export const continuedPage = <Row>(
  found: WalletRowsPage<Row>,
  { backfill, history }: Pick<Holdings, "backfill" | "history">,
  { limit }: WalletRowsRequest,
  { from, older: { searchedTo, trades }, rowOf }: Older<Row>
): WalletRowsPage<Row> => {
  const room = limit - found.rows.length
  const page = trades.slice(0, room)
  const last = trades.length > room ? (page.at(-1) ?? from) : searchedTo
  const begins = [found.coveredFromMs, history?.liveSinceMs, page.at(-1)?.timeMs].filter(
    (ms) => ms !== null && ms !== undefined
  )
  return known({
    ...found,
    reason: historyReason(backfill, history),
    rows: [...found.rows, ...page.map(rowOf)],
    next: last === null ? null : placeOf(last),
    coveredFromMs: begins.length === 0 ? null : Math.min(...begins)
  })
}

/** A page of the trades of a wallet. Complete only when its whole life was read. */
export const tradesPage = (
  holdings: Pick<Holdings, "backfill" | "history">,
  request: WalletRowsRequest
): WalletRowsPage<WalletTrade> => known(page(holdings, request, ({ role }) => role !== "transfer", walletTrade))

/**
 * A page of the transfers of a wallet. Never complete: the record has the transfers of a mint from the wallet's first
 * trade in it on, and for tracked wallets all that were seen.
 */
export const transfersPage = (
  holdings: Pick<Holdings, "backfill" | "history">,
  request: WalletRowsRequest
): WalletRowsPage<WalletTransfer> => {
  const found = page(holdings, request, ({ role }) => role === "transfer", walletTransfer)
  return known({ ...found, reason: found.reason ?? "not_captured" })
}

/** The first transfer to a wallet, and how well the beginning of the wallet is known. */
export interface FundingFound extends Omit<WalletRowsPage<never>, "next" | "rows"> {
  readonly data: WalletFunding
}

/** The oldest transfer to the wallet that is held. Never complete, like every list of transfers. */
export const firstTransfer = (
  wallet: Address,
  holdings: Pick<Holdings, "backfill" | "history">,
  opening: OpeningRecord | null
): FundingFound => {
  const trades = holdings.history?.trades ?? []
  const oldestFirst = trades.toSorted((a, b) => newestFirst(b, a))
  const transfer = oldestFirst.find(({ role, side }) => role === "transfer" && side === "buy")
  const trade = oldestFirst.find(({ role }) => role !== "transfer")
  const {
    next: _,
    rows: __,
    ...knowledge
  } = transfersPage(holdings, {
    mint: null,
    side: "buy",
    fromMs: null,
    toMs: null,
    before: null,
    limit: trades.length
  })
  return {
    ...knowledge,
    data: {
      wallet,
      transfer: transfer === undefined ? null : walletTransfer(transfer),
      opening: opening === null ? null : openingTransfer(opening),
      tradedBefore: transfer === undefined ? null : trade !== undefined && newestFirst(transfer, trade) < 0
    }
  }
}
