import { Clock, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import type { SourceFreshness } from "../../api/System.ts"
import { ChainFeed, type Freshness } from "../../solana/accounts/ChainFeed.ts"
import { baseUrl } from "../middleware/baseUrl.ts"
import { Drain } from "../Drain.ts"
import { unavailable } from "../problems.ts"
import { metaWith } from "./metaWith.ts"
import { Settings } from "../Settings.ts"

const statuses = {
  live: "known",
  recorded: "known",
  polling: "partial",
  loading: "partial",
  down: "unavailable"
} as const

/** Freshness of the chain feed. A feed that has delivered once and is down now is stale, not unavailable. */
const chainFreshness = ({ heardAtMs, node, state }: Freshness, nowMs: number): SourceFreshness => ({
  source: "chain",
  observedAtMs: heardAtMs,
  lagMs: heardAtMs === null ? null : Math.max(0, nowMs - heardAtMs),
  status: heardAtMs === null ? "unavailable" : state === "down" ? "stale" : statuses[state],
  ...(node !== undefined && { node })
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
    const freshness = () => Effect.all({ data: sources, meta: metaWith({}) })

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
        return yield* unavailable("The service is shutting down.")
      }
      const { node, state } = feed.freshness()
      if (state === "loading" || state === "down") {
        return yield* unavailable("The chain feed is not live yet.")
      }
      return { status: "ok" as const, ...(node !== undefined && { node }) }
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
