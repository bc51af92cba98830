import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { ChartRefusal, ChartRequest, ToldChart } from "../../domain/market/Chart.ts"
import {
  type DiscoveryRow,
  type Excluded,
  type Lighthouse,
  type MarketKnowledge,
  MarketUnavailable,
  type MovementRow,
  type Overview,
  ViewExpired,
  type WindowCoverage
} from "../../domain/market/MarketViews.ts"
import { PoolBook } from "../../pools/PoolBook.ts"
import { PriceBook } from "../../tokens/PriceBook.ts"
import { TokenBook } from "../../tokens/TokenBook.ts"
import { type DiscoverySelectors, discoveryView } from "./discovery.ts"
import { EvmCandles, type EvmInterval } from "../candles/EvmCandles.ts"
import type { EvmToken } from "../candles/evmChart.ts"
import { makeCharts } from "../candles/makeCharts.ts"
import { makeMoments } from "./makeMarketViews.ts"
import { type MovementSelectors, movementView, type RankedView } from "./movement.ts"
import { discoveryRow, movementRow, pageOf } from "./pages.ts"
import { type Pin, PinnedViews } from "./PinnedViews.ts"
import { TradeTape } from "../tape/TradeTape.ts"
import type { WindowName } from "../windows/windows.ts"

/** An answer, and how well it is known. */
export interface Told<A> extends MarketKnowledge {
  readonly data: A
}

/** A page of a pinned ranking. */
export interface RowPage<Row> extends Told<ReadonlyArray<Row>> {
  readonly excluded: Excluded
  /** Where the next page begins; null at the end. */
  readonly next: Pin | null
}

/** Which page: the first one, or the one that a pin leads to. The selectors are those the pin was made with. */
export interface PageRequest {
  readonly limit: number
  readonly pin: Pin | null
}

/** The reads of the market, from memory; those of EVM tokens from the service that keeps their candles. */
export class MarketReader extends Context.Service<
  MarketReader,
  {
    /** Candles of a Solana token. A token nobody has asked about is queued, and is not ready until then. */
    chart(mint: Mint, request: ChartRequest): Effect.Effect<ToldChart, ChartRefusal>
    /** Candles of an EVM token, folded from those of an interval that its source has. */
    evmChart(token: EvmToken, interval: EvmInterval, request: ChartRequest): Effect.Effect<ToldChart, ChartRefusal>
    /** Every market in every window. */
    readonly lighthouse: Effect.Effect<
      Told<Lighthouse> & { readonly windowCoverage: WindowCoverage },
      MarketUnavailable
    >
    /** The whole market in one window. */
    overview(window: WindowName): Effect.Effect<Told<Overview>, MarketUnavailable>
    /** Tokens by what they did in a window. */
    movement(
      selectors: MovementSelectors,
      page: PageRequest
    ): Effect.Effect<RowPage<MovementRow>, MarketUnavailable | ViewExpired>
    /** Tokens by how far they are from their launch. */
    discovery(
      selectors: DiscoverySelectors,
      page: PageRequest
    ): Effect.Effect<RowPage<DiscoveryRow>, MarketUnavailable | ViewExpired>
  }
>()("fathom/market/views/MarketReader") {
  static readonly layer: Layer.Layer<MarketReader, never, TradeTape | TokenBook | PriceBook | PoolBook | EvmCandles> =
    Layer.effect(
      MarketReader,
      Effect.gen(function* () {
        const tape = yield* TradeTape
        const tokens = yield* TokenBook
        const prices = yield* PriceBook
        const pools = yield* PoolBook
        const evm = yield* EvmCandles
        const sources = { tape, tokens, prices, pools }
        const moments = makeMoments(sources)
        const movements = new PinnedViews<RankedView<MovementRow>>(crypto.randomUUID(), pinned)
        const discoveries = new PinnedViews<RankedView<DiscoveryRow>>(crypto.randomUUID(), pinned)

        const turns = yield* Semaphore.make(1)

        const now = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
          tape.heardAtMs() === null
            ? Effect.fail(new MarketUnavailable({ detail: "No block has been read yet." }))
            : Effect.succeed(nowMs)
        )

        /** Tokens that a row says little of are loaded, so that a later one says more. */
        const warm = (mints: ReadonlyArray<Mint>) =>
          Effect.forEach(mints, (mint) => Effect.andThen(tokens.warm(mint), prices.warm(mint)), { discard: true })

        /** A first page is of a recent snapshot or of a new one, which is made once however many ask. */
        const open = <Row>(
          views: PinnedViews<RankedView<Row>>,
          key: string,
          nowMs: number,
          make: Effect.Effect<RankedView<Row>>
        ) =>
          turns.withPermits(1)(
            Effect.suspend(() => {
              const recent = views.recent(key, nowMs)
              return recent === null
                ? make.pipe(
                    Effect.tap(({ unloaded }) => warm(unloaded)),
                    Effect.map((view) => views.add(key, nowMs, view))
                  )
                : Effect.succeed(recent)
            })
          )

        const read = Effect.fnUntraced(function* <Row>(
          views: PinnedViews<RankedView<Row>>,
          key: string,
          { limit, pin }: PageRequest,
          make: (nowMs: number) => Effect.Effect<RankedView<Row>>
        ) {
          const nowMs = yield* now
          if (pin === null) {
            const opened =
              views.recent(key, nowMs) ??
              (yield* open(
                views,
                key,
                nowMs,
                Effect.suspend(() => make(nowMs))
              ))
            return { nowMs, page: pageOf(opened.view, opened.pin, limit, nowMs) }
          }
          const view = views.get(pin, nowMs)
          return view === null ? yield* new ViewExpired() : { nowMs, page: pageOf(view, pin, limit, nowMs) }
        })

        const movement = Effect.fnUntraced(function* (selectors: MovementSelectors, asked: PageRequest) {
          const key = keyOf([selectors.window, selectors.rank, selectors.minLiquidityUsd, selectors.minVolumeUsd])
          const { nowMs, page } = yield* read(movements, key, asked, (atMs) =>
            movementView(
              sources,
              moments.ranking(selectors.window),
              selectors,
              moments.at(atMs),
              moments.coverage(selectors.window, atMs)
            )
          )
          return { ...page, data: page.data.map((row) => movementRow(row, nowMs)) }
        })

        const discovery = Effect.fnUntraced(function* (selectors: DiscoverySelectors, asked: PageRequest) {
          if (selectors.stage !== "trending" && !tape.tellsLaunches()) {
            return yield* new MarketUnavailable({ detail: "Nobody tells of launches." })
          }
          const { launchpads, minHolders, minLiquidityUsd, stage, window } = selectors
          const key = keyOf([stage, window, launchpads, minLiquidityUsd, minHolders])
          const { nowMs, page } = yield* read(discoveries, key, asked, (atMs) =>
            discoveryView(sources, selectors, moments.at(atMs), moments.coverage(window, atMs))
          )
          return { ...page, data: page.data.map((row) => discoveryRow(row, nowMs)) }
        })

        return MarketReader.of({
          ...makeCharts(tape, tokens, evm),
          lighthouse: Effect.map(now, moments.lighthouse),
          overview: (window) => Effect.map(now, (nowMs) => moments.overview(window, nowMs)),
          movement,
          discovery
        })
      })
    )
}

/** A page can be asked for during a minute; callers who come within two seconds of each other share a snapshot. */
const pinned = { lifeMs: 60_000, most: 256, sharedMs: 2000 }

const keyOf = (parts: ReadonlyArray<unknown>): string =>
  JSON.stringify(parts, (_, part: unknown) => (typeof part === "bigint" ? part.toString() : part))
