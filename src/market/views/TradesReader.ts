import { Clock, Context, Effect, Layer } from "effect"
import type { Mint } from "../../domain/Address.ts"
import { MarketUnavailable } from "../../domain/market/MarketViews.ts"
import { UnknownToken } from "../../domain/market/Token.ts"
import type { TradePage } from "../../domain/market/TokenTrade.ts"
import { type TradeFilter, type TradePlace } from "../store/TradesRequest.ts"
import { TokenBook } from "../../tokens/TokenBook.ts"
import { TradeTape } from "../tape/TradeTape.ts"
import { statusOf } from "./pages.ts"
import { tokenTrade } from "./tokenTrade.ts"
import { findTrades } from "./findTrades.ts"
import { tradesCoverage } from "./tradesCoverage.ts"

/** Selects a page of the swaps of some mints. */
export interface TradePageRequest {
  /** One mint, or both mints of a pool that has no money in it. */
  readonly mints: ReadonlyArray<Mint>
  readonly filter: TradeFilter
  readonly before: TradePlace | null
  readonly limit: number
}

/** Pool swaps in the record, newest first: the newest from memory, older ones from the store. */
export class TradesReader extends Context.Service<
  TradesReader,
  {
    /**
     * A page of at most `limit` trades. New trades do not change the pages after a first one. A page may have fewer trades
     * and still a next one, where a filter leaves out most of a long record. Fails for a mint without trades that the chain is
     * known not to have; one that is not in memory is queued.
     */
    page(request: TradePageRequest): Effect.Effect<TradePage<TradePlace>, MarketUnavailable | UnknownToken>
  }
>()("fathom/market/views/TradesReader") {
  static readonly layer: Layer.Layer<TradesReader, never, TokenBook | TradeTape> = Layer.effect(
    TradesReader,
    Effect.gen(function* () {
      const tape = yield* TradeTape
      const tokens = yield* TokenBook

      const requireMint = Effect.fnUntraced(function* (mint: Mint) {
        const state = tokens.read(mint)
        if (state?._tag === "NoToken") {
          return yield* new UnknownToken({ mint })
        }
        yield* state === null ? tokens.warm(mint) : Effect.void
      })

      const page = Effect.fn("TradesReader.page")(function* (request: TradePageRequest) {
        const nowMs = yield* Clock.currentTimeMillis
        const heardAtMs = tape.heardAtMs()
        if (heardAtMs === null) {
          return yield* new MarketUnavailable({ detail: "No block has been read yet." })
        }
        const found = yield* findTrades(tape, request)
        if (found.isMissing && found.trades.length === 0) {
          return yield* new MarketUnavailable({ detail: "The stored trades are unavailable right now." })
        }
        yield* found.trades.length === 0 ? Effect.forEach(request.mints, requireMint, { discard: true }) : Effect.void
        const coverage = tradesCoverage(tape, request, found, nowMs)
        return {
          trades: found.trades.map(tokenTrade),
          next: found.next,
          observedAtMs: Math.min(tape.state.now * 1000, heardAtMs),
          status: statusOf(coverage),
          coverage
        }
      })
      return TradesReader.of({ page })
    })
  )
}
