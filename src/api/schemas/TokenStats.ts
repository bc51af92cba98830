import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Coverage, Decimal, Scalar, Status } from "../../domain/Scalar.ts"
import { TokenRef } from "./Token.ts"
import { TradeSide } from "./TokenTrade.ts"
import { ChangeSince, MarketWindow } from "./MarketViews.ts"
import { field } from "../../domain/field.ts"
import { priceUsd, slot, traders, trades } from "./fields.ts"

export class LargestTrade extends Schema.Opaque<LargestTrade>()(
  Schema.Struct({
    trade: field(
      Schema.NullOr(
        Schema.Struct({
          signature: field(Schema.String, "Signature of the transaction, as base58."),
          slot,
          index: field(Schema.Int, "Place of the trade in its slot."),
          timeMs: field(Schema.Int, "Block time, in milliseconds since the Unix epoch."),
          side: field(TradeSide, "`buy`: the token was received. `sell`: the token was given."),
          wallet: field(Address, "Owner of the tokens, never a router."),
          valueUsd: field(Decimal, "Value of the trade in USD, exact to a nano-dollar.")
        })
      ),
      "The newest among equal trades. Null when the window has no trade, and while the largest is unknown: the " +
        "coverage has the reason."
    ),
    status: Status,
    coverage: Coverage
  }).annotate({
    identifier: "LargestTrade",
    description:
      "The recorded trade of greatest value in one window, as observed in pools. It is `partial` for " +
      "`mark_unknown` when the value of other trades is unknown."
  })
) {}

export class TokenWindowStats extends Schema.Opaque<TokenWindowStats>()(
  Schema.Struct({
    window: field(MarketWindow, "The span of time that ends now."),
    fromMs: field(Schema.Int, "Beginning of the first interval of the window."),
    openUsd: field(Scalar, "Price of the last trade before the window; unknown without such a trade."),
    closeUsd: field(Scalar, "Price of the last trade."),
    changePct: field(Scalar, "Change of the price since `changeSince`, in percent."),
    changeSince: ChangeSince,
    volumeUsd: field(Scalar, "Volume of both sides, in USD."),
    buyVolumeUsd: field(Scalar, "Volume of purchases, in USD."),
    sellVolumeUsd: field(Scalar, "Volume of sales, in USD."),
    trades,
    buys: field(Scalar, "Number of purchases."),
    sells: field(Scalar, "Number of sales."),
    traders,
    largestTrade: LargestTrade
  }).annotate({ identifier: "TokenWindowStats", description: "Activity of one token in one window." })
) {}

/** The highest or lowest price of a token, and its bar. */
export class PriceExtreme extends Schema.Opaque<PriceExtreme>()(
  Schema.Struct({
    priceUsd,
    barMs: field(Schema.NullOr(Schema.Int), "Start of the newest bar with this price; null when unknown.")
  }).annotate({ identifier: "PriceExtreme", description: "A highest or lowest price, and its bar." })
) {}

export class TokenStats extends Schema.Opaque<TokenStats>()(
  Schema.Struct({
    token: TokenRef,
    windows: field(Schema.Array(TokenWindowStats), "5m, 1h, 6h and 24h."),
    range: field(
      Schema.Struct({
        fromMs: field(Schema.NullOr(Schema.Int), "Beginning of the searched bars; null when all bars were searched."),
        resolutionMs: field(Schema.Int, "Width of the searched bars."),
        high: PriceExtreme,
        low: PriceExtreme,
        status: Status,
        coverage: Coverage
      }),
      "Highest and lowest price."
    )
  }).annotate({ identifier: "TokenStats", description: "Activity of one token, and its highest and lowest price." })
) {}
