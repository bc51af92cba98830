import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { marketKnowledge } from "../../domain/market/MarketViews.ts"
import { FoundRow } from "../../domain/market/TokenSearch.ts"
import { LimitParameter, NextCursor } from "../cursor.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { BooleanParameter, CommaList, DecimalParameter, described, IntegerParameter, refuse } from "../parameters.ts"
import { CursorExpired, DataUnavailable, InvalidCursor } from "../problems.ts"
import { VenueLabel } from "../Spot.ts"

/** Rows of a page unless given. */
export const defaultFound = 20

/** Characters of a text. */
const MOST_CHARACTERS = 64
/** A hundred years, in seconds. */
const LONGEST = 3_155_760_000

/** A character that is seen. */
const SEEN = /[^\s\p{C}\p{Default_Ignorable_Code_Point}]/u

const noted = <S extends Schema.Top>(parameter: S, description: string) =>
  Schema.optionalKey(described(parameter, description))

const texts = `1 to ${MOST_CHARACTERS} characters, one of them visible`

interface Ages {
  readonly minAgeSeconds?: number
  readonly maxAgeSeconds?: number
}

/** Query of a search. */
export const SearchQuery = Schema.Struct({
  q: described(
    Schema.String.check(
      Schema.isMinLength(1, { expected: texts }),
      Schema.isMaxLength(MOST_CHARACTERS, { expected: texts }),
      Schema.makeFilter((text: string) => SEEN.test(text) || `q must be ${texts}.`, { toJsonSchema: () => ({}) })
    ),
    `Symbol, name or address, or the beginning of one: ${texts}. An address is matched from 3 characters on, by case.`
  ),
  minLiquidityUsd: noted(DecimalParameter, "Dollars that the pools can pay out."),
  minVolumeUsd: noted(DecimalParameter, "Dollars traded in the last 24 hours."),
  minAgeSeconds: noted(IntegerParameter(0, LONGEST), "Seconds since the creation on a launchpad, at least."),
  maxAgeSeconds: noted(IntegerParameter(0, LONGEST), "Seconds since the creation on a launchpad, at most."),
  venue: noted(CommaList(VenueLabel, 20), "Only tokens with a pool of these venues: 1 to 20 labels."),
  launchpad: noted(CommaList(VenueLabel, 20), "Only of these launchpads: keys of the lighthouse."),
  authoritiesRevoked: noted(
    BooleanParameter,
    "`true`: only tokens whose mint and freeze authority are given up. `false`: only tokens with one of them."
  ),
  limit: Schema.optionalKey(LimitParameter(100, defaultFound)),
  cursor: noted(
    Schema.String,
    "The nextCursor of the page before, with the same selectors. A page shows the tokens as they were for the first one; it expires after 60 seconds."
  )
}).check(
  Schema.makeFilter(
    ({ maxAgeSeconds, minAgeSeconds }: Ages) =>
      minAgeSeconds === undefined ||
      maxAgeSeconds === undefined ||
      minAgeSeconds <= maxAgeSeconds ||
      refuse("maxAgeSeconds", "conflict", "maxAgeSeconds must not be less than minAgeSeconds.")
  )
)

/** Tokens that a text matches. */
export class SearchAnswer extends Schema.Opaque<SearchAnswer>()(
  Schema.Struct({
    data: Schema.Array(FoundRow),
    nextCursor: NextCursor,
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-search-v1"),
      chain: Schema.Literal("solana"),
      ...marketKnowledge,
      index: Schema.Struct({
        mints: Schema.Int.annotate({ description: "Mints that were searched." }),
        named: Schema.Int.annotate({ description: "Those whose metadata was read; others are found by address alone." })
      }).annotate({ description: "The mints that were searched." }),
      excluded: Schema.Struct({
        unknownFilter: Schema.Int.annotate({ description: "Tokens of which a filtered value is not known." })
      }).annotate({ description: "Tokens that match the text and were left out." })
    })
  }).annotate({
    identifier: "SearchAnswer",
    description:
      "Tokens that a text matches, the best match first, of equal matches those with more liquidity, then with more volume. The coverage is `limit_clipped` when more matched than are compared, and `not_captured` while names of mints are unknown."
  })
) {}

/** Tokens by symbol, name and address. */
export class SearchGroup extends HttpApiGroup.make("search")
  .add(
    HttpApiEndpoint.get("tokens", "/api/v1/search", {
      query: SearchQuery,
      success: SearchAnswer,
      error: [InvalidCursor, CursorExpired, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Tokens by symbol, name or address")
      .annotate(
        OpenApi.Description,
        "Over the mints that were traded, launched or asked for. Case, accents, hidden characters and typing errors are forgiven; names are unverified, and copies of a much larger token are marked."
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Tokens by symbol, name and address, answered from memory.") {}
