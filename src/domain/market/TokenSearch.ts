import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Coverage, Scalar } from "../Scalar.ts"
import { PriceMethod } from "./MarketViews.ts"
import { TokenRef } from "./Token.ts"

/** The kind of a match, the best first. */
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
    "The best way in which the text matches, in the order of the list. `confusable`: symbol or name are equal only where characters that look alike count as one. `name_prefix`: each word begins a word of symbol or name. `typo`: one character is missing, added, replaced or exchanged with its neighbour, or half of the trigrams of a long text are shared."
})
export type TokenMatch = typeof TokenMatch.Type

/** Comparison of a token with those that have the same symbol. */
export class LookAlike extends Schema.Opaque<LookAlike>()(
  Schema.Struct({
    isLookAlike: Schema.NullOr(Schema.Boolean).annotate({
      description:
        "True: another mint with this symbol, or one that looks the same, has at least ten times the liquidity, or is SOL or a dollar. False: none with known liquidity has; the coverage is complete when that of all is known. Null: the liquidity of this token is unknown."
    }),
    of: Schema.NullOr(TokenRef).annotate({
      description: "The largest of these mints; null unless it is a look-alike."
    }),
    isConfusable: Schema.NullOr(Schema.Boolean).annotate({
      description:
        "True: the symbols are equal only where characters that look alike count as one. Null unless it is a look-alike."
    }),
    coverage: Coverage
  }).annotate({
    identifier: "LookAlike",
    description: "Whether another, much larger mint has the same symbol or one that looks like it."
  })
) {}

const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })
const text = (description: string) => Schema.NullOr(Schema.String).annotate({ description })

/** One token that was found. */
export class FoundRow extends Schema.Opaque<FoundRow>()(
  Schema.Struct({
    token: TokenRef,
    match: TokenMatch,
    shownSymbol: text("The symbol with hidden characters and those of direction as escapes such as `\\u{202e}`."),
    shownName: text("The name, likewise."),
    lookAlike: LookAlike,
    launchpad: text("Key of the launchpad, as in the lighthouse; null when no launch was seen."),
    venues: Schema.NullOr(Schema.Array(Schema.String)).annotate({
      description: "Labels of the venues of its pools in memory; null while they are not loaded."
    }),
    createdAtMs: time("Time of the block of the creation on a launchpad; null when it was not seen."),
    mintAuthority: Schema.NullOr(Address).annotate({ description: "As in the facts of the token." }),
    freezeAuthority: Schema.NullOr(Address).annotate({ description: "As in the facts of the token." }),
    authoritiesKnown: Schema.Boolean.annotate({
      description: "True: a null authority was given up. False: nothing is known of either."
    }),
    priceUsd: Scalar,
    priceMethod: PriceMethod,
    marketCapUsd: Scalar,
    liquidityUsd: Scalar,
    volumeUsd: Scalar.annotate({ description: "Of the last 24 hours, as trades and traders are." }),
    trades: Scalar,
    traders: Scalar
  }).annotate({ identifier: "FoundRow", description: "One token that was found." })
) {}
