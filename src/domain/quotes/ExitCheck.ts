import { Schema } from "effect"
import { Address, type Mint } from "../Address.ts"
import { Atomic, SlippageBps } from "../Amount.ts"
import { SpotQuote } from "./Quote.ts"

/** A position whose way out is to be measured, and at which shares of it. */
export interface Position {
  readonly mint: Mint
  readonly quoteMint: Mint
  /** Units of the mint; positive. */
  readonly amount: bigint
  readonly decimals: number | null
  readonly quoteDecimals: number | null
  readonly slippageBps: number
  /** Shares of the position and the units they come to, ascending. At least one. */
  readonly ladder: ReadonlyArray<{ readonly fraction: number; readonly amount: bigint }>
}

const Ui = Schema.NullOr(Schema.Finite).annotate({ description: "Whole tokens; null when the decimals are not known." })
const MintDecimals = Schema.NullOr(Schema.Int).annotate({
  description: "As stated in the request, else those of the mint in memory; null when it is not loaded yet."
})
const Pct = Schema.NullOr(Schema.Finite).annotate({ description: "Percent points; null when it cannot be measured." })
const Proceeds = Schema.NullOr(Atomic).annotate({ description: "Net proceeds; null when nothing usable is paid." })

/** Verdict on selling a position whole. */
export const Verdict = Schema.Literals(["clean", "thin", "trapped", "no_route"]).annotate({
  identifier: "Verdict",
  description:
    "The first that holds. `no_route`: nothing buys the largest share. `trapped`: liquidity ends inside it, selling more returns less, or the full exit loses half. `thin`: the full exit loses more than 2 %, or was not measured. `clean`: otherwise."
})
export type Verdict = typeof Verdict.Type

/** One share of the position, priced. */
export class Rung extends Schema.Opaque<Rung>()(
  Schema.Struct({
    fraction: Schema.Finite,
    amount: Atomic,
    isBaseline: Schema.Boolean.annotate({ description: "Whether impact is measured against this rung." }),
    uiAmount: Ui,
    quote: Schema.NullOr(SpotQuote),
    error: Schema.NullOr(Schema.Literals(["no_route", "clamped"])),
    outAmount: Proceeds,
    outUiAmount: Ui,
    realizedPrice: Schema.NullOr(Schema.Finite),
    realizedImpactPct: Pct,
    upstreamImpactPct: Pct
  }).annotate({ identifier: "Rung", description: "One share of the position, priced." })
) {}

/** The figures of the whole position. */
export class ExitSummary extends Schema.Opaque<ExitSummary>()(
  Schema.Struct({
    verdict: Verdict,
    venues: Schema.Array(Schema.String),
    warnings: Schema.Array(Schema.String).annotate({ description: "Each begins with its code and a colon." }),
    fullExitImpactPct: Pct,
    fullExitPrice: Schema.NullOr(Schema.Finite),
    fullExitOutAmount: Proceeds,
    fullExitOutUiAmount: Ui,
    maxCleanFraction: Schema.NullOr(Schema.Finite).annotate({
      description:
        "The largest rung that sells within 2 %; 1 exactly when the verdict is clean, null when none is measured within 2 %."
    }),
    maxCleanUiAmount: Ui
  }).annotate({ identifier: "ExitSummary", description: "The figures of the whole position." })
) {}

/** Exit ladder of a position, rung by rung. */
export class ExitCheck extends Schema.Opaque<ExitCheck>()(
  Schema.Struct({
    mint: Address,
    quoteMint: Address,
    amount: Atomic,
    uiAmount: Ui,
    decimals: MintDecimals,
    quoteDecimals: MintDecimals,
    slippageBps: SlippageBps,
    ladder: Schema.Array(Schema.Finite),
    summary: ExitSummary,
    rungs: Schema.Array(Rung),
    units: Schema.Record(Schema.String, Schema.String)
  }).annotate({ identifier: "ExitCheck", description: "Whether a position can be sold, share by share." })
) {}
