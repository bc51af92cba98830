import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../../domain/Address.ts"
import { LaunchDetail, LaunchRow } from "../../domain/market/LaunchView.ts"
import { marketKnowledge } from "../../domain/market/MarketViews.ts"
import { CursorParameter, LimitParameter, NextCursor } from "../cursor.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { BooleanParameter, CommaList, described, IntegerParameter, NoQuery, refuse } from "../parameters.ts"
import { DataUnavailable, InvalidCursor, LaunchNotFound } from "../problems.ts"
import { VenueLabel } from "../Spot.ts"

/** Launches of a page unless given. */
export const defaultLaunches = 20

/** The last second of the year 9999, the latest accepted time. */
const LAST_SECOND = 253_402_300_799

const noted = <S extends Schema.Top>(parameter: S, description: string) =>
  Schema.optionalKey(described(parameter, description))

/** Query of the launches. */
export const LaunchesQuery = Schema.Struct({
  launchpad: noted(CommaList(VenueLabel, 20), "Only of these launchpads: keys of the lighthouse."),
  creator: noted(Address, "Only of this creator."),
  graduated: noted(BooleanParameter, "`true`: only tokens whose migration was seen. `false`: only others."),
  from: noted(IntegerParameter(0, LAST_SECOND), "Unix second from which on launches are given."),
  to: noted(IntegerParameter(0, LAST_SECOND), "Unix second before which launches are given; now unless given."),
  limit: Schema.optionalKey(LimitParameter(100, defaultLaunches)),
  cursor: Schema.optionalKey(CursorParameter)
}).check(
  Schema.makeFilter(
    ({ from, to }: { readonly from?: number; readonly to?: number }) =>
      from === undefined || to === undefined || from < to || refuse("to", "conflict", "to must be after from.")
  )
)

const meta = Schema.Struct({
  requestId: Schema.String,
  methodVersion: Schema.Literal("public-launches-v1"),
  chain: Schema.Literal("solana"),
  ...marketKnowledge
})

/** Launches, newest first. */
export class LaunchesAnswer extends Schema.Opaque<LaunchesAnswer>()(
  Schema.Struct({ data: Schema.Array(LaunchRow), nextCursor: NextCursor, meta }).annotate({
    identifier: "LaunchesAnswer",
    description:
      "Launches, newest first. The coverage is that of the time from the oldest of the page, on the last page from the beginning asked for."
  })
) {}

/** One launch. */
export class LaunchAnswer extends Schema.Opaque<LaunchAnswer>()(
  Schema.Struct({ data: LaunchDetail, meta }).annotate({
    identifier: "LaunchAnswer",
    description: "One launch. The coverage is that of its first buyers."
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
        "By the time of the creation, or of the migration where the creation was not seen. New launches do not change later pages."
      ),
    HttpApiEndpoint.get("one", "/api/v1/launches/:mint", {
      params: { mint: Address.annotate({ description: "A mint: base58 of 32 bytes." }) },
      query: NoQuery,
      success: LaunchAnswer,
      error: [LaunchNotFound, DataUnavailable]
    }).annotate(OpenApi.Summary, "The launch of one token, with its first buyers")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Launches of tokens on launchpads, as far as their blocks were read.") {}
