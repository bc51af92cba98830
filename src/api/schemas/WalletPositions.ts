/** Positions of one wallet, and its profit by day. Unknown values are null. */
import { Schema } from "effect"
import { Atomic } from "../../domain/Amount.ts"
import { Decimal } from "../../domain/Scalar.ts"
import { KnownPositionPnl, PositionQuantities } from "./KnownPnl.ts"
import { WalletBackfill } from "./WalletBackfill.ts"
import { WalletSummary } from "./WalletSummary.ts"
import { field } from "../../domain/field.ts"
import { decimals, markMethod, mint, wallet } from "./fields.ts"

const usd = (description: string) => Schema.NullOr(Decimal).annotate({ description })
const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })

/** What positions are ordered by. */
export const PositionSort = Schema.Literals([
  "lastTrade",
  "firstTrade",
  "value",
  "realized",
  "unrealized",
  "total",
  "cost",
  "roi"
]).annotate({
  identifier: "PositionSort",
  description:
    "`lastTrade`, `firstTrade`: `lastAtMs`, `firstAtMs`. `value`, `cost`: `valueUsd`, `costUsd`. `roi`: `roiPct`. The others are figures of the same name. Unknown figures come last."
})
export type PositionSort = typeof PositionSort.Type

/** What every answer about one wallet begins with. */
export const walletState = {
  wallet,
  status: field(
    Schema.Literals(["partial", "unavailable"]),
    "`unavailable` when no data of the wallet is held. A wallet that cannot be read in time is a 503."
  ),
  reason: field(
    Schema.NullOr(Schema.Literal("not_captured")),
    "`not_captured` when the record has no trade of the wallet, so that nothing is known of it; null with a summary."
  ),
  summary: field(Schema.NullOr(WalletSummary), "Sums of the wallet with their coverage."),
  backfill: field(
    Schema.NullOr(WalletBackfill),
    "How far the wallet's transactions were read from the chain; null when that was never requested."
  )
}

export class WalletPosition extends Schema.Opaque<WalletPosition>()(
  Schema.Struct({
    mint,
    decimals,
    realized: usd("Proceeds minus average cost of what was sold; null once any part is unknown."),
    unrealized: usd("Value minus cost of the holdings."),
    total: usd("Realized and unrealized profit."),
    roiPct: usd("The total in percent of costUsd."),
    costUsd: usd("Cost of all purchases, front-end fees included, whether sold since or not."),
    proceedsUsd: usd("Proceeds of all sales, minus front-end fees."),
    avgCostUsd: usd("Average cost of one whole token held; null while the cost of any held unit is unknown."),
    valueUsd: usd("Value of the holdings at the current price."),
    holding: field(
      Schema.NullOr(Atomic),
      "Balance over all token accounts of the wallet after the last observed trade; null until the accounts have been read, or when unknown."
    ),
    quantities: PositionQuantities,
    known: KnownPositionPnl,
    markUsd: usd("Price of one whole token that the holdings are valued at."),
    markMethod,
    markAtMs: time("Time of that price, in milliseconds since the Unix epoch; null without a price."),
    lastTrade: field(
      Schema.NullOr(
        Schema.Struct({
          priceUsd: field(Decimal, "Price of one whole token."),
          atMs: time("Time of the trade: to the second for seven days, later the beginning of its candle.")
        })
      ),
      "The last trade of the mint in any pool, whichever price values the holdings; null when none is in memory."
    ),
    buys: field(Schema.Int, "Number of purchases."),
    sells: field(Schema.Int, "Number of sales."),
    open: field(Schema.Boolean, "False only when it is certain that nothing is held."),
    firstAtMs: time("Time of the first observed trade."),
    lastAtMs: time("Time of the last observed trade.")
  }).annotate({ identifier: "WalletPosition", description: "Profit of a wallet in one mint." })
) {}

export class WalletPositions extends Schema.Opaque<WalletPositions>()(
  Schema.Struct({
    ...walletState,
    positions: field(
      Schema.Array(WalletPosition),
      "In the order of the request; most recently traded first by default."
    ),
    truncated: field(Schema.Boolean, "True when positions beyond the limit were left out; `nextCursor` leads to them."),
    matching: field(Schema.Int, "Positions that pass the filters, on all pages together."),
    unknownValue: field(
      Schema.Int,
      "Positions that are on no page because `minValueUsd` was sent and their value is unknown."
    )
  }).annotate({ identifier: "WalletPositions", description: "Positions of one wallet." })
) {}

export class WalletDay extends Schema.Opaque<WalletDay>()(
  Schema.Struct({
    day: field(Schema.String, "The UTC day, as 2026-11-22."),
    fromMs: field(Schema.Int, "Beginning of the UTC day, in milliseconds since the Unix epoch."),
    throughMs: field(Schema.Int, "The last millisecond of the day, or now."),
    realized: usd("Proceeds minus average cost of the day's sales; null when any part is unknown."),
    knownRealized: usd(
      "Like `realized`, but only over the units of known cost and price; null until the token accounts have been read."
    ),
    costUsd: usd("Cost of the day's purchases, front-end fees included."),
    proceedsUsd: usd("Proceeds of the day's sales, minus front-end fees."),
    trades: field(Schema.Int, "Number of swaps."),
    valueUsd: usd(
      "Value of all units held at the end of the day, at each mint's last trade up to then; today at `markUsd` of the positions. Null when any part is unknown."
    ),
    knownValueUsd: usd("Like `valueUsd`, but only over the units whose value is known; null when no value is known."),
    unvalued: field(Schema.Int, "Mints with units of unknown number or value at the end of the day.")
  }).annotate({ identifier: "WalletDay", description: "Profit of a wallet on one UTC day." })
) {}

export class WalletPnlHistory extends Schema.Opaque<WalletPnlHistory>()(
  Schema.Struct({
    ...walletState,
    days: field(Schema.Array(WalletDay), "Oldest first, from the first observed trade through today, without gaps.")
  }).annotate({ identifier: "WalletPnlHistory", description: "Profit of a wallet by day." })
) {}
