import { Schema } from "effect"
import { Address, type Mint } from "../../domain/Address.ts"
import { Atomic, SlippageBps } from "../../domain/Amount.ts"
import { SpotQuote } from "./Quote.ts"
import { field } from "../../domain/field.ts"
import { amount, mint } from "./fields.ts"

/** A position whose exit is measured, and the shares to measure. */
export interface Position {
  readonly mint: Mint
  readonly quoteMint: Mint
  /** Units of the mint; positive. */
  readonly amount: bigint
  readonly decimals: number | null
  readonly quoteDecimals: number | null
  readonly slippageBps: number
  /** Shares of the position with their units, ascending. At least one. */
  readonly ladder: ReadonlyArray<{ readonly fraction: number; readonly amount: bigint }>
}

const Ui = Schema.NullOr(Schema.Finite).annotate({
  description: "The position in whole tokens; null when the decimals are unknown."
})
const MintDecimals = Schema.NullOr(Schema.Int).annotate({
  description: "Decimals from the request, otherwise from the mint in memory; null when the mint is not loaded yet."
})
const Pct = Schema.NullOr(Schema.Finite).annotate({
  description: "Percentage points; null when it cannot be measured."
})
const Proceeds = Schema.NullOr(Atomic).annotate({
  description: "Net proceeds, in atomic units of quoteMint; null when nothing usable is paid."
})

/** Verdict on selling a whole position. */
export const Verdict = Schema.Literals(["clean", "thin", "trapped", "no_route"]).annotate({
  identifier: "Verdict",
  description:
    "The first verdict that holds. `no_route`: nothing buys the largest share. `trapped`: liquidity ends within it, selling more returns less, or the full exit loses half. `thin`: the full exit loses more than 2 %, or could not be measured. `clean`: everything else."
})
export type Verdict = typeof Verdict.Type

export class Rung extends Schema.Opaque<Rung>()(
  Schema.Struct({
    fraction: field(Schema.Finite, "Share of the position, above 0 and at most 1."),
    amount,
    isBaseline: field(Schema.Boolean, "True for the rung that impact is measured against."),
    uiAmount: Ui,
    quote: Schema.NullOr(SpotQuote),
    error: field(
      Schema.NullOr(Schema.Literals(["no_route", "clamped"])),
      "Why no quote sells the rung whole; null when one does."
    ),
    outAmount: Proceeds,
    outUiAmount: Ui,
    realizedPrice: field(
      Schema.NullOr(Schema.Finite),
      "Whole tokens of the quote mint for one whole token of the position, as the nearest number; null without decimals or proceeds."
    ),
    realizedImpactPct: Pct,
    upstreamImpactPct: Pct
  }).annotate({ identifier: "Rung", description: "One share of the position, priced." })
) {}

export class ExitSummary extends Schema.Opaque<ExitSummary>()(
  Schema.Struct({
    verdict: Verdict,
    venues: field(Schema.Array(Schema.String), "Keys of the venues of the route."),
    warnings: field(Schema.Array(Schema.String), "Warnings. Each begins with its code and a colon."),
    fullExitImpactPct: Pct,
    fullExitPrice: field(
      Schema.NullOr(Schema.Finite),
      "`realizedPrice` of the whole position; null when it cannot be sold."
    ),
    fullExitOutAmount: Proceeds,
    fullExitOutUiAmount: Ui,
    maxCleanFraction: field(
      Schema.NullOr(Schema.Finite),
      "The largest rung that sells within 2 %. 1 exactly when the verdict is `clean`; null when no rung sells within 2 %."
    ),
    maxCleanUiAmount: Ui
  }).annotate({ identifier: "ExitSummary", description: "The figures of the whole position." })
) {}

export class ExitCheck extends Schema.Opaque<ExitCheck>()(
  Schema.Struct({
    mint,
    quoteMint: field(Address, "Mint of the proceeds."),
    amount,
    uiAmount: Ui,
    decimals: MintDecimals,
    quoteDecimals: MintDecimals,
    slippageBps: SlippageBps,
    ladder: field(Schema.Array(Schema.Finite), "Ascending shares of the position, above 0 and at most 1."),
    summary: ExitSummary,
    rungs: field(Schema.Array(Rung), "The priced shares."),
    units: field(Schema.Record(Schema.String, Schema.String), "Unit of each number in the answer, by name.")
  }).annotate({ identifier: "ExitCheck", description: "Whether a position can be sold, share by share." })
) {}
