import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { field } from "../domain/field.ts"
import { CursorExpired, DataUnavailable, InvalidCursor } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { Cost } from "./middleware/Metering.ts"
import { NextCursor } from "./pages.ts"
import { NoQuery, refuse, UniqueList } from "./parameters.ts"
import { metaOf, tradersBasis } from "./schemas/fields.ts"
import { marketKnowledge } from "./schemas/MarketViews.ts"
import { ScreenRange, ScreenRow, ScreenStatistic } from "./schemas/TokenScreen.ts"
import { VenueLabel } from "./Spot.ts"

/** Default number of rows of a page, and the default order. */
export const screenDefaults = { rows: 20, sort: { statistic: "volumeUsd.24h", direction: "desc" } } as const

/** Most ranges, most statistics that `show` may add, and most rows of a page. */
export const MOST_RANGES = 16
export const MOST_SHOWN = 16
export const MOST_SCREENED_ROWS = 100

const Order = Schema.Struct({
  statistic: field(ScreenStatistic, "The statistic that decides the order."),
  direction: field(Schema.Literals(["asc", "desc"]), "`desc`: the greatest value first.")
})

/** Texts of a list filter. */
const labels = (description: string) => field(Schema.optionalKey(UniqueList(VenueLabel, 20, "labels")), description)

const authority = (noun: string) =>
  field(
    Schema.optionalKey(Schema.Literals(["revoked", "active"])),
    `Whether the ${noun} authority was given up. Unknown never passes.`
  )

const isBounded = ({ max, min }: typeof ScreenRange.Type) => min !== undefined || max !== undefined

/** Body of a request of tokens by their statistics. */
export const ScreenBody = Schema.Struct({
  ranges: field(
    Schema.optionalKey(Schema.Array(ScreenRange).check(Schema.isMaxLength(MOST_RANGES))),
    `Ranges that a token has to be in, at most ${MOST_RANGES}, each of another statistic.`
  ),
  mints: field(Schema.optionalKey(UniqueList(Address, 100, "mints")), "Only these tokens."),
  launchpads: labels("Only of these launchpads: keys of the lighthouse."),
  platforms: labels("Only of these platforms: keys of `platform`, such as `bags` or `letsbonk`."),
  venues: labels("Only tokens with a pool of these venues."),
  creator: field(Schema.optionalKey(Address), "Only tokens that this wallet launched."),
  graduated: field(
    Schema.optionalKey(Schema.Boolean),
    "`true`: only tokens whose migration was seen. `false`: only tokens of a launchpad that have not migrated."
  ),
  mintAuthority: authority("mint"),
  freezeAuthority: authority("freeze"),
  sort: field(
    Schema.optionalKey(Order),
    "The order of the rows; `volumeUsd.24h` with the greatest first by default. Unknown values come last."
  ),
  show: field(
    Schema.optionalKey(UniqueList(ScreenStatistic, MOST_SHOWN, "statistics")),
    "Statistics that rows show beside those of the ranges and the order."
  ),
  limit: field(
    Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MOST_SCREENED_ROWS }))),
    "Most rows of a page, 1 to 100; 20 by default."
  ),
  cursor: field(
    Schema.optionalKey(Schema.String),
    "The nextCursor of the previous page, with the same body otherwise. Every page shows the market as it was for the first page. The cursor expires after 60 seconds."
  )
})
  .annotate({ identifier: "ScreenRequest", description: "Which tokens are requested, in which order." })
  .check(
    Schema.makeFilter(({ ranges = [] }: { readonly ranges?: ReadonlyArray<typeof ScreenRange.Type> }) =>
      new Set(ranges.map(({ statistic }) => statistic)).size < ranges.length
        ? refuse("ranges", "conflict", "Each range must have another statistic.")
        : ranges.every(isBounded) || refuse("ranges", "missing", "Each range must have min or max.")
    )
  )

export class ScreenAnswer extends Schema.Opaque<ScreenAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(ScreenRow), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...metaOf("public-screen-v1"),
        tradersBasis: tradersBasis("net_trades"),
        ...marketKnowledge,
        sort: field(Order, "The order of the rows."),
        tokens: field(Schema.Int, "Tokens that traded or were launched in the last 24 hours. Only these are screened."),
        examined: field(
          Schema.Int,
          "Tokens whose statistics were computed. The others were out of a range by what memory counts, or past the limit."
        ),
        excluded: field(
          Schema.Struct({
            unknownFilter: field(Schema.Int, "Tokens for which a filtered value is unknown.")
          }),
          "Tokens that are on no page because a value is unknown."
        )
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "ScreenAnswer",
    description:
      "Tokens in all ranges. The coverage is for 24 hours, and `limit_clipped` when more tokens may be in all ranges than are examined (1,000) or listed (200)."
  })
) {}

/** Tokens by ranges of their statistics. */
export class ScreenGroup extends HttpApiGroup.make("screen")
  .add(
    HttpApiEndpoint.post("tokens", "/api/v1/tokens/screen", {
      query: NoQuery,
      payload: ScreenBody,
      success: ScreenAnswer,
      error: [InvalidCursor, CursorExpired, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(Cost, 3)
      .annotate(OpenApi.Summary, "Tokens by ranges of fifty statistics")
      .annotate(
        OpenApi.Description,
        "Every range and list must hold. A token whose value is unknown is left out and counted, unless its range says `include`. Ranges are compared exactly. Holders, pools and names of tokens that are not in memory are queued, so that the same request knows more a little later."
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Tokens by ranges of their statistics, answered from memory.") {}
