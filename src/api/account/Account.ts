import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ApiScope } from "../../domain/ApiKey.ts"
import { Plan } from "../../domain/keys/Plan.ts"
import { USAGE_DAYS } from "../../domain/keys/Usage.ts"
import { Authorization, Scope } from "../middleware/Authorization.ts"
import { Budget } from "../middleware/Metering.ts"
import { pageOf, pageParameters, RequestId } from "../pages.ts"
import { described, NoQuery, refuse } from "../parameters.ts"
import { DataUnavailable, InvalidCursor } from "../problems.ts"

/** Defaults of the usage: rows of a page, and days up to today. The most rows of a CSV answer. */
export const usageDefaults = { limit: 500, days: 30, csvRows: 50_000 } as const

/** State of one budget of the key. */
const BudgetNow = Schema.Struct({
  limit: Schema.Int,
  remaining: Schema.Int,
  resetAtMs: Schema.Int.annotate({ description: "When the oldest counted unit leaves the window." })
}).annotate({ identifier: "BudgetNow", description: "State of one budget of the key." })

/** The key of a request and its budgets. */
export class KeyReport extends Schema.Opaque<KeyReport>()(
  Schema.Struct({
    data: Schema.Struct({
      id: Schema.String,
      name: Schema.String,
      lastFour: Schema.String,
      scopes: Schema.Array(ApiScope),
      createdAtMs: Schema.Int,
      lastUsedAtMs: Schema.NullOr(Schema.Int),
      expiresAtMs: Schema.NullOr(Schema.Int).annotate({
        description: "The key is refused from then on; null for never."
      }),
      plan: Plan,
      budgets: Schema.Struct({ rest: BudgetNow, quote: BudgetNow })
    }),
    meta: Schema.Struct({ requestId: Schema.String, executionAuthority: Schema.Literal("none") })
  }).annotate({ identifier: "KeyReport", description: "The key of this request and its budgets." })
) {}

const isDay = (text: string): boolean => {
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

const DayParameter = Schema.String.check(
  Schema.isPattern(/^20\d{2}-\d{2}-\d{2}$/u, { expected: "a day such as 2026-11-22" }),
  Schema.makeFilter((text) => isDay(text), { expected: "a day such as 2026-11-22", toJsonSchema: () => ({}) })
)

/** Query of the usage. */
export const UsageQuery = Schema.Struct({
  from: Schema.optionalKey(
    described(
      DayParameter,
      `First UTC day, such as 2026-11-22; unless given the ${usageDefaults.days} days up to \`to\` are read.`
    )
  ),
  to: Schema.optionalKey(described(DayParameter, "Last UTC day, itself included; today unless given.")),
  format: Schema.optionalKey(
    described(Schema.Literals(["json", "csv"]), "csv answers as `Accept: text/csv` does: every row, without pages.")
  ),
  ...pageParameters(1000, usageDefaults.limit)
}).check(
  Schema.makeFilter(
    ({ from, to }) =>
      from === undefined ||
      to === undefined ||
      from <= to ||
      refuse("from", "out_of_range", "from must not be after to.")
  )
)

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Usage of one key at one operation on one day. */
export class UsageItem extends Schema.Opaque<UsageItem>()(
  Schema.Struct({
    day: Schema.String.annotate({ description: "The UTC day, such as 2026-11-22." }),
    keyId: Schema.NullOr(Schema.String).annotate({ description: "Null for the sessions of the app." }),
    keyName: Schema.NullOr(Schema.String).annotate({ description: "Name of the key as it is now; null for sessions." }),
    operation: Schema.String.annotate({
      description: "Operation id of this document; tracker.realtime for the connections of the tracker."
    }),
    requests: Count.annotate({ description: "Answered requests with a known credential, refused ones included." }),
    units: Schema.Int.annotate({ description: "Units of both budgets, after refunds." }),
    errors: Count.annotate({ description: "Requests answered with a status of 400 or above." }),
    bytes: Count.annotate({ description: "Bytes of bodies, frames and messages as sent, without headers." }),
    streamMinutes: Schema.Finite.annotate({
      description: "Minutes for which streams and connections were open, rounded down to hundredths."
    })
  }).annotate({ identifier: "UsageItem", description: "Usage of one key at one operation on one UTC day." })
) {}

/** One page of usage. */
export class UsageReport extends Schema.Opaque<UsageReport>()(
  pageOf(
    UsageItem,
    Schema.Struct({
      requestId: RequestId,
      from: Schema.String.annotate({ description: "First day that was read." }),
      to: Schema.String.annotate({ description: "Last day that was read." })
    }),
    {
      identifier: "UsageReport",
      description: `Usage by day, key and operation, the newest day first. Days are kept for ${USAGE_DAYS} days unless the deployment sets USAGE_KEPT.`
    }
  )
) {}

/** The same rows as text. */
const UsageCsv = Schema.String.annotate({
  description:
    "RFC 4180 with a header line. A cell that a spreadsheet could take for a formula begins with an apostrophe."
}).pipe(HttpApiSchema.asText({ contentType: "text/csv" }))

/** The key of the caller. */
export class AccountGroup extends HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("key", "/api/v1/account/key", { query: NoQuery, success: KeyReport })
      .annotate(Scope, [])
      .annotate(Budget, null)
      .annotate(OpenApi.Summary, "The key of this request and its budgets"),
    HttpApiEndpoint.get("usage", "/api/v1/account/usage", {
      query: UsageQuery,
      success: [UsageReport, UsageCsv],
      error: [InvalidCursor, DataUnavailable]
    })
      .annotate(Scope, [])
      .annotate(OpenApi.Summary, "Requests, units, errors, bytes and stream minutes by day and operation")
      .annotate(
        OpenApi.Description,
        "A key reads its own usage, a session that of every key of the account and of the app. Requests that are refused once the " +
          "credential is known (scope, address, budget) count as requests and errors; those with an unknown or disabled key count " +
          "nowhere. The answer includes what the process that answers has counted up to this request; what other processes count is " +
          "added within 10 seconds."
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "The key of the caller.") {}
