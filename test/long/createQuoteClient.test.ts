/** The small client for quotes, against the service and against a scripted one. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createClient } from "../../src/client/createClient.ts"
import { createQuoteClient } from "../../src/client/createQuoteClient.ts"
import { FathomError } from "../../src/client/FathomError.ts"
import { SOL } from "../../src/domain/Address.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { keyOf, running, secretOf } from "../support/http.ts"
import { engineOver, LONELY, makeMarket, TOKEN } from "../support/market.ts"

const trade = { inputMint: SOL, outputMint: TOKEN, amount: 1_000_000n }

/** What a promise is rejected with. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail("it did not fail"),
    (failure: unknown) => failure
  )

/** A `fetch` that gives these answers in turn, and counts its calls. */
const scripted = (...answers: ReadonlyArray<() => Response>) => {
  const seen: Array<string> = []
  const send: typeof fetch = (url) => {
    const answer = answers[seen.length]
    seen.push(String(url))
    return answer === undefined ? Promise.reject(new TypeError("fetch failed")) : Promise.resolve(answer())
  }
  return { send, seen }
}

const busy = () =>
  Response.json(
    { error: { code: "rate_limited", message: "Too many." }, requestId: "r" },
    { status: 429, headers: { "retry-after": "0" } }
  )

layer(running({ keys: [keyOf("a")], engine: engineOver(makeMarket()) }))("a client for quotes", (it) => {
  it.effect("answers what the whole client answers", () =>
    Effect.gen(function* () {
      const { url } = yield* Listening
      const options = { baseUrl: `${url}/`, key: secretOf("a") }
      const query = { ...trade, outputDecimals: 6, venues: ["pumpswap"] }
      const [small, whole] = yield* Effect.promise(() =>
        Promise.all([
          createQuoteClient(options).quote(query),
          createClient(options).spot.quote({ query: { ...query, venues: ["pumpswap"] } })
        ])
      )
      const steady = ({ outAmount, route }: Pick<typeof small, "outAmount" | "route">) => ({ outAmount, route })
      assert.deepStrictEqual<object>(steady(small), steady(whole))
      assert.sameMembers(Object.keys(small), Object.keys(whole))
      for (const [name, value] of Object.entries(whole)) {
        assert.strictEqual(typeof Reflect.get(small, name), typeof value, name)
      }
    })
  )

  it.effect("fails as the whole client fails", () =>
    Effect.gen(function* () {
      const { url } = yield* Listening
      for (const [key, query] of [
        ["wrong", trade],
        [secretOf("a"), { ...trade, outputMint: LONELY }],
        [secretOf("a"), { ...trade, amount: -1n }]
      ] as const) {
        const options = { baseUrl: url, key, retry: { tries: 1 } }
        const small = yield* Effect.promise(() => failureOf(createQuoteClient(options).quote(query)))
        assert.instanceOf(small, FathomError)
        if (query.amount > 0n) {
          const whole = yield* Effect.promise(() => failureOf(createClient(options).spot.quote({ query })))
          assert.instanceOf(whole, FathomError)
          assert.deepStrictEqual([small.code, small.status, small.message], [whole.code, whole.status, whole.message])
        } else {
          assert.deepInclude(small.details[0], { in: "query", field: "amount" })
        }
      }
    })
  )
})

describe("a client for quotes", () => {
  const options = { baseUrl: "http://fathom.test", key: "k", retry: { firstDelayMs: 0 } }

  it("repeats what may pass, at most four times, and keeps the cause of a lost connection", async () => {
    const { seen, send } = scripted(busy, busy)
    const failure = await failureOf(createQuoteClient({ ...options, fetch: send }).quote(trade))
    assert.lengthOf(seen, 4)
    assert.strictEqual(
      seen[0],
      `http://fathom.test/api/v1/spot/quote?inputMint=${SOL}&outputMint=${TOKEN}&amount=1000000`
    )
    assert.instanceOf(failure, FathomError)
    assert.deepInclude(failure, { code: "connection_lost", status: null })
    assert.instanceOf(failure.cause, TypeError)
  })

  it("does not repeat a refusal, and names an answer that is no quote", async () => {
    const refused = scripted(() => Response.json({ error: { code: "no_route", message: "None." } }, { status: 404 }))
    assert.deepInclude(await failureOf(createQuoteClient({ ...options, fetch: refused.send }).quote(trade)), {
      code: "no_route",
      status: 404
    })
    assert.lengthOf(refused.seen, 1)
    for (const answer of [
      () => Response.json({}),
      () => new Response("<html>"),
      () => new Response("?", { status: 500 })
    ]) {
      const failure = await failureOf(createQuoteClient({ ...options, fetch: scripted(answer).send }).quote(trade))
      assert.deepInclude(failure, { code: "invalid_answer" })
    }
  })

  it("ends with the reason of its signal", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const { send } = scripted(busy, busy)
    const asked = createQuoteClient({ ...options, retry: { firstDelayMs: 60_000 }, fetch: send })
    const failure = failureOf(asked.quote(trade, { signal: controller.signal }))
    controller.abort(reason)
    assert.strictEqual(await failure, reason)
  })
})
