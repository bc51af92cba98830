/** Trades, changes of liquidity and candles of the market socket as server-sent events. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import type { Address } from "../domain/Address.ts"
import { DataUnavailable, PoolNotFound, RateLimited, TokenNotFound } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { IntegerParameter, optional, refuse } from "./parameters.ts"
import { ChartResolution } from "./schemas/Chart.ts"
import { MarketClose } from "./schemas/MarketClose.ts"
import {
  candleFrames,
  gapFrame,
  liquidityFrames,
  noticeFrame,
  subscribeMessages,
  subscriptionCosts,
  tradeFrames
} from "./schemas/MarketFrame.ts"
import { field } from "../domain/field.ts"
import { serverEvent } from "./serverEvent.ts"

const durationSeconds = optional(
  IntegerParameter(1, 86_400),
  "Seconds until the stream closes. Without it, the stream stays open."
)

const { channel: _channel, id: _id, op: _op, resume: _resume, ...tradeTerms } = subscribeMessages.trades.fields

export const TradesStreamQuery = Schema.Struct({ ...tradeTerms, durationSeconds }).check(
  Schema.makeFilter(
    (query: {
      readonly mint?: Address
      readonly pool?: Address
      readonly wallet?: Address
      readonly minUsd?: string
    }) => {
      const [, second] = (["mint", "pool", "wallet"] as const).filter((name) => query[name] !== undefined)
      if (second !== undefined) {
        return refuse(second, "conflict", "Only one of mint, pool and wallet may be given.")
      }
      return (
        [query.mint, query.pool, query.wallet, query.minUsd].some((one) => one !== undefined) ||
        refuse("mint", "missing", "One of mint, pool, wallet and minUsd is required.")
      )
    }
  )
)

const { mint, pool, denom } = subscribeMessages.candles.fields
const resolution = field(ChartResolution, "Width of a bar; 1mn is a month.")

const mintOrPool = Schema.makeFilter((query: { readonly mint?: Address; readonly pool?: Address }) => {
  if (query.mint !== undefined && query.pool !== undefined) {
    return refuse("pool", "conflict", "pool must be left out beside mint.")
  }
  return (query.mint ?? query.pool) !== undefined || refuse("mint", "missing", "Either mint or pool is required.")
})

export const CandlesStreamQuery = Schema.Struct({ mint, pool, resolution, denom, durationSeconds }).check(mintOrPool)

const { kind } = subscribeMessages.liquidity.fields

export const LiquidityStreamQuery = Schema.Struct({ mint, pool, kind, durationSeconds }).check(mintOrPool)

const LastEventId = Schema.String.check(
  Schema.isPattern(/^str_[0-9A-Za-z]{1,60}:(?:0|[1-9][0-9]{0,14})$/u, {
    expected: "the id of an event of such a stream"
  })
).annotate({
  description:
    "Id of the last event that was read. The events after it follow, for two minutes after the connection was lost; later the snapshot has a gap."
})

const headers = Schema.Struct({ "last-event-id": Schema.optionalKey(LastEventId) })

const ofStream = [
  serverEvent("gap", gapFrame),
  serverEvent("notice", noticeFrame),
  serverEvent("close", MarketClose)
] as const

/** Events of a stream of trades. */
export const TradesEvent = Schema.Union([
  serverEvent("snapshot", tradeFrames.snapshot),
  serverEvent("trade", tradeFrames.trade),
  ...ofStream
])

/** Events of a stream of changes of liquidity. */
export const LiquidityStreamEvent = Schema.Union([
  serverEvent("snapshot", liquidityFrames.snapshot),
  serverEvent("liquidity", liquidityFrames.liquidity),
  ...ofStream
])

/** Events of a stream of candles. */
export const CandlesEvent = Schema.Union([
  serverEvent("snapshot", candleFrames.snapshot),
  serverEvent("candle", candleFrames.candle),
  serverEvent("candle_closed", candleFrames.closed),
  ...ofStream
])

const { allTrades, candles, liquidity, trades } = subscriptionCosts

const resumption =
  "Event names and data are the same as on the market socket; ids are `streamId:seq`. `Last-Event-ID` resumes. The last event is `close`, with the reason."

/** Paths of the streams. */
export const TRADES_STREAM_PATH = "/api/v1/market/trades/stream"
export const LIQUIDITY_STREAM_PATH = "/api/v1/market/liquidity/stream"
export const CANDLES_STREAM_PATH = "/api/v1/market/candles/stream"

/** The market socket for callers that cannot use a WebSocket: one subscription for each request. */
export class MarketStreamsGroup extends HttpApiGroup.make("marketStreams")
  .add(
    HttpApiEndpoint.get("trades", TRADES_STREAM_PATH, {
      query: TradesStreamQuery,
      headers,
      success: HttpApiSchema.StreamSse({ events: TradesEvent }),
      error: [RateLimited, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Stream trades as they happen")
      .annotate(
        OpenApi.Description,
        `${resumption} Each minute that begins costs units of the \`rest\` budget: trades of a mint, pool or wallet ${trades}, all trades above \`minUsd\` ${allTrades}.`
      ),
    HttpApiEndpoint.get("liquidity", LIQUIDITY_STREAM_PATH, {
      query: LiquidityStreamQuery,
      headers,
      success: HttpApiSchema.StreamSse({ events: LiquidityStreamEvent }),
      error: [PoolNotFound, TokenNotFound, RateLimited, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Stream liquidity that is added to pools and removed from them")
      .annotate(
        OpenApi.Description,
        `${resumption} The snapshot has the newest events of the record. Each minute that begins costs ${liquidity} of the \`rest\` budget.`
      ),
    HttpApiEndpoint.get("candles", CANDLES_STREAM_PATH, {
      query: CandlesStreamQuery,
      headers,
      success: HttpApiSchema.StreamSse({ events: CandlesEvent }),
      error: [PoolNotFound, TokenNotFound, RateLimited, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Stream candles as they change")
      .annotate(
        OpenApi.Description,
        `${resumption} An open candle is sent at most four times a second, a closed candle once. Each minute that begins costs ${candles} of the \`rest\` budget.`
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Live trades, changes of liquidity and candles as server-sent events.") {}
