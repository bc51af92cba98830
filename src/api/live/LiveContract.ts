/** Sockets and event streams of the contract: their addresses, and the messages in both directions. */
import { Schema } from "effect"
import {
  MarketControlFrame,
  MarketDataFrame,
  subscribeMessages,
  subscriptionCosts,
  UnsubscribeMessage
} from "../schemas/MarketFrame.ts"
import { ControlFrame, DataFrame, PingMessage, ResumeMessage } from "../schemas/LiveFrame.ts"
import { MARKET_REALTIME_PATH } from "../MarketRealtime.ts"
import {
  CANDLES_STREAM_PATH,
  CandlesEvent,
  CandlesStreamQuery,
  LIQUIDITY_STREAM_PATH,
  LiquidityStreamEvent,
  LiquidityStreamQuery,
  TRADES_STREAM_PATH,
  TradesEvent,
  TradesStreamQuery
} from "../MarketStreams.ts"
import { StreamFrame, StreamQuery } from "../Spot.ts"
import { REALTIME_PATH } from "../Tracker.ts"
import { controlWords, eventWords, marketWords, messageWords, quoteWords, trackerWords } from "./messageWords.ts"
import { field } from "../../domain/field.ts"

/** A message and its meaning. */
export interface LiveMessage {
  /** Its type, preceded by its channel where several channels share the type: `trades snapshot`. */
  readonly name: string
  readonly summary: string
  readonly schema: Schema.Top
  /** Units for each minute or tick; missing when the message is free. */
  readonly cost?: number
}

/** A socket or an event stream. */
export interface LiveChannel {
  readonly id: "tracker" | "market" | "quotes" | "tradeEvents" | "liquidityEvents" | "candleEvents"
  readonly title: string
  readonly address: string
  readonly transport: "socket" | "events"
  readonly description: string
  readonly query: Schema.Top
  readonly scopes: ReadonlyArray<string>
  readonly budget: "rest" | "quote" | null
  /** Messages of the service. */
  readonly frames: ReadonlyArray<LiveMessage>
  /** Messages of the client; none on an event stream. */
  readonly messages: ReadonlyArray<LiveMessage>
}

interface Typed extends Schema.Top {
  readonly fields: {
    readonly type: { readonly literal: string }
    readonly channel?: { readonly literal: string }
  }
}

const frame = (words: Readonly<Record<string, string>>, schema: Typed): LiveMessage => {
  const { channel, type } = schema.fields
  const name = channel === undefined ? type.literal : `${channel.literal} ${type.literal}`
  return { name, summary: words[name] ?? "", schema }
}

const framesOf = (words: Readonly<Record<string, string>>, members: ReadonlyArray<Schema.Top>) =>
  members.map((member) => frame(words, member as Typed))

const message = (name: keyof typeof messageWords, schema: Schema.Top, cost?: number): LiveMessage => ({
  name,
  summary: messageWords[name],
  schema,
  ...(cost !== undefined && { cost })
})

const ticket = Schema.Struct({
  ticket: field(Schema.String, "The ticket of a session. It is good for one connection.")
})

const tracker: LiveChannel = {
  id: "tracker",
  title: "Tracked wallets",
  address: REALTIME_PATH,
  transport: "socket",
  description:
    "Trades, balances and profit of the tracked wallets of an account. `GET /api/v1/tracker/realtime/session` answers the complete address of one connection. The first frame is a snapshot; each later frame has the next `seq`. Control frames are sent when the session was requested with `control=true`.",
  query: ticket,
  scopes: ["tracker.read", "md.read"],
  budget: null,
  frames: [
    ...framesOf(trackerWords, DataFrame.members),
    ...framesOf({ ...controlWords, heartbeat: "The connection is alive; every 20 seconds." }, ControlFrame.members)
  ],
  messages: [message("resume", ResumeMessage), message("ping", PingMessage)]
}

const market: LiveChannel = {
  id: "market",
  title: "Market",
  address: MARKET_REALTIME_PATH,
  transport: "socket",
  description:
    "Trades, changes of liquidity, candles, prices, quotes, launches and rankings. `GET /api/v1/market/realtime/session` answers the complete address of one connection. The first frame is `open`; after it, each subscription is requested by a message. Its units are charged to the `rest` budget in every minute that begins.",
  query: ticket,
  scopes: ["md.read"],
  budget: "rest",
  frames: [...framesOf(marketWords, MarketDataFrame.members), ...framesOf(controlWords, MarketControlFrame.members)],
  messages: [
    message("subscribe trades", subscribeMessages.trades, subscriptionCosts.trades),
    message("subscribe liquidity", subscribeMessages.liquidity, subscriptionCosts.liquidity),
    message("subscribe candles", subscribeMessages.candles, subscriptionCosts.candles),
    message("subscribe price", subscribeMessages.price, subscriptionCosts.price),
    message("subscribe launches", subscribeMessages.launches, subscriptionCosts.launches),
    message("subscribe graduations", subscribeMessages.graduations, subscriptionCosts.graduations),
    message("subscribe movers", subscribeMessages.movers, subscriptionCosts.movers),
    message("subscribe screen", subscribeMessages.screen, subscriptionCosts.screen),
    message("subscribe holders", subscribeMessages.holders, subscriptionCosts.holders),
    message("subscribe quote", subscribeMessages.quote),
    message("subscribe freshness", subscribeMessages.freshness, subscriptionCosts.freshness),
    message("unsubscribe", UnsubscribeMessage),
    message("ping", PingMessage)
  ]
}

const quotes: LiveChannel = {
  id: "quotes",
  title: "Quotes of one trade",
  address: "/api/v1/spot/quote/stream",
  transport: "events",
  description:
    "Server-sent events. The name of an event is the name of its message, its id is `streamId:seq`, its data is the JSON of the message. The first event is `open`, the last is `close`. A comment is sent every 20 seconds.",
  query: StreamQuery,
  scopes: ["md.read"],
  budget: "quote",
  frames: StreamFrame.members.map(({ fields: { data, event } }) => ({
    name: event.literal,
    summary: quoteWords[event.literal],
    schema: data.to,
    ...(event.literal === "quote" && { cost: 1 })
  })),
  messages: []
}

interface EventSchema {
  readonly fields: { readonly event: { readonly literal: string }; readonly data: { readonly to: Schema.Top } }
}

const marketEvents =
  "Event names and data are the same as on the market socket; ids are `streamId:seq`. The last event is `close`."

const eventFrames = (
  channel: "candles" | "liquidity" | "trades",
  members: ReadonlyArray<EventSchema>
): ReadonlyArray<LiveMessage> =>
  members.map(({ fields: { data, event } }) => {
    const name = event.literal === "snapshot" ? `${channel} snapshot` : event.literal
    return { name, summary: eventWords[name] ?? "", schema: data.to }
  })

const tradeEvents: LiveChannel = {
  id: "tradeEvents",
  title: "Trades as events",
  address: TRADES_STREAM_PATH,
  transport: "events",
  description: `Server-sent events of the channel \`trades\`. ${marketEvents}`,
  query: TradesStreamQuery,
  scopes: ["md.read"],
  budget: "rest",
  frames: eventFrames("trades", TradesEvent.members),
  messages: []
}

const liquidityEvents: LiveChannel = {
  id: "liquidityEvents",
  title: "Changes of liquidity as events",
  address: LIQUIDITY_STREAM_PATH,
  transport: "events",
  description: `Server-sent events of the channel \`liquidity\`. ${marketEvents}`,
  query: LiquidityStreamQuery,
  scopes: ["md.read"],
  budget: "rest",
  frames: eventFrames("liquidity", LiquidityStreamEvent.members),
  messages: []
}

const candleEvents: LiveChannel = {
  id: "candleEvents",
  title: "Candles as events",
  address: CANDLES_STREAM_PATH,
  transport: "events",
  description: `Server-sent events of the channel \`candles\`. ${marketEvents}`,
  query: CandlesStreamQuery,
  scopes: ["md.read"],
  budget: "rest",
  frames: eventFrames("candles", CandlesEvent.members),
  messages: []
}

/** Every socket and event stream. */
export const liveChannels: ReadonlyArray<LiveChannel> = [
  tracker,
  market,
  quotes,
  tradeEvents,
  liquidityEvents,
  candleEvents
]
