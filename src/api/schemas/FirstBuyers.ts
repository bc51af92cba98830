import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Atomic } from "../../domain/Amount.ts"
import { field } from "../../domain/field.ts"
import { Coverage, Scalar } from "../../domain/Scalar.ts"
import { FirstBuyer } from "./LaunchView.ts"
import { TokenRef } from "./Token.ts"

/** How wallets bought together. */
export const Bundle = Schema.Literals(["transaction", "creation_slot", "none"]).annotate({
  identifier: "Bundle",
  description:
    "`transaction`: one transaction holds the first purchases of this wallet and of another. `creation_slot`: at least two wallets " +
    "bought in the slot of the first purchase, at the time of the creation, as in the signal `bundled_buyers`. `none`: neither."
})

const count = (description: string) => field(Schema.NullOr(Schema.Int), description)

export class FirstBuyerRow extends Schema.Opaque<FirstBuyerRow>()(
  Schema.Struct({
    ...FirstBuyer.fields,
    rank: field(Schema.Int, "Place among the buyers, from 1."),
    boughtPct: field(Scalar, "Units of the first purchase, in percent of the supply now."),
    heldAmount: field(Schema.NullOr(Atomic), "Units that the wallet holds now; null while holders are not known."),
    heldPct: field(Scalar, "What the wallet holds now, in percent of the supply."),
    isHolding: field(
      Schema.NullOr(Schema.Boolean),
      "False when the wallet holds none of the token any more; null while that is not known."
    ),
    bundle: Bundle
  }).annotate({
    identifier: "FirstBuyerRow",
    description: "The first purchase of a wallet, and what the wallet still holds."
  })
) {}

export class FirstBuyersSummary extends Schema.Opaque<FirstBuyersSummary>()(
  Schema.Struct({
    buyers: field(Schema.Int, "Number of wallets that are counted here."),
    hasMore: field(Schema.Boolean, "True when more wallets may have bought than are counted."),
    holding: count("How many of them hold the token; null while holders are not known."),
    boughtPct: field(Scalar, "What they bought first, in percent of the supply now."),
    heldPct: field(Scalar, "What they hold now, in percent of the supply."),
    bundled: field(Schema.Int, "How many of them are in a bundle, without the creator."),
    bundledHeldPct: field(Scalar, "What the wallets of `bundled` hold now, in percent of the supply.")
  }).annotate({ identifier: "FirstBuyersSummary", description: "The first buyers of a token in numbers." })
) {}

export class FirstBuyersOfToken extends Schema.Opaque<FirstBuyersOfToken>()(
  Schema.Struct({
    token: TokenRef,
    creator: field(Schema.NullOr(Address), "The wallet that the launchpad names as creator; null when unknown."),
    createdAtMs: field(Schema.NullOr(Schema.Int), "Block time of the creation; null when it was not seen."),
    summary: field(Schema.NullOr(FirstBuyersSummary), "The rows in numbers; null when the buyers are unknown."),
    rows: field(
      Schema.NullOr(Schema.Array(FirstBuyerRow)),
      "The first wallets that bought, in chain order; null when unknown, because the creation was not seen or its trades are no longer kept."
    )
  }).annotate({ identifier: "FirstBuyersOfToken", description: "The first wallets that bought a token." })
) {}

export class FirstBuyersInShort extends Schema.Opaque<FirstBuyersInShort>()(
  Schema.Struct({
    address: field(Address, "Mint of the token."),
    summary: field(Schema.NullOr(FirstBuyersSummary), "The first buyers in numbers; null when they are unknown."),
    coverage: Coverage
  }).annotate({ identifier: "FirstBuyersInShort", description: "The first buyers of one of several tokens." })
) {}
