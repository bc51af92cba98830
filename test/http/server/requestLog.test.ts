import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Logger, Tracer } from "effect"
import { SOL } from "../../../src/domain/Address.ts"
import * as requestLog from "../../../src/http/server/requestLog.ts"
import { call, feed, running, secretOf } from "../../support/http.ts"
import { engineOver, makeMarket, TOKEN } from "../../support/market.ts"

type Line = Readonly<Record<string, unknown>>

const withLog = (share: number, lines: Array<Line>, world: Parameters<typeof running>[0] = {}) => {
  const logger = Logger.make<unknown, void>(({ message }) => {
    if (Array.isArray(message) && message[0] === "Request") {
      lines.push(message[1] as Line)
    }
  })
  return running({ engine: engineOver(makeMarket()), ...world }).pipe(
    Layer.provideMerge(Logger.layer([logger])),
    Layer.provide(Layer.succeed(requestLog.RequestLogShare, share))
  )
}

/** Waits until the server has closed the answers that its clients have read. */
const untilLogged = (lines: ReadonlyArray<Line>, count: number) =>
  Effect.promise(() => new Promise((resolve) => setImmediate(resolve))).pipe(
    Effect.repeat({ until: () => lines.length >= count })
  )

const quote = `/api/v1/spot/quote?inputMint=${SOL}&outputMint=${TOKEN}&amount=1000000`

const all: Array<Line> = []
layer(withLog(1, all))("the request log", (it) => {
  it.effect("has the ids of request and key, operation, status and duration, and no URL or secret", () =>
    Effect.gen(function* () {
      const fast = yield* call(quote)
      yield* untilLogged(all, 1)
      const refused = yield* call(`${quote}&amount=1`)
      yield* untilLogged(all, 2)
      const unkeyed = yield* call("/api/v1/account/key", { key: null })
      yield* untilLogged(all, 3)
      const expected = [
        [fast, "key_a", "spot.quote", 200],
        [refused, "key_a", "spot.quote", 400],
        [unkeyed, null, "account.key", 401]
      ] as const
      expected.forEach(([answer, keyId, operation, status], at) => {
        const { durationMs, ...line } = all[at] ?? {}
        const ids = {
          requestId: answer.headers.get("x-request-id"),
          clientRequestId: null,
          traceId: null,
          spanId: null
        }
        assert.deepStrictEqual(line, { ...ids, keyId, operation, status })
        assert.isAbove(Number(durationMs), 0)
      })
      const text = JSON.stringify(all)
      ;[TOKEN, secretOf("a"), "inputMint"].forEach((hidden) => assert.notInclude(text, hidden))
    })
  )
})

const traced: Array<Line> = []
const spans: Array<Tracer.Span> = []
const tracer = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    spans.push(span)
    return span
  }
})
const tracing = withLog(1, traced).pipe(Layer.provide(Layer.succeed(Tracer.Tracer, tracer)))
layer(tracing)("the request log beside a tracer", (it) => {
  it.effect("shares its ids with the span, the trace of the caller and the headers", () =>
    Effect.gen(function* () {
      const traceId = "0af7651916cd43dd8448eb211c80319c"
      const answer = yield* call("/api/v1", {
        key: null,
        headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01`, "x-client-request-id": "order 7" }
      })
      yield* untilLogged(traced, 1)
      const requestId = answer.headers.get("x-request-id")
      const span = spans.find(({ attributes }) => attributes.get("requestId") === requestId)
      assert.strictEqual(span?.attributes.get("clientRequestId"), "order 7")
      assert.strictEqual(answer.headers.get("x-client-request-id"), "order 7")
      assert.deepInclude(traced[0], { requestId, clientRequestId: "order 7", traceId, spanId: span?.spanId })
      assert.strictEqual(span?.traceId, traceId)
    })
  )
})

const notReady = feed(() => ({ slot: 0, heardAtMs: null, state: "loading" }))

const rare: Array<Line> = []
layer(withLog(Number.MIN_VALUE, rare, { feed: notReady }))("a small share", (it) => {
  it.effect("leaves out a share of the requests, but never an answer of 500 or more", () =>
    Effect.gen(function* () {
      yield* call(quote)
      const failed = yield* call("/readyz", { key: null })
      assert.strictEqual(failed.status, 503)
      yield* untilLogged(rare, 1)
      assert.deepStrictEqual(
        rare.map(({ status }) => status),
        [503]
      )
    })
  )
})

const none: Array<Line> = []
layer(withLog(0, none, { feed: notReady }))("no share", (it) => {
  it.effect("logs nothing, failures included", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call("/readyz", { key: null })).status, 503)
      yield* call("/livez", { key: null })
      assert.isEmpty(none)
    })
  )
})

const read = (settings: Readonly<Record<string, string>>) =>
  Effect.provide(requestLog.settings, ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))

describe("REQUEST_LOG", () => {
  it.effect("is a share from 0 to 1, none unless given", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* read({}), 0)
      assert.strictEqual(yield* read({ REQUEST_LOG: "0.01" }), 0.01)
      for (const bad of ["-1", "1.5", "all"]) {
        assert.include((yield* Effect.flip(read({ REQUEST_LOG: bad }))).message, "REQUEST_LOG")
      }
    })
  )
})
