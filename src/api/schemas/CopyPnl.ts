/** Profit of copied trades, by average cost. Unknown values are null, and so is a sum with an unknown part. */
import { Schema } from "effect"
import { CopyWindow } from "./Copying.ts"
import { Coverage, Decimal } from "../../domain/Scalar.ts"
import { field } from "../../domain/field.ts"

const usd = (description: string) => Schema.NullOr(Decimal).annotate({ description })
const count = (description: string) => Schema.Int.annotate({ description })

export class CopyPnl extends Schema.Opaque<CopyPnl>()(
  Schema.Struct({
    realized: usd("Proceeds minus cost of the sales in the window. What they sold may have been bought earlier."),
    unrealized: usd("Value minus cost of the holdings at the end of the window."),
    total: usd("Realized and unrealized profit."),
    costUsd: usd("Cost of the purchases in the window, fees included, whether sold since or not."),
    soldCostUsd: usd("Average cost of what was sold in the window, purchase fees included."),
    proceedsUsd: usd("Proceeds of the sales in the window, minus their fees."),
    feesUsd: usd("Fees of every fill in the window. Cost and proceeds contain them already."),
    roiPct: usd("The total in percent of costUsd; null when nothing was bought in the window."),
    fills: count("Filled copies in the window."),
    wins: count("Sales that brought more than they had cost."),
    losses: count("Sales that brought less."),
    unknownBasis: count("Sales with unknown cost or proceeds."),
    openPositions: count("Number of held mints, counted separately for each follow."),
    known: field(
      Schema.Struct({
        realized: field(Decimal, "Profit of the sales with known cost and proceeds. In dollars, like all fields here."),
        unrealized: usd(
          "Value minus cost of the holdings of known cost and price; null when there are holdings and none has a price."
        ),
        total: usd("Realized and unrealized profit."),
        costUsd: field(Decimal, "Cost of the purchases of known cost."),
        proceedsUsd: field(Decimal, "Proceeds of the sales with known proceeds."),
        feesUsd: field(Decimal, "Fees of the fills with a known fee."),
        unmarkedPositions: count("Held mints without a price or of unknown size. No value includes them.")
      }),
      "The part that is known, whatever else is unknown."
    ),
    pnlMode: field(
      Schema.Literal("unknown-basis-null"),
      "Always `unknown-basis-null`: profit with an unknown cost is null, not zero."
    ),
    coverage: Coverage
  }).annotate({ identifier: "CopyPnl", description: "Profit of the copies of one window." })
) {}

export const CopyPnlGroup = Schema.Struct({
  key: field(Schema.String, "The id of the follow, or the mint."),
  label: field(Schema.NullOr(Schema.String), "Label of the leader, or name of the token."),
  pnl: CopyPnl
}).annotate({ identifier: "CopyPnlGroup", description: "The part that belongs to one follow or one mint." })
export type CopyPnlGroup = typeof CopyPnlGroup.Type

export class CopyPnlReport extends Schema.Opaque<CopyPnlReport>()(
  Schema.Struct({
    window: field(CopyWindow, "The span of time that ends now."),
    fromMs: field(
      Schema.NullOr(Schema.Int),
      "Beginning of the window, in milliseconds since the Unix epoch; null when it has none."
    ),
    throughMs: field(Schema.Int, "End of the window, included, in milliseconds since the Unix epoch."),
    total: CopyPnl,
    groups: field(
      Schema.Array(CopyPnlGroup),
      "Groups in the order of their keys, if they have fills in the window or holdings. Empty unless grouped."
    )
  }).annotate({ identifier: "CopyPnlReport", description: "Profit of an account's copies." })
) {}
