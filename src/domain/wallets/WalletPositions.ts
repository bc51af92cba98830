/** Positions of one wallet, and its profit by day. Null when unknown. */
import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Atomic } from "../Amount.ts"
import { Decimal } from "../Scalar.ts"
import { KnownPositionPnl, PositionQuantities } from "./KnownPnl.ts"
import { WalletBackfill } from "./WalletBackfill.ts"
import { WalletSummary } from "./WalletSummary.ts"

const usd = (description: string) => Schema.NullOr(Decimal).annotate({ description })
const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })

const state = {
  wallet: Address,
  status: Schema.Literals(["partial", "unavailable"]).annotate({
    description: "unavailable where no data of the wallet is held or it could not be read in time."
  }),
  summary: Schema.NullOr(WalletSummary).annotate({ description: "Sums of the wallet with their coverage." }),
  backfill: Schema.NullOr(WalletBackfill).annotate({
    description: "How far the wallet's transactions were read from the chain; null where that was never asked for."
  })
}

/** One position. */
export class WalletPosition extends Schema.Opaque<WalletPosition>()(
  Schema.Struct({
    mint: Address,
    decimals: Schema.NullOr(Schema.Int),
    realized: usd("Proceeds less average cost of what was sold; null once any part of it is unknown."),
    unrealized: usd("Value less cost of what is held."),
    total: usd("Both together."),
    roiPct: usd("The total in percent of costUsd."),
    costUsd: usd("Cost of all buys, front-end fees included, whether sold since or not."),
    proceedsUsd: usd("Proceeds of all sells, less front-end fees."),
    avgCostUsd: usd("Average cost of a whole token held; null while that of any unit held is unknown."),
    valueUsd: usd("Value of what is held at the mark."),
    holding: Schema.NullOr(Atomic).annotate({
      description:
        "Balance over all token accounts of the wallet after the last trade seen; null until they were read, or when unknown."
    }),
    quantities: PositionQuantities,
    known: KnownPositionPnl,
    markUsd: usd("Price of a whole token."),
    buys: Schema.Int,
    sells: Schema.Int,
    open: Schema.Boolean.annotate({ description: "False only when nothing is known to be held." }),
    firstAtMs: time("Time of the first trade seen."),
    lastAtMs: time("Time of the last trade seen.")
  }).annotate({ identifier: "WalletPosition", description: "Profit of a wallet in one mint." })
) {}

/** Positions of one wallet. */
export class WalletPositions extends Schema.Opaque<WalletPositions>()(
  Schema.Struct({
    ...state,
    positions: Schema.Array(WalletPosition).annotate({ description: "The most recently traded first." }),
    truncated: Schema.Boolean.annotate({ description: "Whether positions beyond the limit were left out." })
  }).annotate({ identifier: "WalletPositions", description: "Positions of one wallet." })
) {}

/** Profit of one UTC day. */
export class WalletDay extends Schema.Opaque<WalletDay>()(
  Schema.Struct({
    day: Schema.String.annotate({ description: "The UTC day, as 2026-11-22." }),
    fromMs: Schema.Int,
    throughMs: Schema.Int.annotate({ description: "The last millisecond of the day, or now." }),
    realized: usd("Proceeds less average cost of the sells of the day; null when any part of it is unknown."),
    knownRealized: Decimal.annotate({ description: "The same over the units of which cost and price are known." }),
    costUsd: usd("Cost of the buys of the day, front-end fees included."),
    proceedsUsd: usd("Proceeds of the sells of the day, less front-end fees."),
    trades: Schema.Int,
    valueUsd: usd(
      "Value of all units held at the end of the day: at the last daily candle of each mint up to then, today at its mark."
    )
  }).annotate({ identifier: "WalletDay", description: "Profit of a wallet on one UTC day." })
) {}

/** Profit of a wallet by day. */
export class WalletPnlHistory extends Schema.Opaque<WalletPnlHistory>()(
  Schema.Struct({
    ...state,
    days: Schema.Array(WalletDay).annotate({
      description: "The oldest first, from the first trade seen on, without gaps through today."
    })
  }).annotate({ identifier: "WalletPnlHistory", description: "Profit of a wallet by day." })
) {}
