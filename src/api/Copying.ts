import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { atomic } from "../domain/Amount.ts"
import { Coverage, Decimal, Status } from "../domain/Scalar.ts"
import { DataUnavailable, FollowNotFound, InvalidCursor } from "./errors/problems.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { NextCursor, pageOf, pageParameters, RequestId } from "./pages.ts"
import { IntegerParameter, NoQuery, optional, refuse } from "./parameters.ts"
import { CopyGrouping, CopyWindow, FillReason, FillSide, FillStatus, Follow, FollowStatus } from "./schemas/Copying.ts"
import { CopyPnlReport } from "./schemas/CopyPnl.ts"
import { field } from "../domain/field.ts"
import { executionAuthority, methodVersion, mint, slot, wallet } from "./schemas/fields.ts"

/** Default values of optional parameters. */
export const defaults = { follows: 50, fills: 50, groups: 50, window: "30d", groupBy: "none" } as const

const Usd = Schema.NullOr(Decimal)

export class CopyFillItem extends Schema.Opaque<CopyFillItem>()(
  Schema.Struct({
    id: field(Schema.String, "Unique, stable id."),
    followId: field(Schema.String, "Id of the follow."),
    mint,
    side: field(FillSide, "`buy`: the token was received. `sell`: the token was given."),
    status: field(FillStatus, "Status of the copy. All but `pending` are final."),
    reason: Schema.NullOr(FillReason),
    leader: field(
      Schema.Struct({
        wallet,
        signature: field(Schema.String, "First signature of the transaction, as base58 of 64 bytes."),
        slot,
        atMs: field(Schema.Int, "Time of the event, in milliseconds since the Unix epoch."),
        priceUsd: field(Usd, "Price of one whole token, in USD."),
        valueUsd: field(Usd, "Value of the leader's trade, in US dollars; null without a price.")
      }),
      "The trade of the leader."
    ),
    execution: field(
      Schema.NullOr(
        Schema.Struct({
          signature: field(Schema.String, "First signature of the transaction, as base58 of 64 bytes."),
          slot,
          atMs: field(Schema.Int, "Time of the event, in milliseconds since the Unix epoch."),
          inMint: field(Address, "Mint that was given."),
          inAmount: atomic("What the copy paid, in atomic units of inMint."),
          outMint: field(Address, "Mint that was received."),
          outAmount: atomic("What the copy received, in atomic units of outMint."),
          priceUsd: field(Usd, "Price of one whole token, in USD."),
          valueUsd: field(Usd, "Value of the trade without fees, in US dollars."),
          feeUsd: field(Usd, "Fees of the copy, in US dollars; null when they are unknown.")
        })
      ),
      "Null unless the copy is pending or filled."
    ),
    latencyMs: field(Schema.NullOr(Schema.Int), "Time from the leader's trade to its copy."),
    slippageVsLeaderPct: field(
      Usd,
      "How much worse the copy's price was, in percent of the leader's price; negative when it was better."
    ),
    realized: field(
      Usd,
      "Profit of a sale by average cost, after all fees; null for a purchase and when the cost is unknown."
    )
  }).annotate({ identifier: "CopyFill", description: "One trade of a leader and its copy." })
) {}

const Meta = Schema.Struct({
  requestId: RequestId,
  methodVersion: methodVersion("public-copy-v1"),
  executionAuthority,
  observedAtMs: field(Schema.Int, "When the records were read."),
  status: Status,
  coverage: Coverage
})

export class CopyFollows extends Schema.Opaque<CopyFollows>()(
  pageOf(Follow, Meta, { identifier: "CopyFollows", description: "One page of follows." })
) {}

export class CopyFollowAnswer extends Schema.Opaque<CopyFollowAnswer>()(
  Schema.Struct({ data: Follow, meta: field(Meta, "How the answer was made, and how well it is known.") }).annotate({
    identifier: "CopyFollowAnswer",
    description: "One follow."
  })
) {}

export class CopyFills extends Schema.Opaque<CopyFills>()(
  pageOf(CopyFillItem, Meta, { identifier: "CopyFills", description: "One page of fills." })
) {}

export class CopyPnlAnswer extends Schema.Opaque<CopyPnlAnswer>()(
  Schema.Struct({
    data: CopyPnlReport,
    nextCursor: NextCursor,
    meta: field(Meta, "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "CopyPnlAnswer",
    description: "Profit and loss of copying."
  })
) {}

const followId = Schema.String.check(
  Schema.isPattern(/^[\w-]{1,64}$/u, { expected: "1 to 64 of A-Z, a-z, 0-9, _ and -" })
).annotate({
  description: "Only rows of this follow."
})

const time = (description: string) => field(IntegerParameter(0, 253_402_300_799_999), description)

export const FollowsQuery = Schema.Struct({
  status: optional(FollowStatus, "Only follows with this status."),
  ...pageParameters(100, defaults.follows)
})

export const FillsQuery = Schema.Struct({
  followId: Schema.optionalKey(followId),
  mint: optional(Address, "Only fills of this token."),
  status: optional(FillStatus, "Only fills with this status."),
  sinceMs: Schema.optionalKey(time("The first millisecond of the leaders' trades, included.")),
  untilMs: Schema.optionalKey(time("The last millisecond of the leaders' trades, included.")),
  ...pageParameters(200, defaults.fills)
}).check(
  Schema.makeFilter(
    ({ sinceMs = 0, untilMs = sinceMs }) =>
      sinceMs <= untilMs || refuse("untilMs", "conflict", "untilMs must not be before sinceMs.")
  )
)

export const CopyPnlQuery = Schema.Struct({
  window: field(Schema.optionalKey(CopyWindow), `Window of the sales; ${defaults.window} by default.`),
  followId: Schema.optionalKey(followId),
  groupBy: field(Schema.optionalKey(CopyGrouping), `What the sums are grouped by; ${defaults.groupBy} by default.`),
  ...pageParameters(100, defaults.groups)
}).check(
  Schema.makeFilter(({ cursor, groupBy = defaults.groupBy, limit }) =>
    groupBy === "none"
      ? [
          ...(limit === undefined ? [] : [refuse("limit", "conflict", "limit needs groups.")]),
          ...(cursor === undefined ? [] : [refuse("cursor", "conflict", "cursor needs groups.")])
        ]
      : undefined
  )
)

/** Copy trading of the owner of the key. Reads only: no call starts, changes or stops copying. */
export class CopyingGroup extends HttpApiGroup.make("copying")
  .add(
    HttpApiEndpoint.get("follows", "/api/v1/copy/follows", {
      query: FollowsQuery,
      success: CopyFollows,
      error: [InvalidCursor, DataUnavailable]
    }).annotate(OpenApi.Summary, "The wallets that the account follows"),
    HttpApiEndpoint.get("follow", "/api/v1/copy/follows/:id", {
      params: { id: field(Schema.String, "The id of a follow.") },
      query: NoQuery,
      success: CopyFollowAnswer,
      error: [FollowNotFound, DataUnavailable]
    }).annotate(OpenApi.Summary, "One wallet that the account follows"),
    HttpApiEndpoint.get("fills", "/api/v1/copy/fills", {
      query: FillsQuery,
      success: CopyFills,
      error: [InvalidCursor, FollowNotFound, DataUnavailable]
    }).annotate(OpenApi.Summary, "Fills: copied and skipped trades of leaders"),
    HttpApiEndpoint.get("pnl", "/api/v1/copy/pnl", {
      query: CopyPnlQuery,
      success: CopyPnlAnswer,
      error: [InvalidCursor, FollowNotFound, DataUnavailable]
    }).annotate(OpenApi.Summary, "Profit and loss of copying")
  )
  .annotateEndpoints(Scope, ["copy.read"])
  .middleware(Authorization)
  .annotate(
    OpenApi.Description,
    "Copy trading of the key's owner. Reads only: no call starts, changes or stops copying."
  ) {}
