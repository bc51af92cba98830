import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Coverage, Scalar } from "../Scalar.ts"
import { PriceMethod } from "./MarketViews.ts"
import { TokenRef } from "./Token.ts"
import { TokenTrade } from "./TokenTrade.ts"

const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })
const address = (description: string) => Schema.NullOr(Address).annotate({ description })

const fields = {
  token: TokenRef,
  launchpad: Schema.String.annotate({ description: "Key of the launchpad, as in the lighthouse." }),
  creator: address(
    "The wallet that the launchpad names as creator; null where the creation was not seen, or stored before creators were."
  ),
  curve: address("The bonding curve; null where the creation was not seen."),
  pool: address("The pool after the migration, before it the curve; null when not stated."),
  createdAtMs: time("Time of the block of the creation; null when it was not seen."),
  graduatedAtMs: time("Time of the block of the migration; null before it, and when it was not seen."),
  curveProgressPct: Scalar.annotate({ description: "The way to the end of the curve; 100 after the migration." }),
  priceUsd: Scalar,
  priceMethod: PriceMethod,
  marketCapUsd: Scalar,
  liquidityUsd: Scalar,
  volumeUsd: Scalar.annotate({ description: "Of the last 24 hours, as trades and traders are." }),
  trades: Scalar,
  traders: Scalar
}

/** One launch of a token on a launchpad. */
export class LaunchRow extends Schema.Opaque<LaunchRow>()(
  Schema.Struct(fields).annotate({ identifier: "LaunchRow", description: "One launch of a token on a launchpad." })
) {}

/** The first purchase of a wallet. */
export class FirstBuyer extends Schema.Opaque<FirstBuyer>()(
  Schema.Struct({
    wallet: Address,
    isCreator: Schema.NullOr(Schema.Boolean).annotate({ description: "Null while the creator is unknown." }),
    afterMs: Schema.Int.annotate({ description: "Block time of the purchase after that of the creation." }),
    trade: TokenTrade
  }).annotate({ identifier: "FirstBuyer", description: "The first purchase of a wallet since the creation." })
) {}

/** A launch with its first buyers. */
export class LaunchDetail extends Schema.Opaque<LaunchDetail>()(
  Schema.Struct({
    ...fields,
    firstBuyers: Schema.Struct({
      rows: Schema.NullOr(Schema.Array(FirstBuyer)).annotate({
        description: "The first ten wallets that bought, in the order of the chain; null when they are not known."
      }),
      coverage: Coverage
    })
  }).annotate({ identifier: "LaunchDetail", description: "A launch with its first buyers." })
) {}

/** No launch of the token was seen. */
export class LaunchUnknown extends Schema.TaggedError<LaunchUnknown>()("LaunchUnknown", { mint: Address }) {}
