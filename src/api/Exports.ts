import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { field } from "../domain/field.ts"
import {
  DataUnavailable,
  DayNotWhole,
  FeatureUnavailable,
  PathNotFound,
  RangeNotSatisfiable,
  RateLimited
} from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { optional } from "./parameters.ts"

/** Bytes of a download for one more unit of its price, and the most units. */
export const exportPrice = { bytes: 8 * 2 ** 20, most: 20 } as const

const isDay = (name: string): boolean => {
  const ms = Date.parse(name.slice(0, 10))
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(name.slice(0, 10))
}

const Name = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d\d-\d\d\.(?:parquet|csv|ndjson)$/u, { expected: "a day and .parquet, .csv or .ndjson" }),
  Schema.makeFilter((name: string) => isDay(name) || "must begin with a day of the calendar")
)

const parameters = {
  dataset: field(
    Schema.Literals(["trades", "wallets", "holders", "bars"]),
    "`trades`: swaps of pools. `wallets`: net trades and transfers. `holders`: wallets with such a row, and what they held after the newest one of the day. `bars`: candles."
  ),
  file: field(Name, "The UTC day and the kind of the file, such as `2026-11-27.parquet`.")
}

/** Exported files of whole days. */
export class ExportsGroup extends HttpApiGroup.make("exports")
  .add(
    HttpApiEndpoint.get("day", "/api/v1/exports/:dataset/:file", {
      params: parameters,
      query: Schema.Struct({
        width: optional(Schema.Literals(["1m", "1h", "1d"]), "Width of candles; `1m` by default. Only for `bars`.")
      }),
      success: HttpApiSchema.StreamUint8Array({
        contentType: ["application/vnd.apache.parquet", "text/csv", "application/x-ndjson"]
      }),
      error: [DayNotWhole, FeatureUnavailable, PathNotFound, RangeNotSatisfiable, RateLimited, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Every row of a whole UTC day as a file, for keys whose plan has exports")
      .annotate(
        OpenApi.Description,
        "The answer has `ETag`, `Content-Length` and `Accept-Ranges`, and honours `Range` with `If-Range`: a download that broke off goes on with the missing bytes and status 206. `Fathom-Gaps` is the number of stretches of the day whose blocks no node has any more; a Parquet file names them. The first request for a day makes the file: it waits up to 10 seconds, and then answers 503 with `Retry-After`. Costs one unit, and one more for each 8 MiB sent, 20 at most."
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Whole days of what is stored, as Parquet, CSV or lines of JSON.") {}
