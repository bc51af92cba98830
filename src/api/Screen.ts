import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { field } from "../domain/field.ts"
import { CursorExpired, DataUnavailable, InvalidCursor } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { Cost } from "./middleware/Metering.ts"
import { NextCursor } from "./pages.ts"
import { NoQuery } from "./parameters.ts"
import { metaOf, tradersBasis } from "./schemas/fields.ts"
import { marketKnowledge } from "./schemas/MarketViews.ts"
import { rangesOfDifferent, screened, screenFields, ScreenOrder, ScreenRow } from "./schemas/TokenScreen.ts"

/** Body of a request of tokens by their statistics. */
export const ScreenBody = Schema.Struct({
  ...screenFields,
  cursor: field(
    Schema.optionalKey(Schema.String),
    "The nextCursor of the previous page, with the same body otherwise. Every page shows the market as it was for the first page. The cursor expires after 60 seconds."
  )
})
  .annotate({ identifier: "ScreenRequest", description: "Which tokens are requested, in which order." })
  .check(rangesOfDifferent)

export class ScreenAnswer extends Schema.Opaque<ScreenAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(ScreenRow), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...metaOf("public-screen-v1"),
        tradersBasis: tradersBasis("net_trades"),
        ...marketKnowledge,
        sort: field(ScreenOrder, "The order of the rows."),
        ...screened
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
