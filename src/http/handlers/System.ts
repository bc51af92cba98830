import { Clock, Duration, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import type { SourceFreshness } from "../../api/schemas/SourceFreshness.ts"
import type { PartState } from "../../api/System.ts"
import { staleAfter } from "../../chain/accounts/chainSettings.ts"
import { ChainFeed, type Freshness } from "../../chain/ChainFeed.ts"
import { allSources, CHAIN } from "../../chain/sourceFreshness.ts"
import { monotonicMs } from "../../domain/loopTime.ts"
import { SourceMonitor } from "../../operations/SourceMonitor.ts"
import { staleness } from "../../quotes/pools/freshness.ts"
import { Drain } from "../Drain.ts"
import { baseUrl } from "../middleware/baseUrl.ts"
import { unavailable } from "../problems.ts"
import { Settings } from "../Settings.ts"
import { metaWith } from "./metaWith.ts"
import { partsOf } from "./sources.ts"

/** How long an answer about the sources is cached. */
const CACHED_MS = 100

/**
 * Computes a value and caches it for `ttlMs` by the monotonic clock, so that a change of the wall clock has no effect.
 * `compute` gets the wall clock's milliseconds.
 */
const cachedFor = <A>(ttlMs: number, compute: (nowMs: number) => A) => {
  let cached: { readonly value: A; readonly untilMs: number } | undefined
  return (clock: Clock.Clock): Effect.Effect<A> => {
    const atMs = monotonicMs(clock)
    if (cached === undefined || atMs >= cached.untilMs) {
      cached = { value: compute(clock.currentTimeMillisUnsafe()), untilMs: atMs + ttlMs }
    }
    return Effect.succeed(cached.value)
  }
}
/** True for a service that no request has needed yet. */
const isUnasked = ({ failedAtMs, observedAtMs }: SourceFreshness): boolean =>
  failedAtMs === null && observedAtMs === null

/** Why the service takes no traffic while its quotes are refused as stale. */
const notLive = ({ heardAtMs, state }: Freshness, nowMs: number): string => {
  if (heardAtMs === null) {
    return "The chain feed is not live yet."
  }
  const seconds = Math.max(0, Math.round((nowMs - heardAtMs) / 1000))
  return state === "live" || state === "polling"
    ? `The chain has been silent for ${seconds} s.`
    : `The chain was lost ${seconds} s ago.`
}

/** The message that lists the parts that are not current. */
const partsText = (parts: ReadonlyArray<PartState>): string => {
  const behind = parts.filter(({ status }) => status !== "known")
  const texts = behind.map(({ lastError, part, sinceMs, status }) => {
    const error = lastError === null ? "" : ` (${new Date(lastError.atMs).toISOString()}: ${lastError.detail})`
    return `${part}: ${status} since ${new Date(sinceMs).toISOString()}${error}`
  })
  return `Not current: ${texts.join("; ")}.`
}

export const layer = HttpApiBuilder.group(
  Api,
  "system",
  Effect.fnUntraced(function* (handlers) {
    const feed = yield* ChainFeed
    const drain = yield* Drain
    const monitor = yield* SourceMonitor
    const { publicUrl } = yield* Settings
    const staleAfterMs = Duration.toMillis(yield* staleAfter)

    const sources = cachedFor(CACHED_MS, (nowMs) => allSources(feed, monitor, nowMs))
    const freshness = () => Effect.all({ data: Clock.clockWith(sources), meta: metaWith({}) })

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

    const ready = Effect.fnUntraced(function* ({ query }: { readonly query: { readonly verbose?: string } }) {
      const isVerbose = query.verbose !== undefined && query.verbose !== "false"
      if (drain.begun()) {
        return yield* unavailable("The service is shutting down.")
      }
      const fresh = feed.freshness()
      const { node } = fresh
      const nowMs = yield* Clock.currentTimeMillis
      if (staleness(fresh, nowMs, staleAfterMs) !== null) {
        const reason = notLive(fresh, nowMs)
        return yield* unavailable(isVerbose ? `${reason} ${partsText(partsOf(feed, monitor, nowMs))}` : reason)
      }
      const lagging = (yield* Clock.clockWith(sources)).filter(
        (source) =>
          source.status !== "known" && !isUnasked(source) && (source.source !== CHAIN || source.status === "stale")
      )
      return {
        status: "ok" as const,
        lagging,
        ...(node !== undefined && { node }),
        ...(isVerbose && { parts: partsOf(feed, monitor, nowMs) })
      }
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
