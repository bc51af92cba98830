import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createClient } from "../../src/client/createClient.ts"
import { FathomError } from "../../src/client/FathomError.ts"
import { SOL } from "../../src/domain/Address.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { running, secretOf } from "../support/http.ts"
import { COLD, engineOver, LONELY, makeMarket, TOKEN } from "../support/market.ts"
import { until } from "../support/sse.ts"

const pair = { inputMint: TOKEN, outputMint: SOL }
const once = { tries: 1 }

const clientWith = (options: Partial<Parameters<typeof createClient>[0]> = {}) =>
  Effect.map(Listening, ({ url }) => createClient({ baseUrl: url, key: secretOf("a"), retry: once, ...options }))

const failure = (call: () => Promise<unknown>) =>
  Effect.promise(async () => {
    try {
      await call()
    } catch (error) {
      return error
    }
    throw new Error("the call did not fail")
  })

const html = () => Promise.resolve(new Response("<h1>hello</h1>", { status: 404 }))
const odd = () => Promise.resolve(Response.json({ hello: 1 }))

const errorOf = (error: unknown): FathomError => {
  assert.instanceOf(error, FathomError)
  return error
}

layer(running({ engine: engineOver(makeMarket()) }))("the promise client", (it) => {
  it.effect("gives a file as its bytes", () =>
    Effect.gen(function* () {
      const client = yield* clientWith({
        fetch: () => Promise.resolve(new Response("a,b\n", { headers: { "content-type": "text/csv" } }))
      })
      const parts: Array<string> = []
      yield* Effect.promise(async () => {
        for await (const part of client.exports.day({
          params: { dataset: "trades", file: "2026-11-27.csv" },
          query: {}
        })) {
          parts.push(new TextDecoder().decode(part))
        }
      })
      assert.strictEqual(parts.join(""), "a,b\n")
    })
  )

  it.effect("returns plain data with amounts as bigint", () =>
    Effect.gen(function* () {
      const client = yield* clientWith()
      const quote = yield* Effect.promise(() =>
        client.spot.quote({ query: { ...pair, amount: 1_000_000_000n, venues: ["pumpswap"] } })
      )
      assert.strictEqual(quote.outAmount, 495_000_000n)
    })
  )

  it.effect("returns usage as pages of rows, or as text", () =>
    Effect.gen(function* () {
      const client = yield* clientWith()
      yield* Effect.promise(() => client.account.key())
      const page = yield* Effect.promise(() => client.account.usage())
      assert.include(typeof page === "string" ? [] : page.data.map(({ operation }) => operation), "account.key")
      const text = yield* Effect.promise(() => client.account.usage({ query: { format: "csv" } }))
      assert.match(String(text), /^day,keyId,.*\r\n1970-01-01,key_a,/u)
    })
  )

  it.effect("needs no argument for operations that take none", () =>
    Effect.gen(function* () {
      const client = yield* clientWith()
      const { name } = yield* Effect.promise(() => client.system.describe())
      assert.strictEqual(name, "fathom")
    })
  )

  it.effect("takes addresses as plain strings, and rejects malformed ones before sending anything", () =>
    Effect.gen(function* () {
      const sent: Array<unknown> = []
      const client = yield* clientWith({
        fetch: (input) => {
          sent.push(input)
          return Promise.reject(new Error("nothing should be sent"))
        }
      })
      const error = yield* failure(() => client.spot.quote({ query: { ...pair, inputMint: "no mint", amount: 1n } }))
      assert.strictEqual(errorOf(error).code, "invalid_call")
      assert.deepStrictEqual(sent, [])
    })
  )

  it.effect("throws the problem of the service, with its Retry-After", () =>
    Effect.gen(function* () {
      const client = yield* clientWith()
      const none = errorOf(
        yield* failure(() => client.spot.quote({ query: { inputMint: LONELY, outputMint: SOL, amount: 5n } }))
      )
      assert.strictEqual(none.status, 404)
      assert.strictEqual(none.code, "no_route")
      assert.match(none.requestId ?? "", /^[0-9a-f-]{36}$/)
      assert.isNull(none.retryAfterMs)
      const cold = errorOf(
        yield* failure(() => client.spot.quote({ query: { inputMint: COLD, outputMint: SOL, amount: 5n } }))
      )
      assert.strictEqual(cold.code, "state_cold")
      assert.isAtLeast(cold.retryAfterMs ?? 0, 1000)
    })
  )

  it.effect("throws the details of a rejected key", () =>
    Effect.gen(function* () {
      const client = yield* clientWith({ key: "svc_live_nobody" })
      const error = errorOf(yield* failure(() => client.tokens.prices({ payload: { mints: [SOL] } })))
      assert.deepStrictEqual([error.status, error.code], [401, "invalid_api_key"])
    })
  )

  it.effect("reports a service that is not Fathom", () =>
    Effect.gen(function* () {
      const first = yield* clientWith({ fetch: html })
      const second = yield* clientWith({ fetch: odd })
      const lost = yield* clientWith({ fetch: () => Promise.reject(new TypeError("cut")) })
      const errors = yield* Effect.forEach([first, second, lost], (client) => failure(() => client.system.live()))
      assert.deepStrictEqual(
        errors.map((error) => [errorOf(error).code, errorOf(error).status]),
        [
          ["invalid_answer", 404],
          ["invalid_answer", 200],
          ["connection_lost", null]
        ]
      )
    })
  )

  it.effect("aborts a call with the reason of its signal", () =>
    Effect.gen(function* () {
      let cut = false
      const client = yield* clientWith({
        fetch: (_, init) =>
          new Promise((__, reject) => {
            init?.signal?.addEventListener("abort", () => {
              cut = true
              reject(new Error("aborted"))
            })
          })
      })
      const controller = new AbortController()
      const reason = new Error("changed my mind")
      const late = failure(() => client.system.live({}, { signal: controller.signal }))
      setTimeout(() => controller.abort(reason), 5)
      assert.strictEqual(yield* late, reason)
      assert.isTrue(cut)
      assert.strictEqual(yield* failure(() => client.system.live({}, { signal: controller.signal })), reason)
    })
  )
})

layer(running({ engine: engineOver(makeMarket()) }))("the quote stream of the promise client", (it) => {
  const call = { query: { ...pair, amount: 1_000_000n, intervalMs: 250, durationSeconds: 60 } }

  it.effect("yields typed frames, and releases the connection when the loop is left", () =>
    Effect.gen(function* () {
      let isOpen = false
      const client = yield* clientWith({
        fetch: (input, init) => {
          isOpen = true
          init?.signal?.addEventListener("abort", () => (isOpen = false))
          return fetch(input, init)
        }
      })
      const heard = yield* Effect.promise(async () => {
        const frames: Array<string> = []
        for await (const frame of client.spot.stream(call)) {
          frames.push(frame.event)
          if (frame.event === "quote") {
            assert.strictEqual(frame.data.quote.outAmount, 1_979_779n)
            break
          }
        }
        return frames
      })
      assert.deepStrictEqual(heard, ["open", "quote"])
      yield* until("the request is cut", () => !isOpen)
    })
  )

  it.effect("throws when the stream is rejected, like any call", () =>
    Effect.gen(function* () {
      const client = yield* clientWith()
      const error = yield* failure(async () => {
        for await (const _ of client.spot.stream({ query: { ...call.query, inputMint: LONELY } })) {
          throw new Error("a frame")
        }
      })
      assert.strictEqual(errorOf(error).code, "no_route")
    })
  )

  it.effect("ends with the reason of the signal", () =>
    Effect.gen(function* () {
      const client = yield* clientWith()
      const controller = new AbortController()
      const reason = new Error("enough")
      const error = yield* failure(async () => {
        for await (const _ of client.spot.stream(call, { signal: controller.signal })) {
          controller.abort(reason)
        }
      })
      assert.strictEqual(error, reason)
    })
  )
})
