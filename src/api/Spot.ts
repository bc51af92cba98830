import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Address, SOL } from "../domain/Address.ts"
import { AmountText, Decimals, SlippageBps } from "../domain/Amount.ts"
import { ExitCheck } from "../domain/quotes/ExitCheck.ts"
import { SpotQuote } from "../domain/quotes/Quote.ts"
import { WalletExitCheck } from "../domain/quotes/WalletExit.ts"
import {
  CloseFrame,
  ErrorFrame,
  OpenFrame,
  QuoteFrame,
  INTERVAL,
  ThrottledFrame,
  tickDefaults
} from "../domain/quotes/QuoteStream.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { Budget } from "./middleware/Metering.ts"
import { BooleanParameter, CommaList, described, IntegerParameter, NoQuery, refuse } from "./parameters.ts"
import {
  DataUnavailable,
  RateLimited,
  RouteNotFound,
  RouteTypeNotServed,
  StateNotLoaded,
  StateTooOld
} from "./problems.ts"
import { venuesDescription } from "./venues.ts"

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
const SlippageParameter = described(
  IntegerParameter(1, 1000, defaults.quoteSlippageBps),
  `Allowed slippage in basis points, 1 to 1000; ${defaults.quoteSlippageBps} unless given.`
)
/** Format of a venue label. The handler checks that the label exists. */
export const VenueLabel = Schema.String.check(
  Schema.isPattern(/^[a-z0-9-]{1,32}$/u, {
    expected: "a label of 1 to 32 of a-z, 0-9 and -"
  })
)

const pair = {
  inputMint: Address.annotate({ description: "Mint of what is given." }),
  outputMint: Address.annotate({ description: "Mint of what is received." })
}

/** Rejects a trade of a mint for itself. */
export const twoMints = (request: { readonly inputMint: Address; readonly outputMint: Address }) =>
  request.inputMint !== request.outputMint || refuse("outputMint", "conflict", "outputMint must differ from inputMint.")

/** Requires exactly one of amount and uiAmount, and `decimals` (the name of that field) with uiAmount. */
const oneAmount =
  <const D extends string>(decimals: D) =>
  (request: { readonly amount?: bigint; readonly uiAmount?: unknown } & { readonly [_ in D]?: number }) => {
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

/** Query of a quote. */
export const QuoteQuery = Schema.Struct({
  ...pair,
  amount: Schema.optionalKey(AmountText),
  uiAmount: Schema.optionalKey(
    Schema.String.annotate({ description: "Whole tokens as decimal text; needs inputDecimals." })
  ),
  inputDecimals: Schema.optionalKey(DecimalsParameter),
  outputDecimals: Schema.optionalKey(described(DecimalsParameter, "0 to 18; adds whole-token amounts to the quote.")),
  slippageBps: Schema.optionalKey(SlippageParameter),
  venues: Schema.optionalKey(described(CommaList(VenueLabel, 20), venuesDescription("Only pools of these venues"))),
  pools: Schema.optionalKey(described(CommaList(Address, 20), "Only these pools: 1 to 20 addresses.")),
  maxHops: Schema.optionalKey(described(IntegerParameter(1, 4), "The most swaps in a row, 1 to 4.")),
  directOnly: Schema.optionalKey(
    described(BooleanParameter, "True allows routes of one pool only. An explicit false needs a router.")
  )
}).check(Schema.makeFilter(twoMints), Schema.makeFilter(oneAmount("inputDecimals")))

/** Query of a quote stream. */
export const StreamQuery = Schema.Struct({
  ...pair,
  amount: AmountText,
  outputDecimals: Schema.optionalKey(described(DecimalsParameter, "0 to 18; adds whole-token amounts to the quotes.")),
  slippageBps: Schema.optionalKey(SlippageParameter),
  intervalMs: Schema.optionalKey(
    described(
      IntegerParameter(INTERVAL.minimum, INTERVAL.maximum, defaults.intervalMs),
      `Milliseconds from tick to tick; ${defaults.intervalMs} unless given.`
    )
  ),
  durationSeconds: Schema.optionalKey(
    described(
      IntegerParameter(1, 240, defaults.durationSeconds),
      `Seconds until the stream closes; ${defaults.durationSeconds} unless given.`
    )
  ),
  changesOnly: Schema.optionalKey(
    described(BooleanParameter, "Send only quotes whose proceeds or route moved; every tick is charged all the same.")
  )
}).check(Schema.makeFilter(twoMints))

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
  .annotate({ description: `Rising shares of the position; ${defaults.ladder.join(", ")} unless given.` })

/** The position whose exit is to be checked. */
export const ExitCheckBody = Schema.Struct({
  mint: Address,
  quoteMint: Schema.optionalKey(Address.annotate({ description: "Mint of the proceeds; SOL unless given." })),
  amount: Schema.optionalKey(AmountText),
  uiAmount: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0, { expected: "a number above 0" }))),
  decimals: Schema.optionalKey(Decimals),
  quoteDecimals: Schema.optionalKey(Decimals),
  slippageBps: Schema.optionalKey(SlippageBps),
  ladder: Schema.optionalKey(Ladder)
})
  .check(
    Schema.makeFilter(oneAmount("decimals")),
    Schema.makeFilter(
      ({ mint, quoteMint = SOL }) =>
        mint !== quoteMint || refuse("quoteMint", "conflict", "quoteMint, SOL unless given, must differ from mint."),
      { toJsonSchema: () => ({}) }
    )
  )
  .annotate({ identifier: "ExitCheckRequest", description: "The position whose exit is to be checked." })

const impact = { expected: "above 0 and at most 50" }

/** The wallet whose positions are to be checked. */
export const WalletExitBody = Schema.Struct({
  wallet: Address.annotate({ description: "A wallet: base58 of 32 bytes." }),
  quoteMint: Schema.optionalKey(Address.annotate({ description: "Mint of the proceeds; SOL unless given." })),
  quoteDecimals: Schema.optionalKey(Decimals),
  slippageBps: Schema.optionalKey(SlippageBps),
  ladder: Schema.optionalKey(Ladder),
  maxImpactPct: Schema.optionalKey(
    Schema.Finite.check(Schema.isGreaterThan(0, impact), Schema.isLessThanOrEqualTo(50, impact)).annotate({
      description: `The impact within which the total is summed, in percent against the smallest rung; ${defaults.maxImpactPct} unless given.`
    })
  ),
  limit: Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween({ minimum: 1, maximum: defaults.exitPositions }, { expected: "a whole number from 1 to 50" })
    ).annotate({
      description: `Most positions of the answer, the most valuable first; ${defaults.exitPositions} unless given.`
    })
  )
}).annotate({ identifier: "WalletExitRequest", description: "The wallet whose positions are to be checked." })

const frame = <const Name extends string, Data extends Schema.Top>(event: Name, data: Data) =>
  Schema.Struct({
    id: Schema.optional(Schema.String),
    event: Schema.Literal(event),
    data: Schema.fromJsonString(data)
  })

/** A frame of the quote stream as a server-sent event. */
export const StreamFrame = Schema.Union([
  frame("open", OpenFrame),
  frame("quote", QuoteFrame),
  frame("error", ErrorFrame),
  frame("throttled", ThrottledFrame),
  frame("close", CloseFrame)
])

/** Prices of trades against the pools on chain. */
export class SpotGroup extends HttpApiGroup.make("spot")
  .add(
    HttpApiEndpoint.get("quote", "/api/v1/spot/quote", {
      query: QuoteQuery,
      success: SpotQuote,
      error: [RouteNotFound, RouteTypeNotServed, StateNotLoaded, StateTooOld, RateLimited, DataUnavailable]
    }).annotate(OpenApi.Summary, "Price one trade"),
    HttpApiEndpoint.get("stream", "/api/v1/spot/quote/stream", {
      query: StreamQuery,
      success: HttpApiSchema.StreamSse({ events: StreamFrame }),
      error: [RouteNotFound, RouteTypeNotServed, StateNotLoaded, StateTooOld, RateLimited, DataUnavailable]
    }).annotate(OpenApi.Summary, "Stream quotes of one trade"),
    HttpApiEndpoint.post("exitCheck", "/api/v1/spot/exit-check", {
      query: NoQuery,
      payload: Schema.Union([ExitCheckBody, WalletExitBody]),
      success: Schema.Union([ExitCheck, WalletExitCheck]),
      error: [StateNotLoaded, StateTooOld, RateLimited, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(
        OpenApi.Summary,
        "Quotes for selling shares of a position, or of each position of a wallet, up to all of it"
      )
  )
  .annotateEndpoints(Budget, "quote")
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Prices of trades against the pools on chain.") {}
