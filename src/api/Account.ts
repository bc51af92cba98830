import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { DataUnavailable, InvalidCursor } from "./errors/problems.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { Budget } from "./middleware/Metering.ts"
import { CsvText, FormatParameter, pageOf, pageParameters, RequestId } from "./pages.ts"
import { NoQuery, optional, refuse } from "./parameters.ts"
import { ApiScope } from "./schemas/ApiKey.ts"
import { Plan } from "./schemas/Plan.ts"
import { USAGE_DAYS } from "./schemas/Usage.ts"
import { field } from "../domain/field.ts"
import { executionAuthority, requestId } from "./schemas/fields.ts"

/** Defaults of usage queries: rows of a page, days up to today, and the most rows of a CSV answer. */
export const usageDefaults = { limit: 500, days: 30, csvRows: 50_000 } as const

/** State of one budget of the key. */
const BudgetNow = Schema.Struct({
  limit: field(Schema.Int, "Most units of the budget in one window."),
  remaining: field(Schema.Int, "Units of the budget that are left; never below 0."),
  resetAtMs: field(Schema.Int, "When the oldest counted unit leaves the window.")
}).annotate({ identifier: "BudgetNow", description: "State of one budget of the key." })

export class KeyReport extends Schema.Opaque<KeyReport>()(
  Schema.Struct({
    data: field(
      Schema.Struct({
        id: field(Schema.String, "Unique, stable id."),
        name: field(Schema.String, "Display name."),
        lastFour: field(Schema.String, "Last four characters of the secret."),
        scopes: field(Schema.Array(ApiScope), "Permissions of the key."),
        createdAtMs: field(Schema.Int, "Time of creation, in milliseconds since the Unix epoch."),
        lastUsedAtMs: field(
          Schema.NullOr(Schema.Int),
          "Time of the last use to the second, in milliseconds since the Unix epoch; null while never used."
        ),
        expiresAtMs: field(
          Schema.NullOr(Schema.Int),
          "The key is refused from this time on, in milliseconds since the Unix epoch; null for never."
        ),
        plan: Plan,
        budgets: field(Schema.Struct({ rest: BudgetNow, quote: BudgetNow }), "The two budgets of the key.")
      }),
      "The answer itself."
    ),
    meta: field(
      Schema.Struct({
        requestId,
        executionAuthority
      }),
      "How the answer was made, and how well it is known."
    )
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

export const UsageQuery = Schema.Struct({
  from: optional(
    DayParameter,
    `First UTC day, such as 2026-11-22. By default the ${usageDefaults.days} days up to \`to\` are read.`
  ),
  to: optional(DayParameter, "Last UTC day, included; today by default."),
  format: optional(FormatParameter, "`csv` answers like `Accept: text/csv`: every row, without pages."),
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

export class UsageItem extends Schema.Opaque<UsageItem>()(
  Schema.Struct({
    day: field(Schema.String, "The UTC day, such as 2026-11-22."),
    keyId: field(Schema.NullOr(Schema.String), "Id of the key; null for sessions of the app."),
    keyName: field(Schema.NullOr(Schema.String), "Current name of the key; null for sessions."),
    operation: field(
      Schema.String,
      "Operation id of this document. `tracker.realtime` stands for connections of the tracker."
    ),
    requests: field(Count, "Answered requests with a known credential, including rejected ones."),
    units: field(Schema.Int, "Units of both budgets, after refunds."),
    errors: field(Count, "Requests answered with a status of 400 or above."),
    bytes: field(Count, "Bytes of bodies, frames and messages as sent, without headers."),
    streamMinutes: field(
      Schema.Finite,
      "Minutes in which streams and connections were open, rounded down to hundredths."
    )
  }).annotate({ identifier: "UsageItem", description: "Usage of one key at one operation on one UTC day." })
) {}

export class UsageReport extends Schema.Opaque<UsageReport>()(
  pageOf(
    UsageItem,
    Schema.Struct({
      requestId: RequestId,
      from: field(Schema.String, "The first day of the answer."),
      to: field(Schema.String, "The last day of the answer.")
    }),
    {
      identifier: "UsageReport",
      description: `Usage by day, key and operation, newest day first. Usage is kept for ${USAGE_DAYS} days unless the deployment sets USAGE_KEPT.`
    }
  )
) {}

/** The key of the caller. */
export class AccountGroup extends HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("key", "/api/v1/account/key", { query: NoQuery, success: KeyReport })
      .annotate(Scope, [])
      .annotate(Budget, null)
      .annotate(OpenApi.Summary, "The key of this request and its budgets"),
    HttpApiEndpoint.get("usage", "/api/v1/account/usage", {
      query: UsageQuery,
      success: [UsageReport, CsvText],
      error: [InvalidCursor, DataUnavailable]
    })
      .annotate(Scope, [])
      .annotate(OpenApi.Summary, "Requests, units, errors, bytes and stream minutes by day and operation")
      .annotate(
        OpenApi.Description,
        "A key reads its own usage. A session reads the usage of every key of the account and of the app. Requests that are rejected after the " +
          "credential is known (scope, address, budget) count as requests and errors. Requests with an unknown or disabled key do not " +
          "count. The answer includes everything that the answering process has counted so far. Counts of other processes are " +
          "added within 10 seconds."
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "The key of the caller.") {}
