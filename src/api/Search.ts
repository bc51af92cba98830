import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { CursorExpired, DataUnavailable, InvalidCursor } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { LimitParameter, NextCursor } from "./pages.ts"
import { BooleanParameter, CommaList, DecimalParameter, IntegerParameter, optional, refuse } from "./parameters.ts"
import { marketKnowledge } from "./schemas/MarketViews.ts"
import { FoundRow } from "./schemas/TokenSearch.ts"
import { field } from "../domain/field.ts"
import { metaOf, tradersBasis } from "./schemas/fields.ts"
import { VenueLabel } from "./schemas/lists.ts"

/** Default number of rows of a page. */
export const defaultFound = 20

/** The most characters of a search text. */
const MOST_CHARACTERS = 64
/** A hundred years, in seconds. */
const LONGEST = 3_155_760_000

/** A visible character. */
const SEEN = /[^\s\p{C}\p{Default_Ignorable_Code_Point}]/u

const texts = `1 to ${MOST_CHARACTERS} characters, one of them visible`

interface Ages {
  readonly minAgeSeconds?: number
  readonly maxAgeSeconds?: number
}

export const SearchQuery = Schema.Struct({
  q: field(
    Schema.String.check(
      Schema.isMinLength(1, { expected: texts }),
      Schema.isMaxLength(MOST_CHARACTERS, { expected: texts }),
      Schema.makeFilter((text: string) => SEEN.test(text) || `q must be ${texts}.`, { toJsonSchema: () => ({}) })
    ),
    `Symbol, name or address, or the beginning of one: ${texts}. Addresses are matched from 3 characters on and are case-sensitive.`
  ),
  minLiquidityUsd: optional(DecimalParameter, "Least dollars that the pools can pay out."),
  minVolumeUsd: optional(DecimalParameter, "Least dollars traded in the last 24 hours."),
  minAgeSeconds: optional(IntegerParameter(0, LONGEST), "Least seconds since the creation on a launchpad."),
  maxAgeSeconds: optional(IntegerParameter(0, LONGEST), "Most seconds since the creation on a launchpad."),
  venue: optional(CommaList(VenueLabel, 20), "Only tokens with a pool of these venues: 1 to 20 labels."),
  launchpad: optional(CommaList(VenueLabel, 20), "Only of these launchpads: keys of the lighthouse."),
  authoritiesRevoked: optional(
    BooleanParameter,
    "`true`: only tokens whose mint and freeze authorities were given up. `false`: only tokens with at least one of them."
  ),
  limit: Schema.optionalKey(LimitParameter(100, defaultFound)),
  cursor: optional(
    Schema.String,
    "The nextCursor of the previous page, with the same selectors. Every page shows the tokens as they were for the first page. The cursor expires after 60 seconds."
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

export class SearchAnswer extends Schema.Opaque<SearchAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(FoundRow), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...metaOf("public-search-v1"),
        tradersBasis: tradersBasis("net_trades"),
        ...marketKnowledge,
        index: field(
          Schema.Struct({
            mints: field(Schema.Int, "Number of mints that were searched."),
            named: field(
              Schema.Int,
              "Number of searched mints whose metadata was read. The others are found by address only."
            )
          }),
          "The mints that were searched."
        ),
        excluded: field(
          Schema.Struct({
            unknownFilter: field(Schema.Int, "Tokens for which a filtered value is unknown.")
          }),
          "Tokens that match the text and were left out."
        )
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "SearchAnswer",
    description:
      "Tokens that match the text, best match first. Among equal matches, more liquidity comes first, then more volume. The coverage is `limit_clipped` when more tokens match than can be compared, and `not_captured` while names of mints are unknown."
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
        "Searches the mints that were traded, launched or requested. Case, accents, hidden characters and typing errors are tolerated. Names are unverified, and copies of a much larger token are marked."
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Tokens by symbol, name and address, answered from memory.") {}
