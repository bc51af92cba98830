import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { DataUnavailable, InvalidCursor, LaunchNotFound } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { CursorParameter, LimitParameter, NextCursor } from "./pages.ts"
import { BooleanParameter, CommaList, NoQuery, optional, refuse, UnixSecond } from "./parameters.ts"
import { LaunchDetail, LaunchRow } from "./schemas/LaunchView.ts"
import { marketKnowledge } from "./schemas/MarketViews.ts"
import { VenueLabel } from "./Spot.ts"
import { field } from "../domain/field.ts"
import { metaOf, tradersBasis } from "./schemas/fields.ts"

/** Default number of launches of a page. */
export const defaultLaunches = 20

export const LaunchesQuery = Schema.Struct({
  launchpad: optional(CommaList(VenueLabel, 20), "Only of these launchpads: keys of the lighthouse."),
  platform: optional(
    CommaList(VenueLabel, 20),
    "Only of these platforms: keys of `platform`, such as `bags`, `believe`, `jup-studio` or `letsbonk`."
  ),
  creator: optional(Address, "Only launches by this creator."),
  graduated: optional(BooleanParameter, "`true`: only tokens whose migration was seen. `false`: only the others."),
  from: optional(UnixSecond, "Only launches from this Unix second on."),
  to: optional(UnixSecond, "Only launches before this Unix second; now by default."),
  limit: Schema.optionalKey(LimitParameter(100, defaultLaunches)),
  cursor: Schema.optionalKey(CursorParameter)
}).check(
  Schema.makeFilter(
    ({ from, to }: { readonly from?: number; readonly to?: number }) =>
      from === undefined || to === undefined || from < to || refuse("to", "conflict", "to must be after from.")
  )
)

const meta = Schema.Struct({
  ...metaOf("public-launches-v1"),
  tradersBasis: tradersBasis("net_trades"),
  ...marketKnowledge
})

export class LaunchesAnswer extends Schema.Opaque<LaunchesAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(LaunchRow), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(meta, "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "LaunchesAnswer",
    description:
      "Launches, newest first. The coverage is for the time since the oldest launch of the page; on the last page, since the requested beginning."
  })
) {}

export class LaunchAnswer extends Schema.Opaque<LaunchAnswer>()(
  Schema.Struct({
    data: LaunchDetail,
    meta: field(meta, "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "LaunchAnswer",
    description: "One launch. The coverage is for its first buyers."
  })
) {}

/** Launches of tokens on launchpads. */
export class LaunchesGroup extends HttpApiGroup.make("launches")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/launches", {
      query: LaunchesQuery,
      success: LaunchesAnswer,
      error: [InvalidCursor, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Launches of tokens, newest first")
      .annotate(
        OpenApi.Description,
        "Ordered by the time of creation, or of the migration where the creation was not seen. New launches do not change later pages."
      ),
    HttpApiEndpoint.get("one", "/api/v1/launches/:mint", {
      params: { mint: field(Address, "A mint: base58 of 32 bytes.") },
      query: NoQuery,
      success: LaunchAnswer,
      error: [LaunchNotFound, DataUnavailable]
    }).annotate(OpenApi.Summary, "The launch of one token, with its first buyers")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Launches of tokens on launchpads, as far as their blocks were read.") {}
