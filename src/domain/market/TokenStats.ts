import { Schema } from "effect"
import { Coverage, Scalar, Status } from "../Scalar.ts"
import { TokenRef } from "./Token.ts"
import { MarketWindow } from "./MarketViews.ts"

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
    traders: Scalar
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
