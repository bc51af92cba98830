import { Schema } from "effect"
import { Address, type Mint } from "../Address.ts"
import { Atomic, atomic, SlippageBps } from "../Amount.ts"

/** A quote request, exact input only. */
export interface QuoteRequest {
  readonly inputMint: Mint
  readonly outputMint: Mint
  /** Units of the input mint to sell; positive. */
  readonly amount: bigint
  readonly slippageBps: number
  /** When given, the quote also carries whole-token amounts. */
  readonly outputDecimals?: number | undefined
  /** Only pools of these venues, by label. */
  readonly venues?: ReadonlyArray<string> | undefined
  /** Only these pools. */
  readonly pools?: ReadonlyArray<Address> | undefined
  readonly maxHops?: number | undefined
  readonly directOnly?: boolean | undefined
}

/** Percent points: 1.5 is 1.5 %. */
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
      "Output of the trade in atomic units. With feeBasis net it is less the fee of the service, 100 basis points unless the deployment sets PLATFORM_FEE_BPS; route[].amountOut is the payout of the program."
  })
)

/** One swap of the route. */
export class Hop extends Schema.Opaque<Hop>()(
  Schema.Struct({
    dex: Schema.String,
    inputMint: Address,
    outputMint: Address,
    pool: Address,
    percent: Schema.Finite.annotate({ description: "Share of the route's input that takes this hop." }),
    amountIn: Atomic,
    amountOut: Payout,
    priceImpactPct: Schema.NullOr(Pct),
    provenAtSlot: Schema.NullOr(Schema.Int).annotate({
      description:
        "Slot of the newest state at which swaps that the deployed program of the venue executed paid what is quoted; null where this deployment was not proven."
    })
  }).annotate({ identifier: "Hop", description: "One swap of the route." })
) {}

/** A priced trade, true at `stateSlot` and asked at `contextSlot`. */
export class SpotQuote extends Schema.Opaque<SpotQuote>()(
  Schema.Struct({
    inputMint: Address,
    outputMint: Address,
    inAmount: Atomic,
    outAmount: OutAmount,
    minOutAmount: atomic("The least output after slippage, in atomic units of outputMint, rounded down."),
    outUiAmount: Schema.optionalKey(Schema.Finite),
    minOutUiAmount: Schema.optionalKey(Schema.Finite),
    slippageBps: SlippageBps,
    impactMeasurable: Schema.Boolean.annotate({
      description: "False when the impact is inside the noise floor of 0.1 %."
    }),
    clamped: Schema.Boolean.annotate({
      description: "True when liquidity ends before the amount does: never proceeds."
    }),
    route: Schema.Array(Hop),
    venues: Schema.Array(Schema.String),
    engine: Schema.String,
    priceImpactPct: Schema.NullOr(Pct).annotate({
      description: "Percent points; null when not measurable or clamped."
    }),
    contextSlot: Schema.Int.annotate({ description: "Newest slot the feed had heard of." }),
    engineTimeMs: Schema.Finite,
    swapUsdValue: Schema.NullOr(Schema.Finite),
    requestId: Schema.String.annotate({ description: "Id of this quote." }),
    quotedAtMs: Schema.Int,
    stateSlot: Schema.Int.annotate({ description: "Slot of the oldest pool state used." }),
    stateAgeMs: Schema.Int.annotate({ description: "Milliseconds since the chain was last heard." }),
    feeBasis: Schema.optionalKey(
      Schema.Literals(["net", "principal"]).annotate({
        description:
          "net: the SOL fee is taken from the proceeds. principal: it is charged on top of the input. Absent: no fee."
      })
    )
  }).annotate({ identifier: "SpotQuote", description: "A priced trade." })
) {}

/** No loaded pool trades this pair at this size. */
export class NoRoute extends Schema.TaggedError<NoRoute>()("NoRoute", { inputMint: Address, outputMint: Address }) {}

/** The pools of this mint are not in memory yet; asking has queued them. */
export class StateCold extends Schema.TaggedError<StateCold>()("StateCold", {
  mint: Address,
  /** Time until they are probably loaded; missing while it is not known. */
  readyInMs: Schema.optionalKey(Schema.Int)
}) {}

/** The pools of this mint are not in memory and have not been queued: the key has too many mints pending. */
export class TooManyColdMints extends Schema.TaggedError<TooManyColdMints>()("TooManyColdMints", {
  mint: Address,
  /** Time until one of them is probably loaded. */
  fitsInMs: Schema.Int
}) {}

/** No pool in memory trades this pair at this size, and the node refused to search for those of the mint: it may have others. */
export class PoolsNotSearched extends Schema.TaggedError<PoolsNotSearched>()("PoolsNotSearched", { mint: Address }) {}

/** The chain has been silent for too long to quote from what is in memory. */
export class StateStale extends Schema.TaggedError<StateStale>()("StateStale", {
  lastSlot: Schema.Int,
  /** Null before the first slot was heard. */
  silentMs: Schema.NullOr(Schema.Int)
}) {}

/** The engine does not serve this kind of route; `detail` is the reason. */
export class RouteNotSupported extends Schema.TaggedError<RouteNotSupported>()("RouteNotSupported", {
  detail: Schema.String
}) {}

/** Everything that can keep a quote from being given. */
export type QuoteRefusal = NoRoute | StateCold | TooManyColdMints | PoolsNotSearched | StateStale | RouteNotSupported
