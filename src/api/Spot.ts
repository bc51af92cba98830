import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Address, SOL } from "../domain/Address.ts"
import { AmountText, Decimals, SlippageBps } from "../domain/Amount.ts"
import {
  DataUnavailable,
  RateLimited,
  RouteNotFound,
  RouteTypeNotServed,
  StateNotLoaded,
  StateTooOld
} from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { Budget, FromMemory } from "./middleware/Metering.ts"
import { BooleanParameter, CommaList, IntegerParameter, NoQuery, optional, refuse } from "./parameters.ts"
import { ExitCheck } from "./schemas/ExitCheck.ts"
import { SpotQuote, SwapMode } from "./schemas/Quote.ts"
import {
  CloseFrame,
  ErrorFrame,
  INTERVAL,
  OpenFrame,
  QuoteFrame,
  ThrottledFrame,
  tickDefaults
} from "./schemas/QuoteStream.ts"
import { SpotQuotes } from "./schemas/SpotQuotes.ts"
import { WalletExitCheck } from "./schemas/WalletExit.ts"
import { venuesDescription } from "./venues.ts"
import { field } from "../domain/field.ts"
import { serverEvent } from "./serverEvent.ts"
import { inputMint, mint, outputMint } from "./schemas/fields.ts"
import { UniqueList, VenueLabel } from "./schemas/lists.ts"

/** Default values of optional parameters. */
export const defaults = {
  quoteSlippageBps: tickDefaults.slippageBps,
  exitSlippageBps: 100,
  ladder: [0.01, 0.1, 0.25, 0.5, 0.75, 1],
  exitPositions: 50,
  maxImpactPct: 2,
  intervalMs: tickDefaults.intervalMs,
  durationSeconds: 60
} as const

const DecimalsParameter = IntegerParameter(0, 18)
const SlippageParameter = field(
  IntegerParameter(1, 1000, defaults.quoteSlippageBps),
  `Allowed slippage in basis points, 1 to 1000; ${defaults.quoteSlippageBps} by default.`
)
const pair = {
  inputMint,
  outputMint
}

const AT_SLOT =
  "Answers from the state at the end of this slot in the service's recording, with the time of the recording. Costs at least 5 units. A slot that is not recorded is a 400."

/** More slots than the chain will have. */
export const MOST_SLOTS = 1_000_000_000_000

/** The slot of a past state, in a query. */
export const atSlotParameter = optional(IntegerParameter(1, MOST_SLOTS), AT_SLOT)

/** The slot of a past state, in a body. */
export const atSlotField = field(
  Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MOST_SLOTS }, { expected: "a whole number from 1 on" }))
  ),
  AT_SLOT
)

/** Rejects a trade of a mint for itself. */
export const twoMints = (request: { readonly inputMint: Address; readonly outputMint: Address }) =>
  request.inputMint !== request.outputMint || refuse("outputMint", "conflict", "outputMint must differ from inputMint.")

/** Requires exactly one of amount and uiAmount, and with uiAmount the field that `decimalsOf` names. */
const oneAmount =
  <const D extends string>(decimalsOf: (request: { readonly swapMode?: SwapMode }) => D) =>
  (
    request: { readonly amount?: bigint; readonly uiAmount?: unknown; readonly swapMode?: SwapMode } & {
      readonly [_ in D]?: number
    }
  ) => {
    const decimals = decimalsOf(request)
    if (request.amount !== undefined) {
      return (
        request.uiAmount === undefined || refuse("uiAmount", "conflict", "uiAmount must be left out beside amount.")
      )
    }
    if (request.uiAmount === undefined) {
      return refuse("amount", "missing", `amount is required, or uiAmount and ${decimals}.`)
    }
    return request[decimals] !== undefined || refuse(decimals, "missing", `${decimals} is required beside uiAmount.`)
  }

const SWAP_MODE =
  "`exactIn` (the default): amount is what is sold. `exactOut`: amount is what outputMint has to pay, the pools' exact-output swaps give the input, rounded up as the programs do."

export const QuoteQuery = Schema.Struct({
  ...pair,
  amount: Schema.optionalKey(AmountText),
  uiAmount: field(
    Schema.optionalKey(Schema.String),
    "Amount in whole tokens, as decimal text. It needs inputDecimals, or outputDecimals with swapMode `exactOut`."
  ),
  inputDecimals: Schema.optionalKey(DecimalsParameter),
  outputDecimals: optional(
    DecimalsParameter,
    "Decimals of outputMint, 0 to 18. Adds amounts in whole tokens to the quote."
  ),
  slippageBps: Schema.optionalKey(SlippageParameter),
  swapMode: optional(SwapMode, SWAP_MODE),
  venues: optional(CommaList(VenueLabel, 20), venuesDescription("Only pools of these venues")),
  excludeVenues: optional(CommaList(VenueLabel, 20), "No pools of these venues: 1 to 20 labels, as in venues."),
  pools: optional(CommaList(Address, 20), "Only these pools: 1 to 20 addresses."),
  maxHops: optional(IntegerParameter(1, 4), "The most swaps in a row, 1 to 4."),
  directOnly: optional(BooleanParameter, "True allows only routes through one pool. An explicit false needs a router."),
  atSlot: atSlotParameter
}).check(
  Schema.makeFilter(twoMints),
  Schema.makeFilter(
    oneAmount(({ swapMode }) => (swapMode === "exactOut" ? ("outputDecimals" as const) : ("inputDecimals" as const)))
  )
)

export const StreamQuery = Schema.Struct({
  ...pair,
  amount: AmountText,
  outputDecimals: optional(
    DecimalsParameter,
    "Decimals of outputMint, 0 to 18. Adds amounts in whole tokens to the quotes."
  ),
  swapMode: optional(SwapMode, SWAP_MODE),
  slippageBps: Schema.optionalKey(SlippageParameter),
  intervalMs: optional(
    IntegerParameter(INTERVAL.minimum, INTERVAL.maximum, defaults.intervalMs),
    `Milliseconds between ticks; ${defaults.intervalMs} by default.`
  ),
  durationSeconds: optional(
    IntegerParameter(1, 240, defaults.durationSeconds),
    `Seconds until the stream closes; ${defaults.durationSeconds} by default.`
  ),
  changesOnly: optional(
    BooleanParameter,
    "True sends only quotes whose proceeds or route changed. Every tick is charged all the same."
  )
}).check(Schema.makeFilter(twoMints))

/** The fields of a trade in a body. */
export const tradeFields = {
  ...pair,
  amount: AmountText,
  swapMode: field(Schema.optionalKey(SwapMode), SWAP_MODE),
  slippageBps: Schema.optionalKey(SlippageBps),
  outputDecimals: field(Schema.optionalKey(Decimals), "Decimals of outputMint, 0 to 18, for amounts in whole tokens."),
  venues: field(Schema.optionalKey(UniqueList(VenueLabel, 20, "items")), venuesDescription("Only these venues")),
  excludeVenues: field(
    Schema.optionalKey(UniqueList(VenueLabel, 20, "items")),
    "No pools of these venues: 1 to 20 labels, as in venues."
  ),
  pools: field(Schema.optionalKey(UniqueList(Address, 20, "items")), "Only these pools: 1 to 20 addresses."),
  maxHops: field(
    Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }, { expected: "a whole number from 1 to 4" }))
    ),
    "The most swaps in a row, 1 to 4."
  ),
  directOnly: field(Schema.optionalKey(Schema.Boolean), "True allows only routes through one pool.")
}

/** The most quotes of one request. */
export const MOST_QUOTES = 20

/** Quotes that the trades ask for: one each, two when both sides are wanted. */
export const quotesIn = (trades: ReadonlyArray<{ readonly twoSided?: boolean }>): number =>
  trades.length + trades.filter(({ twoSided }) => twoSided === true).length

const fitting = (trades: ReadonlyArray<{ readonly twoSided?: boolean }>) =>
  quotesIn(trades) <= MOST_QUOTES ||
  refuse(
    String(MOST_QUOTES / 2),
    "out_of_range",
    `quotes must ask for at most ${MOST_QUOTES} quotes, and a trade with twoSided counts twice.`
  )

export const SpotQuotesBody = Schema.Struct({
  quotes: field(
    Schema.Array(
      Schema.Struct({
        ...tradeFields,
        twoSided: field(
          Schema.optionalKey(Schema.Boolean),
          "True adds the quote that sells outAmount back for inputMint at the same state. It counts as a further quote."
        )
      })
        .check(Schema.makeFilter(twoMints, { toJsonSchema: () => ({}) }))
        .annotate({ identifier: "SpotQuotesTrade", description: "One trade to price." })
    ).check(
      Schema.isMinLength(1, { expected: `1 to ${MOST_QUOTES} trades` }),
      Schema.isMaxLength(MOST_QUOTES, { expected: `1 to ${MOST_QUOTES} trades` }),
      Schema.makeFilter(fitting, { toJsonSchema: () => ({}) })
    ),
    `The trades: 1 to ${MOST_QUOTES} quotes in all.`
  ),
  atSlot: atSlotField
}).annotate({ identifier: "SpotQuotesRequest", description: "Trades to price at one state." })

const ascending = (ladder: ReadonlyArray<number>) => {
  const wrong = ladder.findIndex((fraction, i) => fraction <= (ladder[i - 1] ?? 0))
  if (wrong === -1) {
    return true
  }
  const issue = ladder[wrong] === ladder[wrong - 1] ? "duplicate" : "out_of_range"
  return refuse(String(wrong), issue, "ladder must rise from rung to rung.")
}

const Ladder = Schema.Array(
  Schema.Finite.check(
    Schema.isGreaterThan(0, { expected: "above 0 and at most 1" }),
    Schema.isLessThanOrEqualTo(1, { expected: "above 0 and at most 1" })
  )
)
  .check(
    Schema.isMinLength(1, { expected: "1 to 8 fractions" }),
    Schema.isMaxLength(8, { expected: "1 to 8 fractions" }),
    Schema.makeFilter(ascending, { toJsonSchema: () => ({}) })
  )
  .annotate({ description: `Ascending shares of the position; ${defaults.ladder.join(", ")} by default.` })

export const ExitCheckBody = Schema.Struct({
  mint,
  quoteMint: field(Schema.optionalKey(Address), "Mint of the proceeds; SOL by default."),
  amount: Schema.optionalKey(AmountText),
  uiAmount: field(
    Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0, { expected: "a number above 0" }))),
    "Amount in whole tokens, above 0. It needs decimals."
  ),
  decimals: field(Schema.optionalKey(Decimals), "Digits after the point of one whole unit; null when unknown."),
  quoteDecimals: field(Schema.optionalKey(Decimals), "Decimals of quoteMint, 0 to 18, for amounts in whole tokens."),
  slippageBps: Schema.optionalKey(SlippageBps),
  ladder: Schema.optionalKey(Ladder),
  atSlot: atSlotField
})
  .check(
    Schema.makeFilter(oneAmount(() => "decimals" as const)),
    Schema.makeFilter(
      ({ mint, quoteMint = SOL }) =>
        mint !== quoteMint || refuse("quoteMint", "conflict", "quoteMint, SOL by default, must differ from mint."),
      { toJsonSchema: () => ({}) }
    )
  )
  .annotate({ identifier: "ExitCheckRequest", description: "The position whose exit is to be checked." })

const impact = { expected: "above 0 and at most 50" }

export const WalletExitBody = Schema.Struct({
  wallet: field(Address, "A wallet: base58 of 32 bytes."),
  quoteMint: field(Schema.optionalKey(Address), "Mint of the proceeds; SOL by default."),
  quoteDecimals: field(Schema.optionalKey(Decimals), "Decimals of quoteMint, 0 to 18, for amounts in whole tokens."),
  slippageBps: Schema.optionalKey(SlippageBps),
  ladder: Schema.optionalKey(Ladder),
  maxImpactPct: field(
    Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0, impact), Schema.isLessThanOrEqualTo(50, impact))),
    `The greatest price impact that the total allows, in percent against the smallest rung; ${defaults.maxImpactPct} by default.`
  ),
  limit: field(
    Schema.optionalKey(
      Schema.Int.check(
        Schema.isBetween({ minimum: 1, maximum: defaults.exitPositions }, { expected: "a whole number from 1 to 50" })
      )
    ),
    `Most positions of the answer, most valuable first; ${defaults.exitPositions} by default.`
  )
}).annotate({ identifier: "WalletExitRequest", description: "The wallet whose positions are to be checked." })

/** A frame of the quote stream as a server-sent event. */
export const StreamFrame = Schema.Union([
  serverEvent("open", OpenFrame),
  serverEvent("quote", QuoteFrame),
  serverEvent("error", ErrorFrame),
  serverEvent("throttled", ThrottledFrame),
  serverEvent("close", CloseFrame)
])

/** Prices of trades against the pools on chain. */
export class SpotGroup extends HttpApiGroup.make("spot")
  .add(
    HttpApiEndpoint.get("quote", "/api/v1/spot/quote", {
      query: QuoteQuery,
      success: SpotQuote,
      error: [RouteNotFound, RouteTypeNotServed, StateNotLoaded, StateTooOld, RateLimited, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "Price one trade"),
    HttpApiEndpoint.get("stream", "/api/v1/spot/quote/stream", {
      query: StreamQuery,
      success: HttpApiSchema.StreamSse({ events: StreamFrame }),
      error: [RouteNotFound, RouteTypeNotServed, StateNotLoaded, StateTooOld, RateLimited, DataUnavailable]
    }).annotate(OpenApi.Summary, "Stream quotes of one trade"),
    HttpApiEndpoint.post("quotes", "/api/v1/spot/quotes", {
      query: NoQuery,
      payload: SpotQuotesBody,
      success: SpotQuotes,
      error: [StateTooOld, RateLimited, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Price up to 20 trades at one state")
      .annotate(
        OpenApi.Description,
        "Every quote comes from the same state of the pools: nothing changes between the first and the last. The trades do not move each other's prices. A trade without a price has its reason in its place, and the other trades are priced. Charged before pricing; quotes that fail on the side of the service are given back, except the last unit."
      ),
    HttpApiEndpoint.post("exitCheck", "/api/v1/spot/exit-check", {
      query: NoQuery,
      payload: Schema.Union([ExitCheckBody, WalletExitBody]),
      success: Schema.Union([ExitCheck, WalletExitCheck]),
      error: [StateNotLoaded, StateTooOld, RateLimited, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Quotes for selling shares of one position, or of each position of a wallet")
  )
  .annotateEndpoints(Budget, "quote")
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Prices of trades against the pools on chain.") {}
