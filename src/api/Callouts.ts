import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { DataUnavailable, InvalidCursor } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { NextCursor, pageParameters } from "./pages.ts"
import { CalloutSort } from "./schemas/Callout.ts"
import { field } from "../domain/field.ts"
import { mint } from "./schemas/fields.ts"

/** Default values of optional parameters. */
export const defaults = { limit: 20, feedSort: "recent", tokenSort: "top" } as const

const Text = Schema.NullOr(Schema.String)
const Instant = Schema.String.annotate({ format: "date-time" })

export class CalloutItem extends Schema.Opaque<CalloutItem>()(
  Schema.Struct({
    id: field(Schema.String, "Id of the callout. Its share page is at `/c/{id}`."),
    mint,
    body: field(Schema.String, "The author's text. It is not markup and not trusted."),
    status: field(Schema.Literals(["active", "expired", "removed"]), "Answers contain active callouts only."),
    createdAt: field(Instant, "Time of the callout, as RFC 3339 in UTC."),
    expiresAt: field(Instant, "Time until which the callout is active, as RFC 3339 in UTC."),
    creator: field(
      Schema.Struct({
        id: field(Schema.String, "Unique, stable id."),
        username: field(Schema.String, "Name of the user, unique."),
        displayName: field(Schema.String, "Name of the user as shown."),
        avatarUrl: field(Text, "URL of the picture; null without one.")
      }),
      "User that made the callout."
    ),
    tokenSymbol: field(Text, "Symbol of the token; null when unknown."),
    tokenName: field(Text, "Name of the token; null when unknown."),
    tokenImageUrl: field(Text, "URL of the picture of the token; null when unknown."),
    priceUsdAtCreate: field(
      Schema.NullOr(Schema.Finite),
      "Price of the token when it was posted, the baseline of later changes; null when unknown."
    ),
    clickCount: field(Schema.Int, "Number of clicks on the callout."),
    traderCount: field(Schema.Int, "Number of different traders."),
    attributedVolumeUsd: field(Schema.Finite, "Volume of the attributed trades that have settled."),
    earnedUsd: field(Schema.Finite, "The creator's share of the fees on that volume."),
    pointsAwarded: field(Schema.Finite, "Points that the callout earned.")
  }).annotate({ identifier: "Callout", description: "A user's call of a token and its figures." })
) {}

export class CalloutPage extends Schema.Opaque<CalloutPage>()(
  Schema.Struct({
    callouts: field(Schema.Array(CalloutItem), "Callouts of the page."),
    nextCursor: NextCursor
  }).annotate({ identifier: "CalloutPage", description: "One page of callouts." })
) {}

const pageQuery = (sort: CalloutSort) =>
  Schema.Struct({
    sort: field(
      Schema.optionalKey(CalloutSort),
      `recent: newest first. top: by attributed volume. ${sort} by default.`
    ),
    ...pageParameters(50, defaults.limit)
  })

export const FeedQuery = pageQuery(defaults.feedSort)

export const TokenCalloutsQuery = pageQuery(defaults.tokenSort)

/** Users' calls of tokens. Reads only: they are posted elsewhere. */
export class CalloutsGroup extends HttpApiGroup.make("callouts")
  .add(
    HttpApiEndpoint.get("feed", "/api/v1/callouts/feed", {
      query: FeedQuery,
      success: CalloutPage,
      error: [InvalidCursor, DataUnavailable]
    }).annotate(OpenApi.Summary, "Active callouts"),
    HttpApiEndpoint.get("token", "/api/v1/callouts/token/:mint", {
      params: { mint: field(Address, "A mint: base58 of 32 bytes.") },
      query: TokenCalloutsQuery,
      success: CalloutPage,
      error: [InvalidCursor, DataUnavailable]
    }).annotate(OpenApi.Summary, "Active callouts of one token")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Users' callouts of tokens. Reads only: callouts are posted elsewhere.") {}
