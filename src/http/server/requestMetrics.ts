/** Counts and durations of requests by operation and status. */
import { Context, Effect, Metric } from "effect"
import { FindMyWay, type HttpRouter } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import type { Handle } from "./fastPath.ts"
import { compatPaths } from "../compat/CompatRoutes.ts"
import { MCP_PATH } from "../mcp/paths.ts"
import { routerConfig } from "../middleware/routes.ts"
import { contextOf } from "../middleware/RequestContext.ts"
import { CLIENT_LEFT } from "./requestLog.ts"

/** Upper bounds of the durations, in seconds. */
const BOUNDARIES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** True when metrics are collected. */
export const MeasureRequests = Context.Reference<boolean>("fathom/http/requestMetrics/MeasureRequests", {
  defaultValue: () => false
})

type Path = Exclude<HttpRouter.PathInput, "*">

const isPath = (path: string): path is Path => path.startsWith("/")

/**
 * Returns the operation name of a method and URL. Paths outside the contract are `page`, the endpoint for models is
 * `mcp`, reads in the form of another service are `compat`, unknown paths are `none`.
 */
export const operationNames = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  pages: ReadonlyArray<Path>
): ((method: string, url: string) => string) => {
  const table = FindMyWay.make<string>(routerConfig)
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group }) => {
      if (isPath(endpoint.path)) {
        table.on(endpoint.method, endpoint.path, `${group.identifier}.${endpoint.identifier}`)
      }
    }
  })
  for (const page of pages) {
    table.on("GET", page, "page")
  }
  table.on(["GET", "POST", "DELETE"], MCP_PATH, "mcp")
  compatPaths.forEach((path) => table.on("GET", path, "compat"))
  const known = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"])
  return (method, url) => {
    const asked = method === "HEAD" ? "GET" : method
    return known.has(asked) ? (table.find(asked as "GET", url)?.handler ?? "none") : "none"
  }
}

/** Counts one answered request. A stream has no duration. `budget` is null for a request that draws on none. */
type Record = (operation: string, status: number, seconds: number | null, budget: string | null) => void

/** The value at a key, made on first use. */
const cached = <A>(values: Map<string, A>, key: string, make: () => A): A => {
  const known = values.get(key)
  if (known !== undefined) {
    return known
  }
  const made = make()
  values.set(key, made)
  return made
}

const makeRecord = (context: Context.Context<never>): Record => {
  const counters = new Map<string, Metric.Counter<number>>()
  const timers = new Map<string, Metric.Histogram<number>>()
  const counterOf = (operation: string, status: number) =>
    cached(counters, `${operation} ${status}`, () =>
      Metric.counter("fathom_http_requests_total", {
        description: "Answered requests by operation and status.",
        incremental: true,
        attributes: { operation, status: String(status) }
      })
    )
  const timerOf = (operation: string) =>
    cached(timers, operation, () =>
      Metric.histogram("fathom_http_request_seconds", {
        description: "Time from the headers of a request to the end of its answer; streams are left out.",
        boundaries: BOUNDARIES,
        attributes: { operation }
      })
    )
  const refusals = new Map<string, Metric.Counter<number>>()
  const refusalsOf = (budget: string) =>
    cached(refusals, budget, () =>
      Metric.counter("fathom_budget_refusals_total", {
        description:
          "Requests answered 429, by the budget that they draw on; `none` for requests that were rejected earlier.",
        incremental: true,
        attributes: { budget }
      })
    )
  return (operation, status, seconds, budget) => {
    counterOf(operation, status).updateUnsafe(1, context)
    if (status === 429) {
      refusalsOf(budget ?? "none").updateUnsafe(1, context)
    }
    if (seconds !== null) {
      timerOf(operation).updateUnsafe(seconds, context)
    }
  }
}

/** Wraps a handler when `MeasureRequests` is set. */
export const requestMetrics = (
  nameOf: (method: string, url: string) => string
): Effect.Effect<(handle: Handle) => Handle> =>
  Effect.gen(function* () {
    if (!(yield* MeasureRequests)) {
      return (handle) => handle
    }
    const record = makeRecord(yield* Effect.context())
    return (handle) => (request, response) => {
      const begunMs = performance.now()
      response.once("close", () => {
        const isStream = String(response.getHeader("content-type")).startsWith("text/event-stream")
        record(
          nameOf(request.method ?? "", request.url ?? ""),
          response.headersSent ? response.statusCode : CLIENT_LEFT,
          isStream ? null : (performance.now() - begunMs) / 1000,
          contextOf(request)?.reading?.budget ?? null
        )
      })
      handle(request, response)
    }
  })
