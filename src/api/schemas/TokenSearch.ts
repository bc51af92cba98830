import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Coverage, Scalar } from "../../domain/Scalar.ts"
import { PriceMethod } from "./MarketViews.ts"
import { TokenRef } from "./Token.ts"
import { field } from "../../domain/field.ts"
import { liquidityUsd, marketCapUsd, priceUsd, traders, trades } from "./fields.ts"

/** The kind of a match, best first. */
export const TokenMatch = Schema.Literals([
  "address",
  "symbol",
  "name",
  "confusable",
  "symbol_prefix",
  "address_prefix",
  "name_prefix",
  "part",
  "typo"
]).annotate({
  identifier: "TokenMatch",
  description:
    "The best way in which the text matches, in the order of the list. `confusable`: symbol or name are equal only when look-alike characters count as the same. `name_prefix`: each word of the text begins a word of symbol or name. `typo`: one character is missing, added, replaced or swapped with its neighbour, or the text shares half of the trigrams of a long name."
})
export type TokenMatch = typeof TokenMatch.Type

export class LookAlike extends Schema.Opaque<LookAlike>()(
  Schema.Struct({
    isLookAlike: field(
      Schema.NullOr(Schema.Boolean),
      "True: another mint with this symbol or name, or one that looks the same, has at least ten times the liquidity, or is SOL or a dollar. False: no such mint of known liquidity exists; the coverage is complete when all their liquidities are known. Null: the liquidity of this token is unknown."
    ),
    by: field(
      Schema.NullOr(Schema.Literals(["symbol", "name"])),
      "Which text of this token looks like the symbol or the name of the other one. Null unless this token is a look-alike."
    ),
    of: field(Schema.NullOr(TokenRef), "The largest of these mints; null unless this token is a look-alike."),
    isConfusable: field(
      Schema.NullOr(Schema.Boolean),
      "True: the texts are equal only when look-alike characters count as the same. Null unless this token is a look-alike."
    ),
    coverage: Coverage
  }).annotate({
    identifier: "LookAlike",
    description: "Whether another, much larger mint has the same symbol or name, or one that looks like it."
  })
) {}

const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })
const text = (description: string) => Schema.NullOr(Schema.String).annotate({ description })

export class FoundRow extends Schema.Opaque<FoundRow>()(
  Schema.Struct({
    token: TokenRef,
    match: TokenMatch,
    shownSymbol: text("The symbol, with hidden and direction characters as escapes such as `\\u{202e}`."),
    shownName: text("The name, with the same escapes."),
    lookAlike: LookAlike,
    launchpad: text("Key of the launchpad, as in the lighthouse; null when no launch was seen."),
    venues: field(
      Schema.NullOr(Schema.Array(Schema.String)),
      "Labels of the venues of its pools in memory; null while the pools are not loaded."
    ),
    createdAtMs: time("Block time of the creation on a launchpad; null when it was not seen."),
    mintAuthority: field(Schema.NullOr(Address), "As in the facts of the token."),
    freezeAuthority: field(Schema.NullOr(Address), "As in the facts of the token."),
    authoritiesKnown: field(Schema.Boolean, "True: a null authority was given up. False: neither authority is known."),
    priceUsd,
    priceMethod: PriceMethod,
    marketCapUsd,
    liquidityUsd,
    volumeUsd: field(Scalar, "Volume of the last 24 hours, like `trades` and `traders`."),
    trades,
    traders
  }).annotate({ identifier: "FoundRow", description: "One token that was found." })
) {}
