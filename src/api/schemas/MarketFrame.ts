/** Messages and frames of the market socket, as on the wire. */
import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { AmountText, Decimals, SlippageBps } from "../../domain/Amount.ts"
import { failedTick, INTERVAL, quoteTick, throttledTick, tickDefaults } from "./QuoteStream.ts"
import { LiveGap, NoticeCode } from "./LiveFrame.ts"
import { Coverage, Decimal, Status } from "../../domain/Scalar.ts"
import { SourceFreshness } from "./SourceFreshness.ts"
import { ChartBar, ChartDenom, ChartResolution } from "./Chart.ts"
import { MarketWindow, MovementRank, MovementRow } from "./MarketViews.ts"
import { LiquidityEvent, LiquidityEventKind } from "./LiquidityEvent.ts"
import { mintOrPool, oneSelector, twoMints } from "./subscriptionRules.ts"
import { LiveHolders } from "./TokenHolders.ts"
import { rangesOfDifferent, screened, screenFields, ScreenOrder, ScreenRow } from "./TokenScreen.ts"
import { TokenTrade } from "./TokenTrade.ts"
import { field } from "../../domain/field.ts"
import { answerSlot, inputMint, mint, outputMint, sentAtMs } from "./fields.ts"

/** Most subscriptions of one market socket. */
export const MAX_SUBSCRIPTIONS = 100

/**
 * Units of the REST budget that a subscription costs in each minute that begins. `allTrades` is for trades without a
 * mint, pool or wallet. A quote costs a unit of the quote budget for each tick instead.
 */
export const subscriptionCosts = {
  trades: 1,
  allTrades: 5,
  liquidity: 1,
  candles: 1,
  price: 1,
  launches: 1,
  graduations: 1,
  movers: 2,
  screen: 6,
  holders: 1,
  quote: 0,
  freshness: 0
} as const

const NAME = /^[0-9A-Za-z._:-]{1,64}$/u

/** Name of a subscription, chosen by the client. */
export const SubscriptionId = Schema.String.check(
  Schema.isPattern(NAME, { expected: "1 to 64 letters, digits, dots, colons, dashes or underscores" })
).annotate({ description: "Name of the subscription: 1 to 64 letters, digits, `.`, `:`, `-` or `_`." })

export class ResumePoint extends Schema.Opaque<ResumePoint>()(
  Schema.Struct({
    streamId: field(
      Schema.String.check(Schema.isMaxLength(64, { expected: "at most 64 characters" })),
      "Id of the stream."
    ),
    seq: field(
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { expected: "0 or more" })),
      "Number of the last frame that was read."
    )
  }).annotate({
    identifier: "ResumePoint",
    description:
      "The stream in which the subscription of this id was read before, and the number of its last frame. The frames after it follow, for two minutes after the connection was lost; later the snapshot has a `gap`."
  })
) {}

const named = {
  op: field(Schema.Literal("subscribe"), "Kind of the message."),
  id: SubscriptionId,
  resume: Schema.optionalKey(ResumePoint)
}

const optionalAddress = Schema.optionalKey(Address)

/** A decimal above 0, with at most 15 digits before the point and 9 after it. */
const POSITIVE = /^(?![0.]*$)(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,9})?$/u

const positive = Schema.isPattern(POSITIVE, { expected: "above 0, with at most 9 fraction digits" })

/** Name of a channel. */
export const Channel = Schema.Literals([
  "trades",
  "liquidity",
  "candles",
  "price",
  "launches",
  "graduations",
  "movers",
  "screen",
  "holders",
  "quote",
  "freshness"
])
export type Channel = typeof Channel.Type

/** Subscriptions as clients send them, by channel. */
export const subscribeMessages = {
  trades: Schema.Struct({
    ...named,
    channel: field(Schema.Literal("trades"), "Name of the channel."),
    mint: field(optionalAddress, "Mint of the token: base58 of 32 bytes."),
    pool: field(optionalAddress, "Address of the pool."),
    wallet: field(optionalAddress, "The wallet: base58 of 32 bytes."),
    minUsd: field(
      Schema.optionalKey(Schema.String.check(positive)),
      "Only trades of at least this many dollars. Trades of unknown value are then left out."
    )
  }).check(oneSelector),
  liquidity: Schema.Struct({
    ...named,
    channel: field(Schema.Literal("liquidity"), "Name of the channel."),
    mint: field(optionalAddress, "Mint of the token: base58 of 32 bytes."),
    pool: field(optionalAddress, "Address of the pool."),
    kind: field(Schema.optionalKey(LiquidityEventKind), "Only what was added, or only what was removed.")
  }).check(mintOrPool),
  candles: Schema.Struct({
    ...named,
    channel: field(Schema.Literal("candles"), "Name of the channel."),
    mint: field(optionalAddress, "Mint of the token: base58 of 32 bytes."),
    pool: field(optionalAddress, "Address of the pool."),
    resolution: field(ChartResolution, "Width of a bar."),
    denom: field(Schema.optionalKey(ChartDenom), "Unit of the bars; usd by default.")
  }).check(mintOrPool),
  price: Schema.Struct({
    ...named,
    channel: field(Schema.Literal("price"), "Name of the channel."),
    mint
  }),
  launches: Schema.Struct({ ...named, channel: field(Schema.Literal("launches"), "Name of the channel.") }),
  graduations: Schema.Struct({ ...named, channel: field(Schema.Literal("graduations"), "Name of the channel.") }),
  movers: Schema.Struct({
    ...named,
    channel: field(Schema.Literal("movers"), "Name of the channel."),
    window: field(MarketWindow, "The span of time that ends now."),
    rank: field(Schema.optionalKey(MovementRank), "What tokens are ranked by; gainers by default.")
  }),
  screen: Schema.Struct({
    ...named,
    channel: field(Schema.Literal("screen"), "Name of the channel."),
    ...screenFields
  }).check(rangesOfDifferent),
  holders: Schema.Struct({
    ...named,
    channel: field(Schema.Literal("holders"), "Name of the channel."),
    mint
  }),
  quote: Schema.Struct({
    ...named,
    channel: field(Schema.Literal("quote"), "Name of the channel."),
    inputMint,
    outputMint,
    amount: AmountText,
    outputDecimals: Schema.optionalKey(Decimals),
    slippageBps: Schema.optionalKey(SlippageBps),
    intervalMs: field(
      Schema.optionalKey(
        Schema.Int.check(Schema.isBetween(INTERVAL, { expected: "a whole number from 250 to 60000" }))
      ),
      `Milliseconds between ticks; ${tickDefaults.intervalMs} by default.`
    ),
    changesOnly: field(
      Schema.optionalKey(Schema.Boolean),
      "True sends only quotes whose proceeds or route changed. Every tick is charged all the same."
    )
  }).check(twoMints),
  freshness: Schema.Struct({ ...named, channel: field(Schema.Literal("freshness"), "Name of the channel.") })
} as const
export type SubscribeMessage = (typeof subscribeMessages)[Channel]["Type"]

/** A client's request to end a subscription. */
export const UnsubscribeMessage = Schema.Struct({
  op: field(Schema.Literal("unsubscribe"), "Kind of the message."),
  id: SubscriptionId
})

const time = Schema.NullOr(Schema.Int)

export class LivePrice extends Schema.Opaque<LivePrice>()(
  Schema.Struct({
    mint,
    priceUsd: field(Schema.NullOr(Decimal), "Price of one whole token in USD, at its last swap; null when unknown."),
    priceSol: field(Schema.NullOr(Decimal), "Price of one whole token in SOL; null when unknown."),
    slot: field(time, "Slot of the block."),
    timeMs: field(time, "Block time of the swap; null when only candles hold the swap.")
  }).annotate({ identifier: "LivePrice", description: "The price of the last swap of a token." })
) {}

/** A token that was put on a launchpad's curve, or left it for a pool. */
export class LiveLaunch extends Schema.Opaque<LiveLaunch>()(
  Schema.Struct({
    mint,
    launchpad: field(Schema.String, "Key of the launchpad; null when unknown."),
    pool: field(Schema.NullOr(Address), "The curve at the launch, the pool at the graduation."),
    timeMs: field(Schema.Int, "Block time, in milliseconds since the Unix epoch.")
  }).annotate({ identifier: "LiveLaunch", description: "A launch or a graduation." })
) {}

const movers = Schema.Struct({
  window: field(MarketWindow, "The span of time that ends now."),
  rows: field(Schema.Array(MovementRow), "The first rows of the ranking, at most 50."),
  slot: answerSlot,
  status: Status,
  coverage: Coverage
})

const ofScreen = {
  slot: answerSlot,
  observedAtMs: field(Schema.Int, "Time of the data. A row that no frame names since is unchanged as of this time."),
  status: Status,
  coverage: Coverage,
  ...screened
}

/** What changed in the rows of a screen. */
export const ScreenChange = Schema.Struct({
  entered: field(Schema.Array(ScreenRow), "Rows of tokens that were not among the rows before."),
  changed: field(Schema.Array(ScreenRow), "Whole rows whose values or ranks are others now."),
  left: field(Schema.Array(Address), "Mints that are no longer among the rows."),
  ...ofScreen
}).annotate({ identifier: "ScreenChange", description: "What changed in the rows of a screen." })
export type ScreenChange = typeof ScreenChange.Type

export class LiveQuote extends Schema.Opaque<LiveQuote>()(
  Schema.Struct(quoteTick).annotate({ identifier: "LiveQuote", description: "A tick that was priced." })
) {}

/** Data of the snapshot of each channel. */
export const snapshotData = {
  trades: Schema.Struct({
    trades: field(Schema.Array(TokenTrade), "Newest first, at most 50."),
    slot: answerSlot
  }),
  liquidity: Schema.Struct({
    events: field(Schema.Array(LiquidityEvent), "Newest first, at most 50."),
    slot: answerSlot,
    coverage: Coverage
  }),
  candles: Schema.Struct({
    bars: field(Schema.Array(ChartBar), "Oldest first, at most 100."),
    openBarMs: field(time, "Start of the bar that can still change."),
    slot: answerSlot,
    status: Status
  }),
  price: Schema.Struct({ ...LivePrice.fields, asOfSlot: answerSlot }),
  launches: Schema.Struct({
    launches: field(Schema.Array(LiveLaunch), "Tokens created and graduated in the window."),
    slot: answerSlot
  }),
  graduations: Schema.Struct({
    graduations: field(Schema.Array(LiveLaunch), "Newest first, at most 50."),
    slot: answerSlot
  }),
  movers,
  screen: Schema.Struct({
    rows: field(Schema.Array(ScreenRow), "The rows, in their order."),
    sort: field(ScreenOrder, "The order of the rows."),
    ...ofScreen
  }),
  holders: LiveHolders,
  quote: LiveQuote,
  freshness: Schema.Struct({ sources: field(Schema.Array(SourceFreshness), "Every source.") })
} as const

const numbered = {
  id: SubscriptionId,
  seq: field(Schema.Int, "Number in the subscription: 0 for its snapshot, then one more with every frame."),
  skipped: field(
    Schema.optionalKey(Schema.Int),
    "Number of earlier frames that were not sent to this slow reader, because this frame is newer."
  ),
  sentAtMs
}

const snapshotOf = <C extends Channel, D extends Schema.Top>(channel: C, data: D) =>
  Schema.Struct({
    type: field(Schema.Literal("snapshot"), "Kind of the frame."),
    ...numbered,
    channel: field(Schema.Literal(channel), "Name of the channel."),
    resumed: field(
      Schema.Boolean,
      "True when the frames after the resumed place follow. False when they are gone, or when none were requested."
    ),
    gap: field(Schema.NullOr(LiveGap), "What is missing before this frame; null when nothing is."),
    data: field(data, "The data of the frame.")
  })

const dataOf = <T extends string, D extends Schema.Top>(type: T, data: D) =>
  Schema.Struct({
    type: field(Schema.Literal(type), "Kind of the frame."),
    ...numbered,
    data: field(data, "The data of the frame.")
  })

/** Frames of the channels that event streams carry as well. */
export const tradeFrames = {
  snapshot: snapshotOf("trades", snapshotData.trades),
  trade: dataOf("trade", TokenTrade)
} as const
export const liquidityFrames = {
  snapshot: snapshotOf("liquidity", snapshotData.liquidity),
  liquidity: dataOf("liquidity", LiquidityEvent)
} as const
export const candleFrames = {
  snapshot: snapshotOf("candles", snapshotData.candles),
  candle: dataOf("candle", ChartBar),
  closed: dataOf("candle_closed", ChartBar)
} as const
export const gapFrame = dataOf("gap", LiveGap)

/** A frame with a sequence number in its subscription. */
export const MarketDataFrame = Schema.Union([
  tradeFrames.snapshot,
  liquidityFrames.snapshot,
  candleFrames.snapshot,
  snapshotOf("price", snapshotData.price),
  snapshotOf("launches", snapshotData.launches),
  snapshotOf("graduations", snapshotData.graduations),
  snapshotOf("movers", snapshotData.movers),
  snapshotOf("screen", snapshotData.screen),
  snapshotOf("holders", snapshotData.holders),
  snapshotOf("quote", snapshotData.quote),
  snapshotOf("freshness", snapshotData.freshness),
  tradeFrames.trade,
  liquidityFrames.liquidity,
  candleFrames.candle,
  candleFrames.closed,
  dataOf("price", LivePrice),
  dataOf("launch", LiveLaunch),
  dataOf("graduation", LiveLaunch),
  dataOf("movers", movers),
  dataOf("screen", ScreenChange),
  dataOf("holders", LiveHolders),
  dataOf("quote", LiveQuote),
  dataOf("quote_error", Schema.Struct(failedTick)),
  dataOf("quote_throttled", Schema.Struct(throttledTick)),
  dataOf("freshness", snapshotData.freshness),
  gapFrame
])
export type MarketDataFrame = typeof MarketDataFrame.Type

/** Why a subscription ended. */
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
  type: field(Schema.Literal("notice"), "Kind of the frame."),
  code: field(NoticeCode, "Stable code of the reason."),
  message: field(Schema.String, "The reason in words."),
  sentAtMs
})

/** Codes of the errors of client messages. */
export const MessageErrorCode = Schema.Literals([
  "invalid_message",
  "duplicate_subscription",
  "unknown_subscription",
  "too_many_subscriptions",
  "rate_limited"
])

/** The end of a subscription, and why. */
export const EndedFrame = Schema.Struct({
  type: field(Schema.Literal("ended"), "Kind of the frame."),
  id: SubscriptionId,
  code: field(EndCode, "Stable code of the reason."),
  message: field(Schema.String, "The reason in words."),
  retryAfterMs: field(
    Schema.NullOr(Schema.Int),
    "Milliseconds until another attempt may succeed; null when waiting does not help."
  ),
  sentAtMs
})

/** A frame without a sequence number. */
export const MarketControlFrame = Schema.Union([
  Schema.Struct({
    type: field(Schema.Literal("open"), "Kind of the frame."),
    streamId: field(Schema.String, "Id of the stream."),
    subscriptions: field(Schema.Int, "Most subscriptions of the connection."),
    sentAtMs
  }),
  EndedFrame,
  Schema.Struct({
    type: field(Schema.Literal("error"), "Kind of the frame."),
    code: field(MessageErrorCode, "Stable code of the error."),
    message: field(Schema.String, "The error in words."),
    id: field(
      Schema.optionalKey(Schema.NullOr(Schema.String)),
      "Id of the subscription that the message named; null when it named none."
    ),
    field: field(
      Schema.optionalKey(Schema.NullOr(Schema.String)),
      "The wrong field of the message; null when it is not a single field."
    ),
    sentAtMs
  }),
  Schema.Struct({
    type: field(Schema.Literal("heartbeat"), "Kind of the frame."),
    sentAtMs,
    subscriptions: field(Schema.Int, "Number of subscriptions of the connection."),
    ingestLagMs: field(
      Schema.NullOr(Schema.Int),
      "Age of the newest block by its block time, in milliseconds; null before the first block."
    )
  }),
  Schema.Struct({
    type: field(Schema.Literal("pong"), "Kind of the frame."),
    id: field(Schema.NullOr(Schema.String), "The id of the ping; null when it had none."),
    sentAtMs
  }),
  noticeFrame
])
export type MarketControlFrame = typeof MarketControlFrame.Type

export class MarketSession extends Schema.Opaque<MarketSession>()(
  Schema.Struct({
    wsUrl: field(Schema.String, "Good for one connection. It is a secret while it lasts: do not log it."),
    expiresInSeconds: field(Schema.Int, "Seconds in which a connection can be opened with the ticket."),
    ticketExpiresAtMs: field(
      Schema.Int,
      "Time until which a connection can be opened with the ticket, in milliseconds since the Unix epoch."
    ),
    streamId: field(Schema.String, "Id of the stream, for resumptions.")
  }).annotate({ identifier: "MarketSession", description: "The address of one market connection." })
) {}
