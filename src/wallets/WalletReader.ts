import { Cache, Clock, Context, Duration, Effect, Exit, Layer, Option } from "effect"
import type { Address, Mint } from "../domain/Address.ts"
import type { Rational } from "../domain/rational.ts"
import { COMPLETE, incomplete } from "../domain/Scalar.ts"
import type { WalletPerformance } from "../api/schemas/WalletPerformance.ts"
import type { WalletTrade, WalletTransfer } from "../api/schemas/WalletTrades.ts"
import type { WalletPnlHistory, WalletPositions } from "../api/schemas/WalletPositions.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import type { Bar } from "../market/memory/foldBars.ts"
import type { MarketStateReads } from "../market/tape/MarketReads.ts"
import type { TradeHistory } from "../market/model/TradeHistory.ts"
import { funderOf } from "../market/model/WalletOpenings.ts"
import type { OlderRequest } from "../market/model/TradesRequest.ts"
import { Market } from "../market/tape/Market.ts"
import { WatchedWallets } from "../market/tape/WatchedWallets.ts"
import type { TradeStoreUnavailable } from "../api/schemas/Trade.ts"
import { type WalletRow, type WalletRows, WalletsUnavailable } from "../api/schemas/WalletSummary.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { identityOf } from "./identity.ts"
import { IdentityStore } from "./IdentityStore.ts"
import type { WalletAccounts } from "./WalletAccounts.ts"
import { isOpen, type Position } from "./ledger.ts"
import { lastTradeMark, type Mark, marksAt } from "./marks.ts"
import { backfillBody, historyReason } from "./joinHistory.ts"
import type { TokenAccounts } from "../chain/rpc/TokenAccounts.ts"
import type { LedgerReader } from "./LedgerReader.ts"
import type { WalletIndex } from "./WalletIndex.ts"
import { shareOfBatch } from "./walletShare.ts"
import { makeHoldings, type WalletReadOptions } from "./readHoldings.ts"
import { dailyPnl, type HistoryRequest, unitPrice } from "./pnlHistory.ts"
import { walletResults } from "./walletResults.ts"
import { type PositionsPage, positionsPage, type PositionsRequest } from "./positionPages.ts"
import { balancesOf, type BalancesFound } from "./walletBalances.ts"
import { MomentNotRecorded, type PastMoment, type PastUnits, type RecordEnds, unitsOfPast } from "./pastBalances.ts"
import { lotsPage, type LotsPage, type LotsRequest, UNKNOWN_SUMS } from "./walletLots.ts"
import { makeUnits } from "./readUnits.ts"
import { NOTHING_STORED, type RelatedFound, relatedPage, type RelatedRequest } from "./relatedWallets.ts"
import { walletPosition } from "./walletPositions.ts"
import {
  continuedPage,
  firstTransfer,
  type FundingFound,
  olderFrom,
  tradesPage,
  transfersPage,
  type WalletRowsPage,
  type WalletRowsRequest,
  walletTrade,
  walletTransfer
} from "./walletTrades.ts"
import { type Holdings, positionsThatCount, walletSummary } from "./walletSummary.ts"

/** Deadline of the tags of an answer that is about something else. */
const TAGS_DEADLINE = Duration.millis(500)
const MOST_MARKS = 64
/** At most this many open mints are marked when a single wallet is read. */
const MOST_MARKS_OF_ONE = 1000
const DAYS_OF_DRAWDOWN = 365
/** Wallets whose rows are kept for the next page: at most 16, each with at most 4 MiB. */
const MOST_KEPT = 16
const KEPT_FOR = Duration.minutes(1)

/** A page of lots, and how well the wallet is known. */
export type LotsFound = LotsPage & Omit<WalletRowsPage<never>, "next" | "rows">

/**
 * Identities and profits of wallets, from data already held. Reading does not start to track a wallet. Only balances are
 * read from the node; nothing else is loaded unless a backfill is requested.
 */
export class WalletReader extends Context.Service<
  WalletReader,
  {
    /**
     * One row for each of 1 to 100 different wallets, in request order. Parts that cannot be read within 1.5 s are left
     * out of their row. Fails when the trades of no wallet can be read in that time.
     */
    rowsOf(wallets: ReadonlyArray<Address>, options?: WalletReadOptions): Effect.Effect<WalletRows, WalletsUnavailable>
    /**
     * Labels and tags of the identities of wallets; wallets without any are left out. Null when they cannot be read in
     * half a second.
     */
    tagsOf(wallets: ReadonlyArray<Address>): Effect.Effect<ReadonlyMap<Address, ReadonlyArray<string>> | null>
    /** A page of the positions of a wallet. Fails when they cannot be read within 1.5 s. */
    positionsOf(
      wallet: Address,
      request: PositionsRequest,
      options?: WalletReadOptions
    ): Effect.Effect<WalletPositions & Pick<PositionsPage, "next">, WalletsUnavailable>
    /** Results of the closed positions of a wallet. Same deadline and failure. */
    performanceOf(wallet: Address): Effect.Effect<WalletPerformance, WalletsUnavailable>
    /** A page of the trades of a wallet, newest first: those that are held, then those that only the store has. Same deadline and failure. */
    tradesOf(
      wallet: Address,
      request: WalletRowsRequest
    ): Effect.Effect<WalletRowsPage<WalletTrade>, WalletsUnavailable>
    /** A page of the transfers that are held of a wallet, newest first. Same deadline and failure. */
    transfersOf(
      wallet: Address,
      request: WalletRowsRequest
    ): Effect.Effect<WalletRowsPage<WalletTransfer>, WalletsUnavailable>
    /** What a wallet holds by the node, with the `limit` most valuable tokens. Same deadline and failure. */
    balancesOf(wallet: Address, limit: number): Effect.Effect<BalancesFound, WalletsUnavailable>
    /** What a wallet held at a moment in the past, by its newest recorded rows. Same deadline. */
    unitsAt(wallet: Address, moment: PastMoment): Effect.Effect<PastUnits, WalletsUnavailable | MomentNotRecorded>
    /** A page of the lots of a wallet by a method, from its observed swaps. Same deadline and failure. */
    lotsOf(wallet: Address, request: LotsRequest): Effect.Effect<LotsFound, WalletsUnavailable>
    /** Wallets that the funder of a wallet opened, or that the wallet opened. Fails when the store does not answer. */
    relatedOf(wallet: Address, request: RelatedRequest): Effect.Effect<RelatedFound, WalletsUnavailable>
    /** The first transfer to a wallet that is held. Same deadline and failure. */
    fundingOf(wallet: Address): Effect.Effect<FundingFound, WalletsUnavailable>
    /** Profit of a wallet on each of the last `days` UTC days, by its held trades. Same deadline and failure. */
    pnlHistoryOf(
      wallet: Address,
      days: number,
      options?: WalletReadOptions
    ): Effect.Effect<WalletPnlHistory, WalletsUnavailable>
  }
>()("fathom/wallets/WalletReader") {
  static readonly layer: Layer.Layer<
    WalletReader,
    never,
    WalletIndex | IdentityStore | LedgerReader | PriceBook | Market | WalletAccounts | TokenAccounts
  > = Layer.suspend(() => Layer.effect(WalletReader, make))
}

/** Rows of one kind: how they are selected from what is held, and written. */
interface RowsOfKind<Row> {
  readonly kind: OlderRequest["kind"]
  readonly pageOf: (held: Pick<Holdings, "backfill" | "history">, request: WalletRowsRequest) => WalletRowsPage<Row>
  readonly rowOf: (trade: TapeTrade) => Row
}

const make = Effect.gen(function* () {
  const identities = yield* IdentityStore
  const prices = yield* PriceBook
  const tape = yield* Market
  const watched = yield* WatchedWallets
  const { begin, holdingsOfAll, rowsOf: rowsOfWallet } = yield* makeHoldings

  const rowsOf = Effect.fn("WalletReader.rowsOf")(
    function* (wallets: ReadonlyArray<Address>, options: WalletReadOptions = {}) {
      yield* begin(wallets, options)
      const startedMs = yield* Clock.currentTimeMillis
      const share = shareOfBatch(wallets.length)
      const [records, holdings] = yield* Effect.all(
        [identities.of(wallets), holdingsOfAll(wallets, share, startedMs)],
        { concurrency: 2 }
      )
      const nowMs = yield* Clock.currentTimeMillis
      const marks = marksOf(
        marksAt(prices.at(nowMs), tape, nowMs),
        wallets.flatMap((wallet) => holdings.get(wallet) ?? [])
      )
      return inRows(wallets, (wallet) => {
        const held = holdings.get(wallet)
        return {
          identity: identityOf(wallet, records.get(wallet) ?? [], nowMs),
          summary: held === undefined ? null : walletSummary(held, { marks, nowMs, share }),
          isRead: held !== undefined,
          backfill: backfillBody(wallet, held?.backfill ?? null, held?.history ?? null, options.backfill === true)
        }
      })
    },
    Effect.mapError((cause) => new WalletsUnavailable({ cause }))
  )

  const tagsOf = Effect.fn("WalletReader.tagsOf")(function* (wallets: ReadonlyArray<Address>) {
    const records = yield* identities.of(wallets).pipe(
      Effect.timeoutOption(TAGS_DEADLINE),
      Effect.map(Option.getOrNull),
      Effect.orElseSucceed(() => null)
    )
    const nowMs = yield* Clock.currentTimeMillis
    return (
      records &&
      new Map(
        Array.from(records, ([wallet, found]) => {
          const { labels, tags } = identityOf(wallet, found, nowMs) ?? { labels: [], tags: [] }
          return [wallet, [...labels, ...tags]] as const
        }).filter(([, tags]) => tags.length > 0)
      )
    )
  })

  /** Data held of one wallet, with marks. Fails when it was not read in time. */
  const stateOf = Effect.fnUntraced(
    function* (wallet: Address, options: WalletReadOptions) {
      yield* begin([wallet], options)
      const share = shareOfBatch(1)
      const found = yield* holdingsOfAll([wallet], share, yield* Clock.currentTimeMillis)
      const nowMs = yield* Clock.currentTimeMillis
      const holdings = yield* Effect.fromNullishOr(found.get(wallet))
      const marks = marksOf(marksAt(prices.at(nowMs), tape, nowMs), [holdings], MOST_MARKS_OF_ONE)
      const summary = walletSummary(holdings, { marks, nowMs, share })
      const { backfill, history } = holdings
      const state = {
        wallet,
        status: summary === null ? UNAVAILABLE : PARTIAL,
        reason: summary === null ? NOT_CAPTURED : null,
        summary,
        backfill: backfillBody(wallet, backfill, history, options.backfill === true)
      }
      return { holdings, marks, nowMs, state }
    },
    Effect.mapError((cause) => new WalletsUnavailable({ cause }))
  )

  const positionsOf = Effect.fn("WalletReader.positionsOf")(function* (
    wallet: Address,
    request: PositionsRequest,
    options: WalletReadOptions = {}
  ) {
    const { holdings, marks, state } = yield* stateOf(wallet, options)
    const all = positionsThatCount(holdings).map((position) =>
      walletPosition(position, marks.get(position.mint) ?? null, lastTradeMark(tape, position.mint))
    )
    const page = positionsPage(all, request)
    return { ...state, ...page, truncated: page.next !== null }
  })

  const pnlHistoryOf = Effect.fn("WalletReader.pnlHistoryOf")(function* (
    wallet: Address,
    days: number,
    options: WalletReadOptions = {}
  ) {
    const { holdings, marks, nowMs, state } = yield* stateOf(wallet, options)
    const candles = dailyCloses(tape.state, nowMs, days)
    const priceAt: HistoryRequest["priceAt"] = (position, dayMs) =>
      nowMs - dayMs < DAY_MS ? (marks.get(position.mint)?.price ?? null) : candles(position, dayMs)
    const { isUnread, units } = holdings.accounts
    const unitsOf = (mint: Mint) => units?.get(mint) ?? null
    return { ...state, days: dailyPnl(holdings.events, { days, nowMs, priceAt, isUnread, unitsOf }) }
  })

  const performanceOf = Effect.fn("WalletReader.performanceOf")(function* (wallet: Address) {
    const { holdings, nowMs, state } = yield* stateOf(wallet, {})
    const { isUnread } = holdings.accounts
    const days = dailyPnl(holdings.events, { days: DAYS_OF_DRAWDOWN, nowMs, priceAt: () => null, isUnread })
    return { ...state, results: state.summary && walletResults(positionsThatCount(holdings), days) }
  })

  const kept = yield* Cache.makeWith(
    (wallet: Address) => Effect.mapError(rowsOfWallet(wallet), (cause) => new WalletsUnavailable({ cause })),
    { capacity: MOST_KEPT, timeToLive: (exit) => (Exit.isSuccess(exit) ? KEPT_FOR : Duration.zero) }
  )

  /** The first page reads the wallet. Later pages find the rows as the first page read them. */
  const heldOf = (wallet: Address, { before }: WalletRowsRequest) =>
    before === null ? Cache.refresh(kept, wallet) : Cache.get(kept, wallet)

  /**
   * A page of what is held, and beyond it of what only the store has. Which transfers count of a wallet that is not watched
   * depends on its first trades, so that only held ones do.
   */
  const rowsPageOf = Effect.fnUntraced(function* <Row>(
    wallet: Address,
    request: WalletRowsRequest,
    { kind, pageOf, rowOf }: RowsOfKind<Row>
  ) {
    const held = yield* heldOf(wallet, request)
    const found = pageOf(held, request)
    const [from, stored] = [olderFrom(held, request, found), tape.stored()]
    if (from === null || stored === null || (kind === "transfers" && !watched.has(wallet))) {
      return found
    }
    const { fromMs, limit, mint, side, toMs } = request
    const room = limit - found.rows.length
    const older = yield* Effect.mapError(
      stored.trades.olderOf({ wallet, kind, mint, side, fromMs, toMs, before: from, limit: room + 1 }),
      (cause) => new WalletsUnavailable({ cause })
    )
    return continuedPage(found, held, request, { from, older, rowOf })
  })

  const tradesOf = Effect.fn("WalletReader.tradesOf")((wallet: Address, request: WalletRowsRequest) =>
    rowsPageOf(wallet, request, { kind: "trades", pageOf: tradesPage, rowOf: walletTrade })
  )

  const transfersOf = Effect.fn("WalletReader.transfersOf")((wallet: Address, request: WalletRowsRequest) =>
    rowsPageOf(wallet, request, { kind: "transfers", pageOf: transfersPage, rowOf: walletTransfer })
  )

  const unitsOf = yield* makeUnits

  const balancesOfWallet = Effect.fn("WalletReader.balancesOf")(function* (wallet: Address, limit: number) {
    const held = yield* Effect.mapError(
      unitsOf(wallet),
      (cause) =>
        new WalletsUnavailable({ cause, isTooLarge: cause._tag === "ChainUnavailable" && cause.isTooLarge === true })
    )
    const nowMs = yield* Clock.currentTimeMillis
    const markOf = marksAt(prices.at(nowMs), tape, nowMs)
    return balancesOf(wallet, held, { markOf, decimalsOf: (mint) => tape.decimalsOf(mint) }, limit)
  })

  /** The ends of the record. A second is whole once a later one has begun. Blocks that are not stored yet are not read. */
  const recordEnds = (): RecordEnds => {
    const [waiting] = tape.unstored()
    const [slot, second] = [waiting?.slot ?? Infinity, Math.floor((waiting?.timeMs ?? Infinity) / 1000)]
    return {
      since: tape.since(),
      fromSlot: tape.recent.fromSlot,
      toSlot: Math.min(tape.newestSlot(), slot - 1),
      toSecond: Math.min(tape.state.now, second) - 1,
      gaps: tape.gaps()
    }
  }

  const unitsAt = Effect.fn("WalletReader.unitsAt")(function* (wallet: Address, moment: PastMoment) {
    // Before the rows are read: they may have more than the record had, and never less.
    const ends = recordEnds()
    const held = yield* Effect.mapError(rowsOfWallet(wallet), (cause) => new WalletsUnavailable({ cause }))
    const found = unitsOfPast(held, moment, ends)
    return found instanceof MomentNotRecorded ? yield* found : found
  })

  /** Asks the store for openings; null without a store. */
  const askOpenings = <A>(
    ask: (trades: TradeHistory["Service"]) => Effect.Effect<A, TradeStoreUnavailable>
  ): Effect.Effect<A | null, WalletsUnavailable> => {
    const stored = tape.stored()
    return stored === null
      ? Effect.succeed(null)
      : Effect.mapError(ask(stored.trades), (cause) => new WalletsUnavailable({ cause }))
  }

  const fundingOf = Effect.fn("WalletReader.fundingOf")(function* (wallet: Address) {
    const [held, found] = yield* Effect.all(
      [Cache.refresh(kept, wallet), askOpenings((trades) => trades.openingOf(wallet))],
      { concurrency: 2 }
    )
    return firstTransfer(wallet, held, found?.opening ?? null)
  })

  const relatedOf = Effect.fn("WalletReader.relatedOf")(function* (wallet: Address, request: RelatedRequest) {
    const { before, limit, relation } = request
    const found = yield* askOpenings((trades) => trades.openingsOf({ wallet, relation, before, limit: limit + 2 }))
    const { from, opened, opening, toMs } = found ?? NOTHING_STORED
    const since = Math.max(from, tape.recordedSince())
    const isHeld = Number.isFinite(since) && toMs !== null && since * 1000 <= toMs
    const fromMs = isHeld ? since * 1000 : null
    return relatedPage(wallet, request, {
      fromMs,
      toMs,
      opening,
      funder: funderOf({ wallet, relation }, opening),
      opened
    })
  })

  const lotsOf = Effect.fn("WalletReader.lotsOf")(function* (wallet: Address, request: LotsRequest) {
    const { holdings, state } = yield* stateOf(wallet, {})
    const { accounts, backfill, events, history } = holdings
    const reason =
      history === null || accounts.status === "unavailable"
        ? "not_captured"
        : accounts.status === "waiting"
          ? "backfill_running"
          : historyReason(backfill, history)
    return {
      ...lotsPage({ ...accounts, events }, request),
      ...(history === null && { sums: UNKNOWN_SUMS }),
      coveredFromMs: history?.coveredFromMs ?? null,
      observedAtMs: history?.coveredUntilMs ?? null,
      status: state.status === UNAVAILABLE ? UNAVAILABLE : reason === null ? ("known" as const) : PARTIAL,
      coverage: reason === null ? COMPLETE : incomplete(reason)
    }
  })

  return WalletReader.of({
    lotsOf,
    relatedOf,
    balancesOf: balancesOfWallet,
    unitsAt,
    fundingOf,
    rowsOf,
    tagsOf,
    positionsOf,
    performanceOf,
    tradesOf,
    transfersOf,
    pnlHistoryOf
  })
})

const [PARTIAL, UNAVAILABLE, NOT_CAPTURED] = ["partial", "unavailable", "not_captured"] as const
const DAY_MS = 86_400_000

/** Prices at the ends of past days: the close of the last daily candle in memory that begins no later. */
const dailyCloses = (market: Pick<MarketStateReads, "bars">, nowMs: number, days: number) => {
  const known = new Map<Mint, ReadonlyArray<Bar>>()
  return ({ decimals, mint }: Position, dayMs: number): Rational | null => {
    const window = { resolution: "1d", from: null, to: Math.floor(nowMs / 1000), limit: days } as const
    const bars = known.get(mint) ?? market.bars(mint, window)?.bars ?? []
    known.set(mint, bars)
    const bar = bars.findLast(({ second }) => second * 1000 <= dayMs)
    return bar === undefined || decimals === null ? null : unitPrice(bar.close, decimals)
  }
}

/** Marks of the first open mints. Mints without a mark are left out. */
const marksOf = (
  markOf: (mint: Mint) => Mark | null,
  holdings: ReadonlyArray<Holdings>,
  most = MOST_MARKS
): ReadonlyMap<Mint, Mark> => {
  const open = holdings.flatMap((held) => positionsThatCount(held).filter(isOpen))
  const mints = Array.from(new Set(open.map(({ mint }) => mint))).slice(0, most)
  return new Map(
    mints.flatMap((mint) => {
      const mark = markOf(mint)
      return mark === null ? [] : [[mint, mark] as const]
    })
  )
}

const inRows = (
  wallets: ReadonlyArray<Address>,
  known: (wallet: Address) => Pick<WalletRow, "backfill" | "identity" | "summary"> & { readonly isRead: boolean }
): WalletRows => {
  const rows = wallets.map((wallet): WalletRow => {
    const { backfill, identity, isRead, summary } = known(wallet)
    const status = identity === null && summary === null ? UNAVAILABLE : PARTIAL
    const reason = summary !== null ? null : isRead ? NOT_CAPTURED : UNAVAILABLE
    return { wallet, status, reason, identity, summary, backfill }
  })
  return { complete: rows.every(({ summary }) => summary !== null), wallets: rows }
}
