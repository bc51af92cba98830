import { Clock, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { DataUnavailable } from "../../api/problems.ts"
import type { SourceFreshness } from "../../api/System.ts"
import { ChainFeed, type Freshness } from "../../solana/accounts/ChainFeed.ts"
import { baseUrl } from "../middleware/baseUrl.ts"
import { Drain } from "../Drain.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { Settings } from "../Settings.ts"

const statuses = { live: "known", recorded: "known", loading: "partial", down: "unavailable" } as const

/** The chain as one source among others. A feed that was heard once and is down now is stale rather than unavailable. */
const chainFreshness = ({ heardAtMs, state }: Freshness, nowMs: number): SourceFreshness => ({
  source: "chain",
  observedAtMs: heardAtMs,
  lagMs: heardAtMs === null ? null : Math.max(0, nowMs - heardAtMs),
  status: heardAtMs === null ? "unavailable" : state === "down" ? "stale" : statuses[state]
})

export const layer = HttpApiBuilder.group(
  Api,
  "system",
  Effect.fnUntraced(function* (handlers) {
    const feed = yield* ChainFeed
    const drain = yield* Drain
    const { publicUrl } = yield* Settings

    const sources = yield* Clock.currentTimeMillis.pipe(
      Effect.map((nowMs) => [chainFreshness(feed.freshness(), nowMs)]),
      Effect.cachedWithTTL("1 second")
    )
    const freshness = Effect.fnUntraced(function* () {
      const { id } = yield* RequestContext
      return { data: yield* sources, meta: { requestId: id } }
    })

    const describe = Effect.fnUntraced(function* ({
      request
    }: {
      readonly request: HttpServerRequest.HttpServerRequest
    }) {
      const base = baseUrl(publicUrl, request) ?? ""
      return {
        name: "fathom",
        version: "v1" as const,
        status: "beta" as const,
        docsUrl: `${base}/docs`,
        openapiUrl: `${base}/openapi.json`,
        changelogUrl: `${base}/changelog`,
        serverTimeMs: yield* Clock.currentTimeMillis
      }
    })

    const ready = Effect.fnUntraced(function* () {
      if (drain.begun()) {
        return yield* new DataUnavailable({ error: { message: "The service is shutting down." } })
      }
      const { state } = feed.freshness()
      if (state !== "live" && state !== "recorded") {
        return yield* new DataUnavailable({ error: { message: "The chain is not followed yet." } })
      }
      return { status: "ok" as const }
    })

    return handlers.handleAll({
      describe,
      freshness,
      rootFreshness: freshness,
      live: () => Effect.succeed({ status: "ok" as const }),
      ready
    })
  })
)
