import { Clock, Context, Effect, Layer } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { ChartRefusal, ChartRequest, KnownChart } from "../../api/schemas/Chart.ts"
import {
  type DiscoveryRow,
  type Lighthouse,
  type MarketKnowledge,
  MarketUnavailable,
  type MovementRow,
  type Overview,
  type ViewExpired,
  type WindowCoverage
} from "../../api/schemas/MarketViews.ts"
import type { LaunchUnknown } from "../../api/schemas/LaunchView.ts"
import type { PriceAt, PriceMoment } from "../../api/schemas/PriceAt.ts"
import type { ListedPool } from "../../api/schemas/PoolList.ts"
import type { ScreenRow } from "../../api/schemas/TokenScreen.ts"
import { TokenNotLoaded, UnknownToken } from "../../api/schemas/Token.ts"
import type { LiveHolders } from "../../api/schemas/TokenHolders.ts"
import type { TokenStats } from "../../api/schemas/TokenStats.ts"
import type { Coverage } from "../../domain/Scalar.ts"
import { PoolBook } from "../../quotes/pools/PoolBook.ts"
import { liveHolders, unknownHolders } from "./liveHolders.ts"
import { HolderReader } from "../../tokens/HolderReader.ts"
import { PriceBook } from "../../tokens/PriceBook.ts"
import { TokenBook } from "../../tokens/TokenBook.ts"
import { EvmCandles, type EvmInterval } from "./EvmCandles.ts"
import type { EvmToken } from "./evmChart.ts"
import { makeCharts } from "./makeCharts.ts"
import { lackingNow } from "../tape/freshness.ts"
import { Market } from "../tape/Market.ts"
import type { WindowName } from "../model/windows.ts"
import { type DiscoverySelectors, discoveryView } from "./discovery.ts"
import {
  type FirstBuyersList,
  type KnownFirstBuyers,
  type KnownLaunch,
  type LaunchList,
  makeLaunchReads,
  type WalletLaunchList
} from "./makeLaunchReads.ts"
import { type LeadersPage, type LeadersRequest, makeLeaderReads } from "./makeLeaderReads.ts"
import type { LaunchPageRequest } from "./launchPage.ts"
import { makePricesAt } from "./pricesAt.ts"
import { makeMarketViews } from "./makeMarketViews.ts"
import { type MovementSelectors, movementView } from "./movement.ts"
import { largestTrades } from "./largestTrades.ts"
import { largestWindows, rangeRequest, statsCoverage, tokenStats as statsOf, withLargest } from "./tokenStats.ts"
import { poolList, type PoolSelectors } from "./poolList.ts"
import { discoveryRow, movementRow, poolRow, rankedPage, screenRow, type RankedPage, statusOf } from "./pages.ts"
import { type ScreenSelectors, screenView } from "./screenView.ts"
import { makeRankedPages, type PageRequest } from "./rankedPages.ts"

/** Most screens that pages can be read of at once. Their rows are wider than those of other rankings. */
const MOST_SCREENS = 64

/** Data with its status, coverage and observation time. */
export interface MarketAnswer<A> extends MarketKnowledge {
  readonly data: A
}

/**
 * The state of a page as of now. Blocks may have stopped since its view was taken, and a page must report that at once.
 */
const stateNow = (
  page: MarketKnowledge,
  now: Coverage,
  lacking: ReturnType<typeof lackingNow>
): Pick<MarketKnowledge, "coverage" | "status"> =>
  lacking === "source_gap" && page.status !== "stale" ? { coverage: now, status: statusOf(now) } : page

/** Reads of the market from memory. Charts of EVM tokens come from the service that keeps their candles. */
export class MarketReader extends Context.Service<
  MarketReader,
  {
    /** Candles of a Solana token. An unknown token is queued, and is not ready until it has been read. */
    chart(mint: Mint, request: ChartRequest): Effect.Effect<KnownChart, ChartRefusal>
    /** Candles of an EVM token, folded from candles of an interval that its source has. */
    evmChart(token: EvmToken, interval: EvmInterval, request: ChartRequest): Effect.Effect<KnownChart, ChartRefusal>
    /** Windows of a token, and the range of its price since a second. Null means since the beginning of the record. */
    tokenStats(mint: Mint, from: number | null): Effect.Effect<MarketAnswer<TokenStats>, ChartRefusal>
    /** The price of a token at a second that is not later than now. */
    priceAt(moment: PriceMoment): Effect.Effect<MarketAnswer<PriceAt>, ChartRefusal>
    /**
     * Prices of tokens at seconds, in the given order, without a value where none is known. Fails while none of them
     * can be read.
     */
    pricesAt(
      moments: ReadonlyArray<PriceMoment>
    ): Effect.Effect<MarketAnswer<ReadonlyArray<PriceAt>>, MarketUnavailable>
    /** Launches of tokens, newest first. */
    launches(request: LaunchPageRequest): Effect.Effect<LaunchList, MarketUnavailable>
    /** Launches of tokens by a wallet, newest first. */
    launchesOf(
      creator: Address,
      page: Pick<LaunchPageRequest, "after" | "limit">
    ): Effect.Effect<WalletLaunchList, MarketUnavailable>
    /** Wallets by realized profit, volume or trades over all tokens in a window. */
    leaders(request: LeadersRequest): Effect.Effect<LeadersPage, MarketUnavailable | ViewExpired>
    /** The launch of one token, with its first buyers. */
    launchOf(mint: Mint): Effect.Effect<KnownLaunch, LaunchUnknown | MarketUnavailable>
    /** The first `limit` wallets that bought a token, and what they hold. Unknown for a token whose creation was not seen. */
    firstBuyersOf(mint: Mint, limit: number): Effect.Effect<KnownFirstBuyers, MarketUnavailable>
    /**
     * The first `limit` buyers of each token in numbers, in the given order. `paid` gets the pages of trades that were
     * read so far and that nobody has paid for, every few tokens. Its failure ends the search, and leaves all of them
     * unpaid.
     */
    firstBuyersOfMany<E>(
      mints: ReadonlyArray<Mint>,
      limit: number,
      paid: (pages: number) => Effect.Effect<void, E>
    ): Effect.Effect<FirstBuyersList, MarketUnavailable | E>
    /** Every market in every window. */
    readonly lighthouse: Effect.Effect<
      MarketAnswer<Lighthouse> & { readonly windowCoverage: WindowCoverage },
      MarketUnavailable
    >
    /** The whole market in one window. */
    overview(window: WindowName): Effect.Effect<MarketAnswer<Overview>, MarketUnavailable>
    /** Tokens ranked by their activity in a window. */
    movement(
      selectors: MovementSelectors,
      page: PageRequest
    ): Effect.Effect<RankedPage<MovementRow>, MarketUnavailable | ViewExpired>
    /** The same ranking of what is in memory, without waiting for a restore: for work that repeats it. */
    movementNow(
      selectors: MovementSelectors,
      page: PageRequest
    ): Effect.Effect<RankedPage<MovementRow>, MarketUnavailable | ViewExpired>
    /** Tokens in ranges of their statistics. */
    screen(
      selectors: ScreenSelectors,
      page: PageRequest
    ): Effect.Effect<RankedPage<ScreenRow>, MarketUnavailable | ViewExpired>
    /** The first rows of the same screen of what is in memory, without waiting for a restore: for work that repeats it. */
    screenNow(selectors: ScreenSelectors, limit: number): Effect.Effect<RankedPage<ScreenRow>, MarketUnavailable>
    /** Holders of a token, which is followed if there is room. A token that is not in memory is queued. */
    holdersNow(mint: Mint): Effect.Effect<LiveHolders, TokenNotLoaded | UnknownToken>
    /** Pools that traded or were created lately, or all of a token, in one of three orders. */
    pools(
      selectors: PoolSelectors,
      page: PageRequest
    ): Effect.Effect<RankedPage<ListedPool>, MarketUnavailable | ViewExpired>
    /** Tokens by the stage of their launch. */
    discovery(
      selectors: DiscoverySelectors,
      page: PageRequest
    ): Effect.Effect<RankedPage<DiscoveryRow>, MarketUnavailable | ViewExpired>
  }
>()("fathom/market/reads/MarketReader") {
  static readonly layer: Layer.Layer<MarketReader, never, Market | TokenBook | PriceBook | PoolBook | EvmCandles> =
    Layer.effect(
      MarketReader,
      Effect.gen(function* () {
        const tape = yield* Market
        const tokens = yield* TokenBook
        const prices = yield* PriceBook
        const pools = yield* PoolBook
        const holders = yield* HolderReader
        const sources = { tape, tokens, prices, pools, holders }
        const views = makeMarketViews(sources)

        /** Loads tokens with incomplete rows, so that later rows are complete. */
        const warm = (mints: ReadonlyArray<Mint>) =>
          Effect.forEach(mints, (mint) => Effect.andThen(tokens.warm(mint), prices.warm(mint)), { discard: true })
        const movements = yield* makeRankedPages<MovementRow>(warm)
        const discoveries = yield* makeRankedPages<DiscoveryRow>(warm)
        const screens = yield* makeRankedPages<ScreenRow>(warm, MOST_SCREENS)

        const poolPages = yield* makeRankedPages<ListedPool>(warm, MOST_SCREENS)

        const nowAtOnce = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
          tape.heardAtMs() === null
            ? Effect.fail(new MarketUnavailable({ detail: "No block has been read yet." }))
            : Effect.succeed(nowMs)
        )
        const now = Effect.andThen(tape.restored, nowAtOnce)

        const movementNow = Effect.fnUntraced(function* (selectors: MovementSelectors, request: PageRequest) {
          const nowMs = yield* nowAtOnce
          const { window } = selectors
          const make = Effect.suspend(() =>
            movementView(
              sources,
              views.ranking(window),
              selectors,
              views.contextAt(nowMs),
              views.coverage(window, nowMs)
            )
          )
          const page = yield* movements(selectors, request, nowMs, make)
          const data = page.data.map((row) => movementRow(row, nowMs))
          return { ...page, ...stateNow(page, views.coverage(window, nowMs), lackingNow(tape, nowMs)), data }
        })

        const discovery = Effect.fnUntraced(function* (selectors: DiscoverySelectors, request: PageRequest) {
          if (selectors.stage !== "trending" && !tape.reportsLaunches()) {
            return yield* new MarketUnavailable({ detail: "The trade feed does not report launches." })
          }
          const nowMs = yield* now
          const make = Effect.suspend(() =>
            discoveryView(sources, selectors, views.contextAt(nowMs), views.coverage(selectors.window, nowMs))
          )
          const page = yield* discoveries(selectors, request, nowMs, make)
          const data = page.data.map((row) => discoveryRow(row, nowMs))
          return { ...page, ...stateNow(page, views.coverage(selectors.window, nowMs), lackingNow(tape, nowMs)), data }
        })

        const screen = Effect.fnUntraced(function* (selectors: ScreenSelectors, request: PageRequest) {
          const nowMs = yield* now
          const make = Effect.suspend(() =>
            screenView(sources, selectors, views.contextAt(nowMs), views.coverage("24h", nowMs))
          )
          const page = yield* screens(selectors, request, nowMs, make)
          const data = page.data.map((row) => screenRow(row, nowMs))
          return { ...page, ...stateNow(page, views.coverage("24h", nowMs), lackingNow(tape, nowMs)), data }
        })

        // Pinned views are for callers that turn pages, so this view is not kept.
        const screenNow = Effect.fnUntraced(function* (selectors: ScreenSelectors, limit: number) {
          const nowMs = yield* nowAtOnce
          const coverage = views.coverage("24h", nowMs)
          const view = yield* screenView(sources, selectors, views.contextAt(nowMs), coverage)
          yield* warm(view.unloaded)
          return rankedPage(view, { origin: "", view: 0, place: 0, untilMs: 0 }, limit, nowMs)
        })

        const holdersNow = Effect.fnUntraced(function* (mint: Mint) {
          const state = tokens.read(mint)
          if (state === null) {
            yield* tokens.warm(mint)
            return yield* new TokenNotLoaded({ mint })
          }
          if (state._tag === "NoToken") {
            return yield* new UnknownToken({ mint })
          }
          // Concentrations leave pools out, so the pools have to be loaded.
          yield* pools.isLoaded(mint) ? Effect.void : pools.warm(mint)
          const nowMs = yield* Clock.currentTimeMillis
          const program = state._tag === "Token" ? state.facts?.tokenProgram : undefined
          const lacking = program === undefined ? "not_captured" : holders.suggest(mint, program, nowMs)
          const known = holders.knownOf(mint, nowMs)
          return known === null ? unknownHolders(mint, lacking ?? "not_captured") : liveHolders(mint, known)
        })

        /** Pools of a list are sought from here on: the day, and further back where the selectors ask for it. */
        const poolCoverage = ({ createdSinceMs }: PoolSelectors, nowMs: number) => {
          const day = views.coverage("24h", nowMs)
          return day.complete && createdSinceMs !== null
            ? tape.coverageFrom(Math.floor(createdSinceMs / 1000), nowMs)
            : day
        }

        const listPools = Effect.fnUntraced(function* (selectors: PoolSelectors, request: PageRequest) {
          const nowMs = yield* now
          const make = Effect.suspend(() =>
            poolList(sources, selectors, () => views.contextAt(nowMs), poolCoverage(selectors, nowMs))
          )
          const page = yield* poolPages(selectors, request, nowMs, make)
          const data = page.data.map((row) => poolRow(row, nowMs))
          return { ...page, ...stateNow(page, poolCoverage(selectors, nowMs), lackingNow(tape, nowMs)), data }
        })

        const { chartWith, ...charts } = makeCharts(tape, tokens, yield* EvmCandles)

        const tokenStats = Effect.fnUntraced(function* (mint: Mint, from: number | null) {
          yield* tape.restored
          const nowMs = yield* Clock.currentTimeMillis
          const { value } = yield* chartWith(mint, rangeRequest(from, nowMs), (chart) => {
            const { life, slot } = views.contextAt(nowMs)
            const sums = statsOf(sources, mint, chart, { life, nowMs })
            const coverage = statsCoverage(tape, mint, nowMs)
            return {
              life,
              slot,
              sums,
              coverage,
              largest: largestTrades(tape, mint, largestWindows(tape, mint, sums), nowMs)
            }
          })
          const { coverage, life, slot, sums } = value
          const largest = yield* value.largest
          const data = withLargest(sums, largest)
          return { data, slot, observedAtMs: life.observedAtMs, status: statusOf(coverage), coverage }
        })

        const leadersAt = yield* makeLeaderReads(tape, views.contextAt)

        const launchReads = yield* makeLaunchReads(sources, views.contextAt, warm)

        return MarketReader.of({
          ...charts,
          tokenStats,
          ...makePricesAt(tape, charts.chart),
          ...launchReads,
          lighthouse: Effect.map(now, views.lighthouse),
          overview: (window) => Effect.map(now, (nowMs) => views.overview(window, nowMs)),
          movement: (selectors, request) => Effect.andThen(tape.restored, movementNow(selectors, request)),
          movementNow,
          screen,
          screenNow,
          holdersNow,
          pools: listPools,
          leaders: (request) => Effect.flatMap(now, (nowMs) => leadersAt(request, nowMs)),
          discovery
        })
      })
    )
}
