/** Messages and frames of the market socket, as on the wire. */
import { Schema } from "effect"
import { Address } from "../Address.ts"
import { AmountText, Decimals, SlippageBps } from "../Amount.ts"
import { failedTick, INTERVAL, quoteTick, throttledTick, tickDefaults } from "../quotes/QuoteStream.ts"
import { LiveGap, NoticeCode } from "../wallets/LiveFrame.ts"
import { Coverage, Decimal, Status } from "../Scalar.ts"
import { SourceFreshness } from "./SourceFreshness.ts"
import { ChartBar, ChartDenom, ChartResolution } from "./Chart.ts"
import { MarketWindow, MovementRank, MovementRow } from "./MarketViews.ts"
import { mintOrPool, oneSelector, twoMints } from "./subscriptionRules.ts"
import { TokenTrade } from "./TokenTrade.ts"

/** Subscriptions of one market socket. */
export const MAX_SUBSCRIPTIONS = 100

/** Units of the REST budget that a subscription costs in each minute that begins; `allTrades` without a selector. A quote costs a unit of the quote budget for each tick instead. */
export const subscriptionCosts = {
  trades: 1,
  allTrades: 5,
  candles: 1,
  price: 1,
  launches: 1,
  graduations: 1,
  movers: 2,
  quote: 0,
  freshness: 0
} as const

const NAME = /^[0-9A-Za-z._:-]{1,64}$/u

/** Name of a subscription, chosen by the client. */
export const SubscriptionId = Schema.String.check(
  Schema.isPattern(NAME, { expected: "1 to 64 letters, digits, dots, colons, dashes or underscores" })
).annotate({ description: "Name of the subscription: 1 to 64 letters, digits, `.`, `:`, `-` or `_`." })

/** A place in an earlier stream of the same key. */
export class ResumePoint extends Schema.Opaque<ResumePoint>()(
  Schema.Struct({
    streamId: Schema.String.check(Schema.isMaxLength(64, { expected: "at most 64 characters" })),
    seq: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { expected: "0 or more" }))
  }).annotate({
    identifier: "ResumePoint",
    description:
      "The stream in which the subscription of this id was read before, and the number of its last frame. Frames after it follow, for two minutes after the connection was lost; else the snapshot has a `gap`."
  })
) {}

const named = {
  op: Schema.Literal("subscribe"),
  id: SubscriptionId,
  resume: Schema.optionalKey(ResumePoint)
}

const optionalAddress = Schema.optionalKey(Address)

/** A decimal above 0 of at most 15 and 9 digits. */
const POSITIVE = /^(?![0.]*$)(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,9})?$/u

const positive = Schema.isPattern(POSITIVE, { expected: "above 0, with at most 9 fraction digits" })

/** Name of a channel. */
export const Channel = Schema.Literals([
  "trades",
  "candles",
  "price",
  "launches",
  "graduations",
  "movers",
  "quote",
  "freshness"
])
export type Channel = typeof Channel.Type

/** Subscriptions as clients send them, by channel. */
export const subscribeMessages = {
  trades: Schema.Struct({
    ...named,
    channel: Schema.Literal("trades"),
    mint: optionalAddress,
    pool: optionalAddress,
    wallet: optionalAddress,
    minUsd: Schema.optionalKey(
      Schema.String.check(positive).annotate({
        description: "Only trades of at least so many dollars; those of an unknown value are left out."
      })
    )
  }).check(oneSelector),
  candles: Schema.Struct({
    ...named,
    channel: Schema.Literal("candles"),
    mint: optionalAddress,
    pool: optionalAddress,
    resolution: ChartResolution,
    denom: Schema.optionalKey(ChartDenom.annotate({ description: "usd unless given." }))
  }).check(mintOrPool),
  price: Schema.Struct({ ...named, channel: Schema.Literal("price"), mint: Address }),
  launches: Schema.Struct({ ...named, channel: Schema.Literal("launches") }),
  graduations: Schema.Struct({ ...named, channel: Schema.Literal("graduations") }),
  movers: Schema.Struct({
    ...named,
    channel: Schema.Literal("movers"),
    window: MarketWindow,
    rank: Schema.optionalKey(MovementRank.annotate({ description: "gainers unless given." }))
  }),
  quote: Schema.Struct({
    ...named,
    channel: Schema.Literal("quote"),
    inputMint: Address.annotate({ description: "Mint of what is given." }),
    outputMint: Address.annotate({ description: "Mint of what is received." }),
    amount: AmountText,
    outputDecimals: Schema.optionalKey(Decimals),
    slippageBps: Schema.optionalKey(SlippageBps),
    intervalMs: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween(INTERVAL, { expected: "a whole number from 250 to 60000" })).annotate({
        description: `Milliseconds from tick to tick; ${tickDefaults.intervalMs} unless given.`
      })
    ),
    changesOnly: Schema.optionalKey(
      Schema.Boolean.annotate({
        description: "Send only quotes whose proceeds or route moved; every tick is charged all the same."
      })
    )
  }).check(twoMints),
  freshness: Schema.Struct({ ...named, channel: Schema.Literal("freshness") })
} as const
export type SubscribeMessage = (typeof subscribeMessages)[Channel]["Type"]

/** The end of a subscription as its client sends it. */
export const UnsubscribeMessage = Schema.Struct({ op: Schema.Literal("unsubscribe"), id: SubscriptionId })

const time = Schema.NullOr(Schema.Int)

/** The last swap price of a token. */
export class LivePrice extends Schema.Opaque<LivePrice>()(
  Schema.Struct({
    mint: Address,
    priceUsd: Schema.NullOr(Decimal).annotate({
      description: "USD for a whole token at its last swap; null when unknown."
    }),
    priceSol: Schema.NullOr(Decimal).annotate({ description: "SOL for a whole token; null when unknown." }),
    slot: time,
    timeMs: time.annotate({ description: "Block time of the swap; null for one that is only in the candles." })
  }).annotate({ identifier: "LivePrice", description: "The price of the last swap of a token." })
) {}

/** A token that was put on a launchpad's curve, or left it for a pool. */
export class LiveLaunch extends Schema.Opaque<LiveLaunch>()(
  Schema.Struct({
    mint: Address,
    launchpad: Schema.String,
    pool: Schema.NullOr(Address).annotate({ description: "The curve at the launch, the pool at the graduation." }),
    timeMs: Schema.Int.annotate({ description: "Block time." })
  }).annotate({ identifier: "LiveLaunch", description: "A launch or a graduation." })
) {}

const movers = Schema.Struct({
  window: MarketWindow,
  rows: Schema.Array(MovementRow),
  status: Status,
  coverage: Coverage
})

/** A tick of a quote that was priced. */
export class LiveQuote extends Schema.Opaque<LiveQuote>()(
  Schema.Struct(quoteTick).annotate({ identifier: "LiveQuote", description: "A tick that was priced." })
) {}

/** Data of the snapshot of each channel. */
export const snapshotData = {
  trades: Schema.Struct({
    trades: Schema.Array(TokenTrade).annotate({ description: "The newest first; 50 at most." })
  }),
  candles: Schema.Struct({
    bars: Schema.Array(ChartBar).annotate({ description: "Oldest first; 100 at most." }),
    openBarMs: time.annotate({ description: "Start of the bar that can still change." }),
    status: Status
  }),
  price: LivePrice,
  launches: Schema.Struct({ launches: Schema.Array(LiveLaunch) }),
  graduations: Schema.Struct({ graduations: Schema.Array(LiveLaunch) }),
  movers,
  quote: LiveQuote,
  freshness: Schema.Struct({ sources: Schema.Array(SourceFreshness) })
} as const

const numbered = {
  id: SubscriptionId,
  seq: Schema.Int.annotate({
    description: "Number in the subscription: 0 for its snapshot, one more with every frame."
  }),
  skipped: Schema.optionalKey(
    Schema.Int.annotate({ description: "Frames before this one that a slow reader was not sent: this one is newer." })
  ),
  sentAtMs: Schema.Int
}

const snapshotOf = <C extends Channel, D extends Schema.Top>(channel: C, data: D) =>
  Schema.Struct({
    type: Schema.Literal("snapshot"),
    ...numbered,
    channel: Schema.Literal(channel),
    resumed: Schema.Boolean,
    gap: Schema.NullOr(LiveGap),
    data
  })

const dataOf = <T extends string, D extends Schema.Top>(type: T, data: D) =>
  Schema.Struct({ type: Schema.Literal(type), ...numbered, data })

/** Frames of the channels that event streams carry too. */
export const tradeFrames = {
  snapshot: snapshotOf("trades", snapshotData.trades),
  trade: dataOf("trade", TokenTrade)
} as const
export const candleFrames = {
  snapshot: snapshotOf("candles", snapshotData.candles),
  candle: dataOf("candle", ChartBar),
  closed: dataOf("candle_closed", ChartBar)
} as const
export const gapFrame = dataOf("gap", LiveGap)

/** A frame that has its number in a subscription. */
export const MarketDataFrame = Schema.Union([
  tradeFrames.snapshot,
  candleFrames.snapshot,
  snapshotOf("price", snapshotData.price),
  snapshotOf("launches", snapshotData.launches),
  snapshotOf("graduations", snapshotData.graduations),
  snapshotOf("movers", snapshotData.movers),
  snapshotOf("quote", snapshotData.quote),
  snapshotOf("freshness", snapshotData.freshness),
  tradeFrames.trade,
  candleFrames.candle,
  candleFrames.closed,
  dataOf("price", LivePrice),
  dataOf("launch", LiveLaunch),
  dataOf("graduation", LiveLaunch),
  dataOf("movers", movers),
  dataOf("quote", LiveQuote),
  dataOf("quote_error", Schema.Struct(failedTick)),
  dataOf("quote_throttled", Schema.Struct(throttledTick)),
  dataOf("freshness", snapshotData.freshness),
  gapFrame
])
export type MarketDataFrame = typeof MarketDataFrame.Type

/** Reason of the end of a subscription. */
export const EndCode = Schema.Literals([
  "unsubscribed",
  "rate_limited",
  "limiter_unavailable",
  "not_found",
  "data_unavailable",
  "no_route",
  "state_cold",
  "state_stale",
  "route_not_supported"
])
export type EndCode = typeof EndCode.Type

/** A frame about the stream itself. */
export const noticeFrame = Schema.Struct({
  type: Schema.Literal("notice"),
  code: NoticeCode,
  message: Schema.String,
  sentAtMs: Schema.Int
})

/** Codes of the errors of client messages. */
export const MessageErrorCode = Schema.Literals([
  "invalid_message",
  "duplicate_subscription",
  "unknown_subscription",
  "too_many_subscriptions",
  "rate_limited"
])

/** A frame without a number. */
export const MarketControlFrame = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("open"),
    streamId: Schema.String,
    subscriptions: Schema.Int.annotate({ description: "Subscriptions that the connection may have." }),
    sentAtMs: Schema.Int
  }),
  Schema.Struct({
    type: Schema.Literal("ended"),
    id: SubscriptionId,
    code: EndCode,
    message: Schema.String,
    retryAfterMs: Schema.NullOr(Schema.Int),
    sentAtMs: Schema.Int
  }),
  Schema.Struct({
    type: Schema.Literal("error"),
    code: MessageErrorCode,
    message: Schema.String,
    id: Schema.optionalKey(Schema.NullOr(Schema.String)),
    field: Schema.optionalKey(Schema.NullOr(Schema.String)),
    sentAtMs: Schema.Int
  }),
  Schema.Struct({
    type: Schema.Literal("heartbeat"),
    sentAtMs: Schema.Int,
    subscriptions: Schema.Int,
    ingestLagMs: Schema.NullOr(Schema.Int)
  }),
  Schema.Struct({ type: Schema.Literal("pong"), id: Schema.NullOr(Schema.String), sentAtMs: Schema.Int }),
  noticeFrame
])
export type MarketControlFrame = typeof MarketControlFrame.Type

/** Address of one market connection. */
export class MarketSession extends Schema.Opaque<MarketSession>()(
  Schema.Struct({
    wsUrl: Schema.String.annotate({
      description: "Good for one connection. A secret while it lasts: do not log it."
    }),
    expiresInSeconds: Schema.Int,
    ticketExpiresAtMs: Schema.Int,
    streamId: Schema.String.annotate({ description: "Names the stream for resumptions." })
  }).annotate({ identifier: "MarketSession", description: "Where a market connection is made, once and soon." })
) {}
