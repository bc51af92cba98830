import { Clock, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { UsageStore } from "../../access/usage/UsageStore.ts"
import { Api } from "../../api/Api.ts"
import { retryAfter } from "../../api/errors/Problem.ts"
import {
  type DataUnavailable,
  LimiterUnavailable,
  PoolNotFound,
  type RateLimited,
  TokenNotFound
} from "../../api/errors/problems.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { Meter } from "../../api/middleware/Metering.ts"
import { SecretSource } from "../../domain/randomText.ts"
import { refusals, type Rejection } from "../../live/liveSessions.ts"
import { PAID_MS } from "../../live/market/charges.ts"
import { MarketSessions } from "../../live/market/MarketSessions.ts"
import { costOf, type Ending, type Terms } from "../../live/market/Topic.ts"
import { admittedSession } from "../middleware/sessionCookie.ts"
import { Settings } from "../Settings.ts"
import { limited, unavailable } from "../problems.ts"
import { marketEvents } from "../streams/marketStream.ts"
import { StreamLimits } from "../streams/StreamLimits.ts"
import { newStreamId } from "./liveSession.ts"

/** Name of the only subscription of a stream. */
const SUBSCRIPTION = "0"

type StreamTerms = Extract<Terms, { readonly channel: "candles" | "liquidity" | "trades" }>

type Problem = DataUnavailable | LimiterUnavailable | RateLimited

/** The error of a stream whose subscription ended before its first frame. */
const problemOf = ({ code, message, retryAfterMs }: Ending): Problem => {
  switch (code) {
    case "rate_limited":
      return limited("rest", message, retryAfterMs ?? undefined)
    case "limiter_unavailable":
      return new LimiterUnavailable()
    default:
      return retryAfterMs === null || retryAfterMs === undefined
        ? unavailable(message)
        : retryAfter(unavailable(message), retryAfterMs / 1000)
  }
}

const rejected = ({ code, reason }: Rejection): Problem =>
  code === refusals.full.code
    ? limited("stream", "This process has no room for more live connections: try again.")
    : unavailable(`The stream cannot be opened: ${reason}.`)

const placeOf = (id: string) => {
  const colon = id.indexOf(":")
  return { streamId: id.slice(0, colon), seq: Number(id.slice(colon + 1)) }
}

const notFoundOf =
  ({ pool }: { readonly pool?: string }) =>
  () =>
    pool === undefined ? new TokenNotFound() : new PoolNotFound()

interface Call<E> {
  readonly notFound: (message: string) => E
  readonly terms: StreamTerms
  readonly durationSeconds: number | undefined
  readonly lastEventId: string | undefined
  readonly request: HttpServerRequest.HttpServerRequest
}

const handlers = HttpApiBuilder.group(
  Api,
  "marketStreams",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* MarketSessions
    const streams = yield* StreamLimits
    const settings = yield* Settings
    const usage = yield* UsageStore
    const random = yield* SecretSource
    const clock = yield* Clock.Clock
    const now = () => clock.currentTimeMillisUnsafe()

    const open = Effect.fnUntraced(function* <E>({ durationSeconds, lastEventId, notFound, request, terms }: Call<E>) {
      const key = yield* CurrentKey
      // The request pays for the first minute.
      yield* (yield* Meter).raiseTo(costOf(terms))
      const holder = { key, accountId: key.accountId, session: admittedSession(request, settings, key) }
      const slot = yield* streams.acquire(holder)
      const streamId = newStreamId(random)
      const { began, response, wire } = yield* marketEvents(streamId, yield* Effect.withFiber(Effect.succeed))
      const grant = {
        keyId: key.id,
        session: holder.session,
        accountId: key.accountId,
        control: true,
        streamId,
        sockets: null,
        plan: key.plan,
        paidUntilMs: now() + PAID_MS
      }
      const admission = yield* sessions.enter(grant, wire)
      if (admission._tag === "Refused") {
        return yield* Effect.fail(rejected(admission.refusal))
      }
      const { connection } = admission
      yield* Effect.addFinalizer(() => sessions.closed(connection))
      wire.onPing = (nowMs) => connection.pong(nowMs)
      const resume = lastEventId === undefined ? {} : { resume: placeOf(lastEventId) }
      sessions.subscribe(streamId, { op: "subscribe", id: SUBSCRIPTION, ...terms, ...resume }, now())
      const ended = yield* began
      if (ended !== null) {
        return yield* Effect.fail(ended.code === "not_found" ? notFound(ended.message) : problemOf(ended))
      }
      slot.attach({ close: (ending) => wire.finish(ending, "The service ended the stream.") }, now())
      const stop = usage.open(
        { id: key.id, accountId: key.accountId },
        `marketStreams.${terms.channel}`,
        () => wire.sentBytes
      )
      yield* Effect.addFinalizer(() => Effect.sync(stop))
      if (durationSeconds !== undefined) {
        const complete = Effect.sync(() => wire.finish("completed", "The requested time is over."))
        yield* Effect.forkScoped(Effect.delay(complete, durationSeconds * 1000))
      }
      return response
    })

    return handlers.handleAll({
      trades: ({ headers, query: { durationSeconds, ...terms }, request }) =>
        open({
          terms: { channel: "trades", ...terms },
          durationSeconds,
          lastEventId: headers["last-event-id"],
          request,
          notFound: unavailable
        }),
      liquidity: ({ headers, query: { durationSeconds, ...terms }, request }) =>
        open({
          terms: { channel: "liquidity", ...terms },
          durationSeconds,
          lastEventId: headers["last-event-id"],
          request,
          notFound: notFoundOf(terms)
        }),
      candles: ({ headers, query: { durationSeconds, ...terms }, request }) =>
        open({
          terms: { channel: "candles", ...terms },
          durationSeconds,
          lastEventId: headers["last-event-id"],
          request,
          notFound: notFoundOf(terms)
        })
    })
  })
)

export const layer = handlers.pipe(Layer.provide(StreamLimits.layer))
