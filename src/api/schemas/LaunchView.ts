import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Coverage, Decimal, Scalar } from "../../domain/Scalar.ts"
import { PriceMethod } from "./MarketViews.ts"
import { TokenRef } from "./Token.ts"
import { TokenTrade } from "./TokenTrade.ts"
import { field } from "../../domain/field.ts"
import { liquidityUsd, marketCapUsd, priceUsd, traders, trades, wallet } from "./fields.ts"

const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })
const address = (description: string) => Schema.NullOr(Address).annotate({ description })

const fields = {
  token: TokenRef,
  launchpad: field(Schema.String, "Key of the launchpad, as in the lighthouse."),
  platform: field(
    Schema.NullOr(Schema.String),
    "Key of the platform that launched the token on a launchpad that several platforms share; null when it is none that is known."
  ),
  quoteMint: address(
    "The mint that the curve is paid in: SOL, or a token such as another coin of the launchpad. Only Pump.fun states it; null elsewhere and where the creation was not seen."
  ),
  holderRewards: field(
    Schema.NullOr(Schema.Boolean),
    "True when the creator's fee goes to the holders, false when it goes to the creator. Only Pump.fun states it; null elsewhere and where the creation was not seen."
  ),
  creator: address(
    "The wallet that the launchpad names as creator; null where the creation was not seen, or was stored before creators were recorded."
  ),
  curve: address("The bonding curve; null where the creation was not seen."),
  pool: address("The pool after the migration, the curve before it; null when not stated."),
  createdAtMs: time("Block time of the creation; null when it was not seen."),
  graduatedAtMs: time("Block time of the migration; null before it, and when it was not seen."),
  curveProgressPct: field(Scalar, "Progress towards the end of the curve; 100 after the migration."),
  priceUsd,
  priceMethod: PriceMethod,
  marketCapUsd,
  liquidityUsd,
  volumeUsd: field(Scalar, "Volume of the last 24 hours, like `trades` and `traders`."),
  trades,
  traders
}

export class LaunchRow extends Schema.Opaque<LaunchRow>()(
  Schema.Struct(fields).annotate({ identifier: "LaunchRow", description: "One launch of a token on a launchpad." })
) {}

export const LaunchSums = Schema.Struct({
  created: field(Schema.Int, "Tokens whose creation was seen."),
  graduated: field(Schema.Int, "How many of these left their curve for a pool."),
  graduatedPct: field(
    Schema.NullOr(Decimal),
    "`graduated` in percent of `created`; null without a creation that was seen."
  ),
  migratedOnly: field(
    Schema.Int,
    "Tokens whose migration was seen and whose creation was not. They are in no other count."
  ),
  newestAtMs: time("Block time of the newest creation; null without one.")
}).annotate({ identifier: "LaunchSums", description: "The launches of a wallet in numbers." })

export class FirstBuyer extends Schema.Opaque<FirstBuyer>()(
  Schema.Struct({
    wallet,
    isCreator: field(Schema.NullOr(Schema.Boolean), "True for the creator itself; null while the creator is unknown."),
    afterMs: field(Schema.Int, "Time from the block of the creation to the block of the purchase."),
    trade: TokenTrade
  }).annotate({ identifier: "FirstBuyer", description: "The first purchase of a wallet since the creation." })
) {}

export class LaunchDetail extends Schema.Opaque<LaunchDetail>()(
  Schema.Struct({
    ...fields,
    firstBuyers: field(
      Schema.Struct({
        rows: field(
          Schema.NullOr(Schema.Array(FirstBuyer)),
          "The first ten wallets that bought, in chain order; null when unknown."
        ),
        coverage: Coverage
      }),
      "The first wallets that bought, in the order of their purchases."
    )
  }).annotate({ identifier: "LaunchDetail", description: "A launch and its first buyers." })
) {}

/** No launch of the token was seen. */
export class LaunchUnknown extends Schema.TaggedError<LaunchUnknown>()("LaunchUnknown", { mint: Address }) {}
