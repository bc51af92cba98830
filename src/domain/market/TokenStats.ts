import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Coverage, Decimal, Scalar, Status } from "../Scalar.ts"
import { TokenRef } from "./Token.ts"
import { TradeSide } from "./TokenTrade.ts"
import { MarketWindow } from "./MarketViews.ts"

/** The largest trade of a token in one window. */
export class LargestTrade extends Schema.Opaque<LargestTrade>()(
  Schema.Struct({
    trade: Schema.NullOr(
      Schema.Struct({
        signature: Schema.String.annotate({ description: "Transaction, base58." }),
        slot: Schema.Int,
        index: Schema.Int.annotate({ description: "Place in the slot." }),
        timeMs: Schema.Int.annotate({ description: "Block time." }),
        side: TradeSide,
        wallet: Address.annotate({ description: "Owner of the tokens, never a router." }),
        valueUsd: Decimal.annotate({ description: "Value of the trade in USD, exact to a nano-dollar." })
      })
    ).annotate({
      description:
        "The newest of equal ones. Null when the window has no trade, and while it is not known which is the largest: the " +
        "coverage has the reason."
    }),
    status: Status,
    coverage: Coverage
  }).annotate({
    identifier: "LargestTrade",
    description:
      "The trade of most value in one window, of all that were recorded, as observed in pools. It is `partial` for " +
      "`mark_unknown` when the value of other trades is unknown."
  })
) {}

/** One token in one window. */
export class TokenWindowStats extends Schema.Opaque<TokenWindowStats>()(
  Schema.Struct({
    window: MarketWindow,
    fromMs: Schema.Int.annotate({ description: "Beginning of the first bucket of the window." }),
    openUsd: Scalar.annotate({ description: "Price of the last trade before the window; unknown without one." }),
    closeUsd: Scalar.annotate({ description: "Price of the last trade." }),
    changePct: Scalar,
    volumeUsd: Scalar,
    buyVolumeUsd: Scalar,
    sellVolumeUsd: Scalar,
    trades: Scalar,
    buys: Scalar,
    sells: Scalar,
    traders: Scalar,
    largestTrade: LargestTrade
  }).annotate({ identifier: "TokenWindowStats", description: "What happened to one token in one window." })
) {}

/** A price at the end of the range of a token, and the bar that it lies in. */
export class PriceExtreme extends Schema.Opaque<PriceExtreme>()(
  Schema.Struct({
    priceUsd: Scalar,
    barMs: Schema.NullOr(Schema.Int).annotate({ description: "Start of the newest bar with it; null when unknown." })
  }).annotate({ identifier: "PriceExtreme", description: "A highest or lowest price, and the bar that it lies in." })
) {}

/** Activity of one token, and its highest and lowest price. */
export class TokenStats extends Schema.Opaque<TokenStats>()(
  Schema.Struct({
    token: TokenRef,
    windows: Schema.Array(TokenWindowStats).annotate({ description: "5m, 1h, 6h and 24h." }),
    range: Schema.Struct({
      fromMs: Schema.NullOr(Schema.Int).annotate({
        description: "Beginning of the bars searched; null for all of them."
      }),
      resolutionMs: Schema.Int.annotate({ description: "Width of the bars." }),
      high: PriceExtreme,
      low: PriceExtreme,
      status: Status,
      coverage: Coverage
    })
  }).annotate({ identifier: "TokenStats", description: "Activity of one token, and its highest and lowest price." })
) {}
