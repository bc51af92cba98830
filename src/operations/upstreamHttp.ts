/**
 * One request to an upstream over HTTP. Redirects are not followed, bodies are read up to a limit, and requests are not
 * traced. Failures name neither the address nor the headers of a request, which may hold credentials.
 */
import { Clock, Effect, type Stream } from "effect"
import { FetchHttpClient, type Headers, HttpClient, type HttpClientRequest } from "effect/http"
import { boundedText, type UnusableText } from "./boundedText.ts"
import { retryAfterMs } from "./retryAfter.ts"
import { UpstreamFailure } from "./UpstreamFailure.ts"

/** A reply with one of the accepted statuses. */
export interface Reply {
  readonly status: number
  readonly headers: Headers.Headers
  readonly text: string
  /** `Retry-After` in milliseconds, capped; null when there is none. */
  readonly retryAfterMs: number | null
}

/** Which replies a request accepts. */
export interface ReplyRules {
  /** Limit of the body, in bytes. */
  readonly maxBytes: number
  /** Only 200 by default. */
  readonly statuses?: ReadonlyArray<number>
}

/** Sends one request, once. */
export type Exchange = (
  request: HttpClientRequest.HttpClientRequest,
  rules: ReplyRules
) => Effect.Effect<Reply, UpstreamFailure>

const ONLY_OK: ReadonlyArray<number> = [200]

const reasonOf = (status: number): UpstreamFailure["reason"] =>
  status === 429 ? "rate_limited" : status >= 500 || status === 408 ? "unreachable" : "malformed"

/** Reads the bytes of a body. */
export type BodyRead<A> = <E>(bytes: Stream.Stream<Uint8Array, E>) => Effect.Effect<A, E | UnusableText>

/** How many bytes of a failure's body are read. */
const MOST_OF_FAILURE = 65_536

const exchangeOver =
  (client: HttpClient.HttpClient) =>
  <A>(
    request: HttpClientRequest.HttpClientRequest,
    read: BodyRead<A>,
    statuses: ReadonlyArray<number> = ONLY_OK
  ): Effect.Effect<Omit<Reply, "text"> & { readonly body: A }, UpstreamFailure> =>
    Effect.gen(function* () {
      const { headers, status, stream } = yield* client.execute(request)
      const waitMs = retryAfterMs(headers["retry-after"], yield* Clock.currentTimeMillis)
      if (!statuses.includes(status)) {
        // An unread body would keep its connection busy.
        yield* Effect.ignore(boundedText(stream, MOST_OF_FAILURE))
        const retryAfter = waitMs === null || waitMs === 0 ? {} : { retryAfterMs: waitMs }
        return yield* new UpstreamFailure({ reason: reasonOf(status), detail: `HTTP ${status}`, ...retryAfter })
      }
      return { status, headers, body: yield* read(stream), retryAfterMs: waitMs }
    }).pipe(
      Effect.scoped,
      Effect.catchTags({
        HttpClientError: ({ reason }) =>
          Effect.fail(new UpstreamFailure({ reason: "unreachable", detail: reason._tag })),
        UnusableText: ({ detail, isTooLarge }) =>
          Effect.fail(new UpstreamFailure({ reason: "malformed", detail, ...(isTooLarge === true && { isTooLarge }) }))
      }),
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
    )

/** The exchange over the HTTP client in context. */
export const makeExchange: Effect.Effect<Exchange, never, HttpClient.HttpClient> = Effect.map(
  HttpClient.HttpClient,
  (client): Exchange =>
    (request, { maxBytes, statuses }) =>
      Effect.map(
        exchangeOver(client)(request, (bytes) => boundedText(bytes, maxBytes), statuses),
        ({ body, ...reply }) => ({ ...reply, text: body })
      )
)

/**
 * Like `makeExchange`, but reads the body while it arrives. Accepts only status 200. The reader limits the length.
 */
export const makeReadingExchange = Effect.map(
  HttpClient.HttpClient,
  (client) =>
    <A>(request: HttpClientRequest.HttpClientRequest, read: BodyRead<A>): Effect.Effect<A, UpstreamFailure> =>
      Effect.map(exchangeOver(client)(request, read), ({ body }) => body)
)
