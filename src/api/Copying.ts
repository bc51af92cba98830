import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { Atomic } from "../domain/Amount.ts"
import {
  CopyGrouping,
  CopyWindow,
  FillReason,
  FillSide,
  FillStatus,
  Follow,
  FollowStatus
} from "../domain/wallets/Copying.ts"
import { CopyPnlReport } from "../domain/wallets/CopyPnl.ts"
import { Coverage, Decimal, Status } from "../domain/Scalar.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { NextCursor } from "./cursor.ts"
import { pageOf, pageParameters, RequestId } from "./pages.ts"
import { described, IntegerParameter, NoQuery, refuse } from "./parameters.ts"
import { DataUnavailable, FollowNotFound, InvalidCursor } from "./problems.ts"

/** Default values of optional parameters. */
export const defaults = { follows: 50, fills: 50, groups: 50, window: "30d", groupBy: "none" } as const

const Usd = Schema.NullOr(Decimal)

/** One trade of a leader and its copy. */
export class CopyFillItem extends Schema.Opaque<CopyFillItem>()(
  Schema.Struct({
    id: Schema.String,
    followId: Schema.String,
    mint: Address,
    side: FillSide,
    status: FillStatus,
    reason: Schema.NullOr(FillReason),
    leader: Schema.Struct({
      wallet: Address,
      signature: Schema.String,
      slot: Schema.Int,
      atMs: Schema.Int,
      priceUsd: Usd,
      valueUsd: Usd
    }),
    execution: Schema.NullOr(
      Schema.Struct({
        signature: Schema.String,
        slot: Schema.Int,
        atMs: Schema.Int,
        inMint: Address,
        inAmount: Atomic,
        outMint: Address,
        outAmount: Atomic,
        priceUsd: Usd,
        valueUsd: Usd.annotate({ description: "Value of the trade without fees." }),
        feeUsd: Usd
      })
    ).annotate({ description: "Null unless pending or filled." }),
    latencyMs: Schema.NullOr(Schema.Int).annotate({ description: "From the leader's trade to its copy." }),
    slippageVsLeaderPct: Usd.annotate({
      description: "Percent of the leader's price by which the copy's was worse; negative when it was better."
    }),
    realized: Usd.annotate({
      description: "Profit of a sale by average cost, after all fees; null for a purchase and for an unknown basis."
    })
  }).annotate({ identifier: "CopyFill", description: "One trade of a leader and its copy." })
) {}

const Meta = Schema.Struct({
  requestId: RequestId,
  methodVersion: Schema.Literal("public-copy-v1"),
  executionAuthority: Schema.Literal("none"),
  observedAtMs: Schema.Int.annotate({ description: "When the records were read." }),
  status: Status,
  coverage: Coverage
})

/** One page of follows. */
export class CopyFollows extends Schema.Opaque<CopyFollows>()(
  pageOf(Follow, Meta, { identifier: "CopyFollows", description: "One page of follows." })
) {}

/** One follow. */
export class CopyFollowAnswer extends Schema.Opaque<CopyFollowAnswer>()(
  Schema.Struct({ data: Follow, meta: Meta }).annotate({ identifier: "CopyFollowAnswer", description: "One follow." })
) {}

/** One page of fills. */
export class CopyFills extends Schema.Opaque<CopyFills>()(
  pageOf(CopyFillItem, Meta, { identifier: "CopyFills", description: "One page of fills." })
) {}

/** Profit and loss of copying. */
export class CopyPnlAnswer extends Schema.Opaque<CopyPnlAnswer>()(
  Schema.Struct({ data: CopyPnlReport, nextCursor: NextCursor, meta: Meta }).annotate({
    identifier: "CopyPnlAnswer",
    description: "Profit and loss of copying."
  })
) {}

const followId = Schema.String.check(
  Schema.isPattern(/^[\w-]{1,64}$/u, { expected: "1 to 64 of A-Z, a-z, 0-9, _ and -" })
).annotate({
  description: "Only those of this follow."
})

const time = (description: string) => described(IntegerParameter(0, 253_402_300_799_999), description)

/** Query of follows. */
export const FollowsQuery = Schema.Struct({
  status: Schema.optionalKey(described(FollowStatus, "Only follows of this state.")),
  ...pageParameters(100, defaults.follows)
})

/** Query of fills. */
export const FillsQuery = Schema.Struct({
  followId: Schema.optionalKey(followId),
  mint: Schema.optionalKey(described(Address, "Only fills of this token.")),
  status: Schema.optionalKey(described(FillStatus, "Only fills of this state.")),
  sinceMs: Schema.optionalKey(time("The first millisecond of the leaders' trades.")),
  untilMs: Schema.optionalKey(time("The last millisecond of the leaders' trades.")),
  ...pageParameters(200, defaults.fills)
}).check(
  Schema.makeFilter(
    ({ sinceMs = 0, untilMs = sinceMs }) =>
      sinceMs <= untilMs || refuse("untilMs", "conflict", "untilMs must not be before sinceMs.")
  )
)

/** Query of profit and loss. */
export const CopyPnlQuery = Schema.Struct({
  window: Schema.optionalKey(
    CopyWindow.annotate({ description: `Window of the sales; ${defaults.window} unless given.` })
  ),
  followId: Schema.optionalKey(followId),
  groupBy: Schema.optionalKey(
    CopyGrouping.annotate({ description: `Key of the groups; ${defaults.groupBy} unless given.` })
  ),
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
      params: { id: Schema.String.annotate({ description: "The id of a follow." }) },
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
    "Copy trading of the owner of the key. Reads only: no call starts, changes or stops copying."
  ) {}
