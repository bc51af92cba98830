/** How often and for how long a wallet won. Unknown values are null. */
import { Schema } from "effect"
import { field } from "../../domain/field.ts"
import { Decimal } from "../../domain/Scalar.ts"
import { mint } from "./fields.ts"
import { walletState } from "./WalletPositions.ts"

const count = (description: string) => field(Schema.Int, description)
const milliseconds = (description: string) => field(Schema.NullOr(Schema.Int), description)

export const ClosedPosition = Schema.Struct({
  mint,
  realized: field(Decimal, "Proceeds minus average cost, in USD."),
  roiPct: field(Schema.NullOr(Decimal), "`realized` in percent of the cost of all purchases; null without a cost.")
}).annotate({ identifier: "ClosedPosition", description: "A position of which nothing is held any more." })
export type ClosedPosition = typeof ClosedPosition.Type

export const Drawdown = Schema.Struct({
  usd: field(
    Decimal,
    "The largest fall of the sum of realized profits below an earlier height, in USD; 0 without a fall."
  ),
  fromDay: field(Schema.NullOr(Schema.String), "The UTC day of the height; null when it was before the first day."),
  throughDay: field(Schema.NullOr(Schema.String), "The UTC day of the depth; null without a fall.")
}).annotate({
  identifier: "Drawdown",
  description: "The largest fall of the realized profit, by the ends of UTC days."
})
export type Drawdown = typeof Drawdown.Type

export class WalletResults extends Schema.Opaque<WalletResults>()(
  Schema.Struct({
    positions: count("Positions that the wallet traded."),
    closed: count("Positions of which certainly nothing is held any more."),
    known: count("Closed positions whose realized profit is known. The denominator of winRatePct."),
    won: count("Closed positions with a profit."),
    lost: count("Closed positions with a loss."),
    winRatePct: field(Schema.NullOr(Decimal), "`won` in percent of `known`; null when `known` is 0."),
    holdMs: field(
      Schema.Struct({
        shortest: milliseconds("The shortest; null without a closed position."),
        median: milliseconds("The median, the lower of two; null without a closed position."),
        longest: milliseconds("The longest; null without a closed position.")
      }),
      "Milliseconds from the first to the last event of the closed positions."
    ),
    best: field(
      Schema.NullOr(ClosedPosition),
      "The closed position with the largest realized profit; null when none is known."
    ),
    worst: field(
      Schema.NullOr(ClosedPosition),
      "The closed position with the smallest realized profit; null when none is known."
    ),
    streaks: field(
      Schema.Struct({
        longestWon: count("Most closed positions in a row with a profit."),
        longestLost: count("Most closed positions in a row with a loss."),
        current: count("Length of the row that goes on: above 0 of profits, below 0 of losses.")
      }),
      "Rows of closed positions by their last event. A position without profit or loss, or of unknown result, ends a row."
    ),
    drawdown: field(
      Schema.NullOr(Drawdown),
      "Over the days held, at most 365; null once the realized profit of a day is unknown."
    )
  }).annotate({ identifier: "WalletResults", description: "Results of the closed positions of a wallet." })
) {}

export class WalletPerformance extends Schema.Opaque<WalletPerformance>()(
  Schema.Struct({
    ...walletState,
    results: field(Schema.NullOr(WalletResults), "The results; null when no data of the wallet is held.")
  }).annotate({ identifier: "WalletPerformance", description: "Results of one wallet with their coverage." })
) {}
