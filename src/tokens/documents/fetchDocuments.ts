/** Reads the metadata documents of requested tokens in the background. */
import { Clock, Config, Duration, Effect, Latch, Layer } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import { countSetting, durationSetting } from "../../domain/countSetting.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { noteFailure, SourceMonitor } from "../../operations/SourceMonitor.ts"
import type { RequesterId } from "../../quotes/pools/Turns.ts"
import { withDeadline } from "../../operations/protection.ts"
import { PublicWeb, REDIRECTS, type UrlRefused } from "../../operations/publicWeb.ts"
import { UpstreamFailure } from "../../operations/UpstreamFailure.ts"
import { type Exchange, makeExchange, type Reply } from "../../operations/upstreamHttp.ts"
import { webUrl } from "../../operations/urlSettings.ts"
import { DocumentCache, type DocumentRead } from "./DocumentCache.ts"
import { DocumentReader } from "./DocumentReader.ts"
import { type DocumentUrl, documentUrl, type Gateways } from "./documentUrl.ts"
import { readDocument } from "./readDocument.ts"

/** Name of the source at `/freshness`. */
export const TOKEN_METADATA = "token_metadata"

const read = { maxBytes: 131_072, deadline: Duration.seconds(10), accept: "application/json" }
/** Reads at the same time. */
const CONCURRENCY = 4
/** How long the first failure of a document is remembered. */
const FAILED_MS = 300_000
/** The source counts as stale after this many failures in a row, whichever documents failed. */
const MOST_FAILURES = 20

/** Content types that may hold JSON. Hosts send files without an extension as plain text. */
const JSON_TYPE = /^(?:application\/(?:[\w.-]+\+)?json|text\/(?:json|plain))\s*(?:;|$)/iu

/** `TOKEN_METADATA` (off), its gateways, and how much is kept. */
export const settings = Config.all({
  mode: Config.Literals(["off", "on"], "TOKEN_METADATA").pipe(Config.withDefault("off" as const)),
  ipfs: webUrl("TOKEN_METADATA_IPFS").pipe(Config.withDefault("https://ipfs.io/ipfs")),
  arweave: webUrl("TOKEN_METADATA_ARWEAVE").pipe(Config.withDefault("https://arweave.net")),
  kept: durationSetting("TOKEN_METADATA_KEPT").pipe(Config.withDefault(Duration.hours(24))),
  capacity: countSetting("TOKEN_METADATA_TOKENS", 5000, 1)
})

/**
 * The reply of a gateway from the settings. The gateway may be in the own network, but its redirects may lead only to
 * the public internet.
 */
const readGateway = Effect.fnUntraced(function* (exchange: Exchange, web: PublicWeb["Service"], url: string) {
  const request = HttpClientRequest.get(url, { headers: { accept: read.accept } })
  const reply = yield* exchange(request, { maxBytes: read.maxBytes, statuses: [200, ...REDIRECTS] })
  const next = reply.status === 200 ? null : URL.parse(reply.headers["location"] ?? "", url)
  if (reply.status !== 200 && next === null) {
    return yield* new UpstreamFailure({ reason: "malformed", detail: `HTTP ${reply.status}` })
  }
  return next === null ? reply : yield* web.get(next.href, read)
}, withDeadline(read.deadline))

const failed = (reason: Extract<DocumentRead, { _tag: "Failed" }>["reason"]): DocumentRead => ({
  _tag: "Failed",
  reason
})

const reasonOf = (failure: UpstreamFailure | UrlRefused): DocumentRead =>
  failure._tag === "UrlRefused"
    ? failed("refused")
    : failed(failure.reason === "rate_limited" ? "unreachable" : failure.reason)

const contentOf = ({ headers, text }: Reply, gateways: Gateways): DocumentRead => {
  const resolve = (address: string) => documentUrl(address, gateways)?.url ?? null
  const document = JSON_TYPE.test(headers["content-type"] ?? "") ? readDocument(text, resolve) : null
  return document === null ? failed("malformed") : { _tag: "Read", document }
}

const makeRead = Effect.fnUntraced(function* (gateways: Gateways) {
  const web = yield* PublicWeb
  const exchange = yield* makeExchange
  const replyOf = ({ isGateway, url }: DocumentUrl): Effect.Effect<Reply, UpstreamFailure | UrlRefused> =>
    isGateway ? readGateway(exchange, web, url) : web.get(url, read)

  return (uri: string): Effect.Effect<DocumentRead> => {
    const url = documentUrl(uri, gateways)
    return url === null
      ? Effect.succeed(failed("refused"))
      : Effect.match(replyOf(url), { onFailure: reasonOf, onSuccess: (reply) => contentOf(reply, gateways) })
  }
})

/** Counts of reads, for the state of the source. */
interface ReadCounts {
  readAtMs: number | null
  failures: number
}

const reportSource = (counts: ReadCounts) =>
  Effect.flatMap(SourceMonitor, ({ report }) =>
    report(TOKEN_METADATA, () => ({
      observedAtMs: counts.readAtMs,
      status: counts.readAtMs === null ? "unavailable" : counts.failures >= MOST_FAILURES ? "stale" : "known",
      ...(counts.readAtMs === null && { reason: "not_captured" as const }),
      ...(counts.readAtMs !== null && counts.failures >= MOST_FAILURES && { reason: "source_stale" as const })
    }))
  )

/** Reads one document after the other while any is queued. */
const makeReader = (cache: DocumentCache, queued: Latch.Latch, counts: ReadCounts) =>
  Effect.fnUntraced(function* (readUri: (uri: string) => Effect.Effect<DocumentRead>) {
    yield* queued.await
    const uri = cache.begin()
    if (uri === null) {
      queued.closeUnsafe()
      return
    }
    const end = (result: DocumentRead) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        cache.finish(uri, result, nowMs)
        counts.failures = result._tag === "Read" ? 0 : counts.failures + 1
        counts.readAtMs = result._tag === "Read" ? nowMs : counts.readAtMs
      })
    const result = yield* readUri(uri).pipe(
      // A defect or an interruption must not leave the document waiting for ever.
      Effect.onError(() => end(failed("unreachable")))
    )
    yield* end(result)
    if (result._tag === "Failed") {
      yield* noteFailure(TOKEN_METADATA, `A metadata document could not be read: ${result.reason}`)
    }
  })

const make = Effect.fnUntraced(function* (given: Partial<Gateways>) {
  const { arweave, capacity, ipfs, kept } = yield* settings
  const cache = new DocumentCache(capacity, { keptMs: Duration.toMillis(kept), failedMs: FAILED_MS })
  const queued = yield* Latch.make()
  const counts: ReadCounts = { readAtMs: null, failures: 0 }
  const clock = yield* Clock.Clock
  const readUri = yield* makeRead({ ipfs, arweave, ...given })
  yield* reportSource(counts)
  const readNext = makeReader(cache, queued, counts)
  yield* Effect.forEach(
    Array.from({ length: CONCURRENCY }),
    () =>
      Effect.forever(readNext(readUri)).pipe(
        keepRunning("Reading metadata documents", TOKEN_METADATA),
        Effect.forkScoped
      ),
    { discard: true }
  )
  return {
    documentOf: (uri: string, requester: RequesterId) => {
      const state = cache.use(uri, requester, clock.currentTimeMillisUnsafe())
      queued.openUnsafe()
      return state
    },
    knownOf: (uri: string) => cache.peek(uri)
  }
})

/**
 * Reads documents where `TOKEN_METADATA` is `on`, and nothing where it is `off`. Four are read at a time, each within ten
 * seconds and 128 KiB. The given gateways replace the gateways of the settings.
 */
export const layer = (
  given: Partial<Gateways> = {}
): Layer.Layer<never, Config.ConfigError, HttpClient.HttpClient | PublicWeb> =>
  Layer.unwrap(
    Effect.map(settings, ({ mode }) => (mode === "on" ? Layer.effect(DocumentReader, make(given)) : Layer.empty))
  )
