import { Clock, Context, Effect, Layer } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import { MarketUnavailable } from "../../api/schemas/MarketViews.ts"
import { TokenNotLoaded, UnknownPool, UnknownToken } from "../../api/schemas/Token.ts"
import type { LiquidityEvent, LiquidityEventKind } from "../../api/schemas/LiquidityEvent.ts"
import type { TradePage } from "../../api/schemas/TokenTrade.ts"
import type { LiquidityRequest } from "../model/StoredLiquidity.ts"
import { type TradeFilter, type TradePlace } from "../model/TradesRequest.ts"
import { PoolBook } from "../../quotes/pools/PoolBook.ts"
import { TokenBook } from "../../tokens/TokenBook.ts"
import { baseMintOf } from "../../tokens/liquidity.ts"
import { isMoney } from "../../domain/stables.ts"
import type { Pool } from "../../programs/interface/Program.ts"
import { findLiquidity, liquidityCoverage, liquidityEvent } from "./liquidityEvents.ts"
import { Market } from "../tape/Market.ts"
import { statusOf } from "./pages.ts"
import { tokenTrade } from "./tokenTrade.ts"
import { findTrades } from "./findTrades.ts"
import { tradesCoverage } from "./tradesCoverage.ts"

/** Selects a page of swaps. */
export interface TradePageRequest {
  readonly filter: TradeFilter
  readonly before: TradePlace | null
  readonly limit: number
}

/** Selects a page of changes of liquidity. Null does not filter. */
export interface LiquidityPageRequest {
  readonly pool: Address | null
  readonly kind: LiquidityEventKind | null
  readonly fromMs: number | null
  readonly toMs: number | null
  readonly before: TradePlace | null
  readonly limit: number
}

/** A page of changes of liquidity, as `TradePage`. */
export type LiquidityPage = Omit<TradePage<TradePlace>, "trades"> & { readonly events: ReadonlyArray<LiquidityEvent> }

/** Pool swaps in the record, newest first. The newest come from memory, older ones from the store. */
export class TradesReader extends Context.Service<
  TradesReader,
  {
    /**
     * A page of at most `limit` trades. New trades do not change the pages after the first. When a filter leaves out
     * most of a long record, a page may have fewer trades and still a next page. Fails for a mint without trades that
     * does not exist on the chain, and for a mint that is not in memory, which is queued.
     */
    ofToken(
      mint: Mint,
      request: TradePageRequest
    ): Effect.Effect<TradePage<TradePlace>, MarketUnavailable | TokenNotLoaded | UnknownToken>
    /** A page of the trades of one pool. Fails for a pool that is not in memory. */
    ofPool(
      pool: Address,
      request: TradePageRequest
    ): Effect.Effect<TradePage<TradePlace>, MarketUnavailable | UnknownPool>
    /** What providers added to the pools of a token and took from them, newest first. Fails like `ofToken`. */
    liquidityOfToken(
      mint: Mint,
      request: LiquidityPageRequest
    ): Effect.Effect<LiquidityPage, MarketUnavailable | TokenNotLoaded | UnknownToken>
    /** The same of one pool. Fails for a pool without such events that is not in memory. */
    liquidityOfPool(
      pool: Address,
      request: LiquidityPageRequest
    ): Effect.Effect<LiquidityPage, MarketUnavailable | UnknownPool>
  }
>()("fathom/market/reads/TradesReader") {
  static readonly layer: Layer.Layer<TradesReader, never, PoolBook | TokenBook | Market> = Layer.effect(
    TradesReader,
    Effect.gen(function* () {
      const tape = yield* Market
      const tokens = yield* TokenBook
      const pools = yield* PoolBook

      const requireMint = Effect.fnUntraced(function* (mint: Mint) {
        const state = tokens.read(mint)
        if (state?._tag === "NoToken") {
          return yield* new UnknownToken({ mint })
        }
        if (state === null) {
          yield* tokens.warm(mint)
          return yield* new TokenNotLoaded({ mint })
        }
      })

      const page = Effect.fnUntraced(function* (mints: ReadonlyArray<Mint>, given: TradePageRequest) {
        const request = { ...given, mints }
        const nowMs = yield* Clock.currentTimeMillis
        const heardAtMs = tape.heardAtMs()
        if (heardAtMs === null) {
          return yield* new MarketUnavailable({ detail: "No block has been read yet." })
        }
        // Memory is searched in the same step.
        const slot = tape.newestSlot()
        const found = yield* findTrades(tape, request)
        if (found.isMissing && found.trades.length === 0) {
          return yield* new MarketUnavailable({ detail: "The stored trades are unavailable right now." })
        }
        const coverage = tradesCoverage(tape, request, found, nowMs)
        return {
          trades: found.trades.map(tokenTrade),
          next: found.next,
          slot,
          observedAtMs: Math.min(tape.state.now * 1000, heardAtMs),
          status: statusOf(coverage),
          coverage
        }
      })

      const ofToken = Effect.fn("TradesReader.ofToken")(function* (mint: Mint, request: TradePageRequest) {
        const read = yield* page([mint], request)
        const mayBeAbsent = read.trades.length === 0 && request.before === null && !tape.state.has(mint)
        yield* mayBeAbsent ? requireMint(mint) : Effect.void
        return read
      })

      const ofPool = Effect.fn("TradesReader.ofPool")(function* (address: Address, request: TradePageRequest) {
        const pool = pools.poolAt(address)
        if (pool === null) {
          return yield* new UnknownPool({ pool: address })
        }
        return yield* page(tradedMints(pool), { ...request, filter: { ...request.filter, pool: address } })
      })

      const liquidityPage = Effect.fnUntraced(function* (request: LiquidityRequest) {
        const nowMs = yield* Clock.currentTimeMillis
        const heardAtMs = tape.heardAtMs()
        if (heardAtMs === null) {
          return yield* new MarketUnavailable({ detail: "No block has been read yet." })
        }
        const slot = tape.newestSlot()
        const found = yield* findLiquidity(tape, request)
        if (found.isMissing) {
          return yield* new MarketUnavailable({ detail: "The stored changes of liquidity are unavailable right now." })
        }
        const coverage = liquidityCoverage(tape, request, found, nowMs)
        return {
          events: found.trades.map(liquidityEvent),
          next: found.next,
          slot,
          observedAtMs: Math.min(tape.state.now * 1000, heardAtMs),
          status: statusOf(coverage),
          coverage
        }
      })

      const liquidityOfToken = Effect.fn("TradesReader.liquidityOfToken")(function* (
        mint: Mint,
        request: LiquidityPageRequest
      ) {
        const read = yield* liquidityPage({ ...request, mint })
        const mayBeAbsent = read.events.length === 0 && request.before === null && !tape.state.has(mint)
        yield* mayBeAbsent ? requireMint(mint) : Effect.void
        return read
      })

      const liquidityOfPool = Effect.fn("TradesReader.liquidityOfPool")(function* (
        pool: Address,
        request: LiquidityPageRequest
      ) {
        const read = yield* liquidityPage({ ...request, mint: null, pool })
        return read.events.length === 0 && request.before === null && pools.poolAt(pool) === null
          ? yield* new UnknownPool({ pool })
          : read
      })

      return TradesReader.of({ ofToken, ofPool, liquidityOfToken, liquidityOfPool })
    })
  )
}

/**
 * The mints under which the trades of a pool are recorded: its token, or both mints when neither is SOL or a dollar.
 */
const tradedMints = ({ mintA, mintB }: Pick<Pool, "mintA" | "mintB">): ReadonlyArray<Mint> =>
  isMoney(mintA) || isMoney(mintB) ? [baseMintOf({ mintA, mintB })] : [mintA, mintB]
