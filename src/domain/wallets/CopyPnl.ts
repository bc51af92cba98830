/** Profit of copied trades, by average cost. Null when unknown; a sum with an unknown part is null. */
import { Schema } from "effect"
import { CopyWindow } from "./Copying.ts"
import { Coverage, Decimal } from "../Scalar.ts"

const usd = (description: string) => Schema.NullOr(Decimal).annotate({ description })
const count = (description: string) => Schema.Int.annotate({ description })

/** Profit of the copies of one window. Exact dollars; fees are included. */
export class CopyPnl extends Schema.Opaque<CopyPnl>()(
  Schema.Struct({
    realized: usd("Proceeds less cost of the sales of the window; what they sold may have been bought before it."),
    unrealized: usd("Value less cost of what is held at the end of the window."),
    total: usd("Both together."),
    costUsd: usd("Cost of the purchases of the window, fees included, whether sold since or not."),
    soldCostUsd: usd("Average cost of what the sales of the window sold, the fees of buying it included."),
    proceedsUsd: usd("Proceeds of the sales of the window, less their fees."),
    feesUsd: usd("Fees of every fill of the window. They are inside of cost and proceeds already."),
    roiPct: usd("The total in percent of costUsd; null when nothing was bought in the window."),
    fills: count("Filled copies of the window."),
    wins: count("Sales that brought more than they had cost."),
    losses: count("Sales that brought less."),
    unknownBasis: count("Sales of which the cost or the proceeds are unknown."),
    openPositions: count("Mints held, counted for each follow by itself."),
    pnlMode: Schema.Literal("unknown-basis-null"),
    coverage: Coverage
  }).annotate({ identifier: "CopyPnl", description: "What the copies of one window made." })
) {}

/** The part of one follow or one mint. */
export const CopyPnlGroup = Schema.Struct({
  key: Schema.String.annotate({ description: "The id of the follow, or the mint." }),
  label: Schema.NullOr(Schema.String).annotate({ description: "What the leader or the token is called." }),
  pnl: CopyPnl
}).annotate({ identifier: "CopyPnlGroup", description: "The part of one follow or one mint." })
export type CopyPnlGroup = typeof CopyPnlGroup.Type

/** Profit of an account's copies. */
export class CopyPnlReport extends Schema.Opaque<CopyPnlReport>()(
  Schema.Struct({
    window: CopyWindow,
    fromMs: Schema.NullOr(Schema.Int).annotate({ description: "Null when the window has no beginning." }),
    throughMs: Schema.Int,
    total: CopyPnl,
    groups: Schema.Array(CopyPnlGroup).annotate({
      description: "By key, with fills in the window or something held; empty unless grouped."
    })
  }).annotate({ identifier: "CopyPnlReport", description: "What an account's copies made." })
) {}
