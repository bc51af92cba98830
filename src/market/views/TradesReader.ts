import { Clock, Context, Effect, Layer } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import { MarketUnavailable } from "../../domain/market/MarketViews.ts"
import { TokenNotLoaded, UnknownPool, UnknownToken } from "../../domain/market/Token.ts"
import type { TradePage } from "../../domain/market/TokenTrade.ts"
import { type TradeFilter, type TradePlace } from "../store/TradesRequest.ts"
import { PoolBook } from "../../pools/PoolBook.ts"
import { TokenBook } from "../../tokens/TokenBook.ts"
import { baseMintOf } from "../../tokens/liquidity.ts"
import { isMoney } from "../../trades/sides.ts"
import type { Pool } from "../../programs/Program.ts"
import { TradeTape } from "../tape/TradeTape.ts"
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

/** Pool swaps in the record, newest first: the newest from memory, older ones from the store. */
export class TradesReader extends Context.Service<
  TradesReader,
  {
    /**
     * A page of at most `limit` trades. New trades do not change the pages after a first one. A page may have fewer trades
     * and still a next one, where a filter leaves out most of a long record. Fails for a mint without trades that the chain is
     * known not to have, and for one that is not in memory, which is queued.
     */
    ofToken(
      mint: Mint,
      request: TradePageRequest
    ): Effect.Effect<TradePage<TradePlace>, MarketUnavailable | TokenNotLoaded | UnknownToken>
    /** The same of the trades of one pool. Fails for a pool that is not in memory. */
    ofPool(
      pool: Address,
      request: TradePageRequest
    ): Effect.Effect<TradePage<TradePlace>, MarketUnavailable | UnknownPool>
  }
>()("fathom/market/views/TradesReader") {
  static readonly layer: Layer.Layer<TradesReader, never, PoolBook | TokenBook | TradeTape> = Layer.effect(
    TradesReader,
    Effect.gen(function* () {
      const tape = yield* TradeTape
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
        const found = yield* findTrades(tape, request)
        if (found.isMissing && found.trades.length === 0) {
          return yield* new MarketUnavailable({ detail: "The stored trades are unavailable right now." })
        }
        const coverage = tradesCoverage(tape, request, found, nowMs)
        return {
          trades: found.trades.map(tokenTrade),
          next: found.next,
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

      return TradesReader.of({ ofToken, ofPool })
    })
  )
}

/** The mints that the trades of a pool are recorded under: that of its token, both where neither is SOL or a dollar. */
const tradedMints = ({ mintA, mintB }: Pick<Pool, "mintA" | "mintB">): ReadonlyArray<Mint> =>
  isMoney(mintA) || isMoney(mintB) ? [baseMintOf({ mintA, mintB })] : [mintA, mintB]
