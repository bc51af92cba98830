import { Schema } from "effect"
import { Address, type Mint } from "../../domain/Address.ts"
import { Atomic, atomic, SlippageBps } from "../../domain/Amount.ts"
import { field } from "../../domain/field.ts"
import { inputMint, outputMint } from "./fields.ts"

/** Which amount of a trade is fixed. */
export const SwapMode = Schema.Literals(["exactIn", "exactOut"])
export type SwapMode = typeof SwapMode.Type

/** A quote request. */
export interface QuoteRequest {
  readonly inputMint: Mint
  readonly outputMint: Mint
  /** Units of the input mint to sell, or with `exactOut` units of the output mint to receive; positive. */
  readonly amount: bigint
  /** `exactIn` when it is missing. */
  readonly swapMode?: SwapMode | undefined
  readonly slippageBps: number
  /** When given, the quote also carries whole-token amounts. */
  readonly outputDecimals?: number | undefined
  /** Only pools of these venues, by label. */
  readonly venues?: ReadonlyArray<string> | undefined
  /** No pools of these venues, by label. */
  readonly excludeVenues?: ReadonlyArray<string> | undefined
  /** Only these pools. */
  readonly pools?: ReadonlyArray<Address> | undefined
  readonly maxHops?: number | undefined
  readonly directOnly?: boolean | undefined
}

/** Percentage points: 1.5 is 1.5 %. */
const Pct = Schema.Finite

const Payout = Atomic.pipe(
  Schema.annotateEncoded({
    identifier: "Payout",
    description: "Payout of the program in atomic units, before any fee of the service."
  })
)

const OutAmount = Atomic.pipe(
  Schema.annotateEncoded({
    identifier: "OutAmount",
    description:
      "Output of the trade in atomic units. With feeBasis `net` the service's fee is subtracted: 100 basis points unless the deployment sets PLATFORM_FEE_BPS. route[].amountOut is the payout of the program."
  })
)

export class Hop extends Schema.Opaque<Hop>()(
  Schema.Struct({
    dex: field(Schema.String, "Key of the venue, such as raydium-cpmm."),
    inputMint,
    outputMint,
    pool: field(Address, "Address of the pool."),
    percent: field(
      Schema.Finite,
      "Percent of the units of inputMint in the route that go through this hop, to two decimals. The hops that leave one mint add up to 100."
    ),
    amountIn: atomic("Input of the swap in atomic units of its inputMint."),
    amountOut: Payout,
    priceImpactPct: field(
      Schema.NullOr(Pct),
      "Percentage points by which the fill of this swap is worse than the marginal rate; null when not measurable."
    ),
    provenAtSlot: field(
      Schema.NullOr(Schema.Int),
      "Slot of the newest state at which the venue's deployed program was shown to pay what is quoted; null where this deployment was not proven. With computeUnits, the slot at which the program itself was executed for this quote."
    ),
    computeUnits: field(
      Schema.optionalKey(Schema.Int),
      "Compute units that the venue's program used when it was executed for this quote. Absent where the amounts are computed without the program."
    )
  }).annotate({ identifier: "Hop", description: "One swap of the route." })
) {}

export class SpotQuote extends Schema.Opaque<SpotQuote>()(
  Schema.Struct({
    inputMint,
    outputMint,
    inAmount: atomic("Input of the trade in atomic units of inputMint."),
    outAmount: OutAmount,
    minOutAmount: atomic(
      "The least output after slippage, in atomic units of outputMint, rounded down. With swapMode `exactOut` it is outAmount."
    ),
    swapMode: field(
      Schema.optionalKey(Schema.Literal("exactOut")),
      "`exactOut`: outAmount is fixed, and slippage bounds the input. Absent: inAmount is fixed."
    ),
    maxInAmount: Schema.optionalKey(
      atomic(
        "The most input after slippage, in atomic units of inputMint, rounded up. Present with swapMode `exactOut`."
      )
    ),
    withoutExactOut: field(
      Schema.optionalKey(Schema.Array(Schema.String)),
      "Keys of venues that have pools of the pair and no exact-output swap. They were left out and may be cheaper. Present with swapMode `exactOut`."
    ),
    outUiAmount: field(
      Schema.optionalKey(Schema.Finite),
      "`outAmount` in whole tokens, as the nearest number; present when the decimals are known."
    ),
    minOutUiAmount: field(
      Schema.optionalKey(Schema.Finite),
      "`minOutAmount` in whole tokens, as the nearest number; present when the decimals are known."
    ),
    slippageBps: SlippageBps,
    impactMeasurable: field(Schema.Boolean, "False when the impact is within the noise of 0.1 %."),
    clamped: field(
      Schema.Boolean,
      "True when liquidity ends before the whole amount is sold. The quote is then not for the whole amount."
    ),
    route: field(Schema.Array(Hop), "Swaps in the order of execution."),
    venues: field(Schema.Array(Schema.String), "Keys of the venues of the route."),
    engine: field(Schema.String, "The engine that priced the trade."),
    priceImpactPct: field(Schema.NullOr(Pct), "Percentage points; null when not measurable or clamped."),
    contextSlot: field(
      Schema.Int,
      "Newest slot that the feed has seen. During a gap or without a connection, the slot of the state that the quote was computed from."
    ),
    engineTimeMs: field(Schema.Finite, "Time that pricing took, in milliseconds."),
    swapUsdValue: field(
      Schema.NullOr(Schema.Finite),
      "Value of the trade in USD, as the nearest number; null without a price."
    ),
    requestId: field(Schema.String, "Id of this quote."),
    quotedAtMs: field(Schema.Int, "Time of the quote, in milliseconds since the Unix epoch."),
    stateSlot: field(Schema.Int, "Slot of the oldest pool state used."),
    stateAgeMs: field(Schema.Int, "Milliseconds since contextSlot was received."),
    feeBasis: field(
      Schema.optionalKey(Schema.Literals(["net", "principal"])),
      "`net`: the SOL fee is taken from the proceeds. `principal`: it is charged on top of the input. Absent: no fee."
    )
  }).annotate({ identifier: "SpotQuote", description: "A priced trade." })
) {}

/** No loaded pool trades this pair at this size. */
export class NoRoute extends Schema.TaggedError<NoRoute>()("NoRoute", {
  inputMint: Address,
  outputMint: Address,
  /** True when a pool trades the pair, but pays nothing for an amount as small as this. */
  paysNothing: Schema.optionalKey(Schema.Boolean)
}) {}

/** The pools of this mint are not in memory yet. The request has queued them. */
export class StateCold extends Schema.TaggedError<StateCold>()("StateCold", {
  mint: Address,
  /** Time until they are probably loaded; missing when unknown. */
  readyInMs: Schema.optionalKey(Schema.Int)
}) {}

/** The pools of this mint are neither in memory nor queued, because the key has too many mints pending. */
export class TooManyColdMints extends Schema.TaggedError<TooManyColdMints>()("TooManyColdMints", {
  mint: Address,
  /** Time until one of them is probably loaded. */
  fitsInMs: Schema.Int
}) {}

/** No pool in memory trades this pair at this size, and the node refused to search for more pools of the mint. */
export class PoolsNotSearched extends Schema.TaggedError<PoolsNotSearched>()("PoolsNotSearched", { mint: Address }) {}

/** The chain has been silent for too long to quote from the state in memory. */
export class StateStale extends Schema.TaggedError<StateStale>()("StateStale", {
  lastSlot: Schema.Int,
  /** Null before the first slot was heard. */
  silentMs: Schema.NullOr(Schema.Int)
}) {}

/** The engine does not serve this kind of route; `detail` is the reason. */
export class RouteNotSupported extends Schema.TaggedError<RouteNotSupported>()("RouteNotSupported", {
  detail: Schema.String
}) {}

/** Only this pool trades the pair, and its program could not be executed; `detail` is the reason. */
export class NotExecuted extends Schema.TaggedError<NotExecuted>()("NotExecuted", {
  pool: Address,
  dex: Schema.String,
  detail: Schema.String,
  /** Time until it may work; null when it will not for this trade. */
  retryInMs: Schema.NullOr(Schema.Int)
}) {}

/** Every reason why a quote cannot be given. */
export type QuoteRefusal =
  | NoRoute
  | StateCold
  | TooManyColdMints
  | PoolsNotSearched
  | StateStale
  | RouteNotSupported
  | NotExecuted
