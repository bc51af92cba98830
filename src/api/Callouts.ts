import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { CalloutSort } from "../domain/wallets/Callout.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { NextCursor } from "./cursor.ts"
import { pageParameters } from "./pages.ts"
import { DataUnavailable, InvalidCursor } from "./problems.ts"

/** Default values of optional parameters. */
export const defaults = { limit: 20, feedSort: "recent", tokenSort: "top" } as const

const Text = Schema.NullOr(Schema.String)
const Instant = Schema.String.annotate({ format: "date-time" })

/** A callout on the wire. */
export class CalloutItem extends Schema.Opaque<CalloutItem>()(
  Schema.Struct({
    id: Schema.String.annotate({ description: "Its share page is at /c/{id}." }),
    mint: Address,
    body: Schema.String.annotate({ description: "Text of the author: not markup, and not trusted." }),
    status: Schema.Literals(["active", "expired", "removed"]).annotate({
      description: "Reads return active ones only."
    }),
    createdAt: Instant,
    expiresAt: Instant,
    creator: Schema.Struct({
      id: Schema.String,
      username: Schema.String,
      displayName: Schema.String,
      avatarUrl: Text
    }),
    tokenSymbol: Text,
    tokenName: Text,
    tokenImageUrl: Text,
    priceUsdAtCreate: Schema.NullOr(Schema.Finite).annotate({
      description: "Price of the token at posting, the baseline of later changes; null when unknown."
    }),
    clickCount: Schema.Int,
    traderCount: Schema.Int.annotate({ description: "Distinct traders." }),
    attributedVolumeUsd: Schema.Finite.annotate({
      description: "Volume of attributed trades that have settled."
    }),
    earnedUsd: Schema.Finite.annotate({ description: "The creator's share of the fees on that volume." }),
    pointsAwarded: Schema.Finite
  }).annotate({ identifier: "Callout", description: "A user's call of a token and its figures." })
) {}

/** One page of callouts. */
export class CalloutPage extends Schema.Opaque<CalloutPage>()(
  Schema.Struct({
    callouts: Schema.Array(CalloutItem),
    nextCursor: NextCursor
  }).annotate({ identifier: "CalloutPage", description: "One page of callouts." })
) {}

const pageQuery = (sort: CalloutSort) =>
  Schema.Struct({
    sort: Schema.optionalKey(
      CalloutSort.annotate({ description: `recent: newest first. top: by attributed volume. ${sort} unless given.` })
    ),
    ...pageParameters(50, defaults.limit)
  })

/** Query of the feed. */
export const FeedQuery = pageQuery(defaults.feedSort)

/** Query of one token's callouts. */
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
      params: { mint: Address.annotate({ description: "A mint: base58 of 32 bytes." }) },
      query: TokenCalloutsQuery,
      success: CalloutPage,
      error: [InvalidCursor, DataUnavailable]
    }).annotate(OpenApi.Summary, "Active callouts of one token")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Users' calls of tokens. Reads only: they are posted elsewhere.") {}
