/** Trades and candles of the market socket as server-sent events. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import type { Address } from "../../domain/Address.ts"
import { ChartResolution } from "../../domain/market/Chart.ts"
import { MarketClose } from "../../domain/market/MarketClose.ts"
import {
  candleFrames,
  gapFrame,
  noticeFrame,
  subscribeMessages,
  subscriptionCosts,
  tradeFrames
} from "../../domain/market/MarketFrame.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { described, IntegerParameter, refuse } from "../parameters.ts"
import { DataUnavailable, PoolNotFound, RateLimited, TokenNotFound } from "../problems.ts"

const durationSeconds = Schema.optionalKey(
  described(IntegerParameter(1, 86_400), "Seconds until the stream closes; without it, it goes on.")
)

const { channel: _channel, id: _id, op: _op, resume: _resume, ...tradeTerms } = subscribeMessages.trades.fields

/** Query of a stream of trades. */
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
        return refuse(second, "conflict", "One of mint, pool and wallet may be given.")
      }
      return (
        [query.mint, query.pool, query.wallet, query.minUsd].some((one) => one !== undefined) ||
        refuse("mint", "missing", "One of mint, pool, wallet and minUsd is required.")
      )
    }
  )
)

const { mint, pool, denom } = subscribeMessages.candles.fields
const resolution = described(ChartResolution, "Width of a bar; 1mn is a month.")

/** Query of a stream of candles. */
export const CandlesStreamQuery = Schema.Struct({ mint, pool, resolution, denom, durationSeconds }).check(
  Schema.makeFilter((query: { readonly mint?: Address; readonly pool?: Address }) => {
    if (query.mint !== undefined && query.pool !== undefined) {
      return refuse("pool", "conflict", "pool must be left out beside mint.")
    }
    return (query.mint ?? query.pool) !== undefined || refuse("mint", "missing", "Either mint or pool is required.")
  })
)

const LastEventId = Schema.String.check(
  Schema.isPattern(/^str_[0-9A-Za-z]{1,60}:(?:0|[1-9][0-9]{0,14})$/u, {
    expected: "the id of an event of such a stream"
  })
).annotate({
  description:
    "Id of the last event that was read: the frames after it follow, for two minutes after the connection was lost; else the snapshot has a gap."
})

const headers = Schema.Struct({ "last-event-id": Schema.optionalKey(LastEventId) })

const event = <const Name extends string, Data extends Schema.Top>(name: Name, data: Data) =>
  Schema.Struct({
    id: Schema.optional(Schema.String),
    event: Schema.Literal(name),
    data: Schema.fromJsonString(data)
  })

const ofStream = [event("gap", gapFrame), event("notice", noticeFrame), event("close", MarketClose)] as const

/** Events of a stream of trades. */
export const TradesEvent = Schema.Union([
  event("snapshot", tradeFrames.snapshot),
  event("trade", tradeFrames.trade),
  ...ofStream
])

/** Events of a stream of candles. */
export const CandlesEvent = Schema.Union([
  event("snapshot", candleFrames.snapshot),
  event("candle", candleFrames.candle),
  event("candle_closed", candleFrames.closed),
  ...ofStream
])

const { allTrades, candles, trades } = subscriptionCosts

const resumption =
  "Event names and data are those of the frames of the market socket, ids `streamId:seq`; `Last-Event-ID` resumes. The last event is `close`, with the reason."

/** Paths of the streams. */
export const TRADES_STREAM_PATH = "/api/v1/market/trades/stream"
export const CANDLES_STREAM_PATH = "/api/v1/market/candles/stream"

/** The market socket for those who cannot use a WebSocket: one subscription a request. */
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
        `${resumption} Each minute that begins costs units of the \`rest\` budget: trades of a mint, pool or wallet ${trades}, of all above \`minUsd\` ${allTrades}.`
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
        `${resumption} An open candle is sent at most four times a second, each closed one once. Each minute that begins costs ${candles} of the \`rest\` budget.`
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Live trades and candles as server-sent events.") {}
