import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { TokenBatchAnswer } from "../../../src/api/TokenBatch.ts"
import { call, running } from "../../support/http.ts"
import { at } from "../../quotes/toyChain.ts"
import { BROKEN, eventually, makeTokenWorld, NOTHING, TOKEN, tokensOver } from "../../support/tokens.ts"
import { assertInvalid, facts, keys } from "./tokenCalls.ts"

const ask = (addresses: unknown, key = "b") =>
  call("/api/v1/tokens", {
    method: "POST",
    key,
    body: JSON.stringify({ addresses }),
    headers: { "content-type": "application/json" }
  })
const list = (query: string, key = "c") => call(`/api/v1/tokens?${query}`, { key })

const isLoaded = (answer: { readonly text: string }) => !/"(?:loading|deferred)"/u.test(answer.text)

layer(running({ keys, tokens: tokensOver(makeTokenWorld()) }))("facts of several tokens", (it) => {
  it.effect("come in the order of the request, with a state where there are no facts", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1000)
      const cold = yield* ask([NOTHING, TOKEN])
      assert.strictEqual(cold.status, 200, cold.text)
      assert.deepInclude(cold.json("data.1"), { address: TOKEN, state: "loading", facts: null })
      const answer = yield* eventually(ask([NOTHING, TOKEN, BROKEN]), isLoaded)
      const { data, meta, nextCursor } = Schema.decodeUnknownSync(Schema.fromJsonString(TokenBatchAnswer))(answer.text)
      assert.deepStrictEqual(
        data.map(({ address, retryAfterMs, state }) => [address, state, retryAfterMs]),
        [
          [NOTHING, "not_found", null],
          [TOKEN, "found", null],
          [BROKEN, "malformed", null]
        ]
      )
      const alone = yield* facts(TOKEN, { key: "d" })
      assert.deepStrictEqual(answer.json("data.1.facts"), alone.json("data"))
      assert.deepInclude(meta, { methodVersion: "public-token-v1", observedAtMs: 1000, status: "partial" })
      assert.isNull(nextCursor)
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
      const query = yield* list(`addresses=${[NOTHING, TOKEN, BROKEN].join(",")}`)
      assert.deepStrictEqual(query.json("data"), answer.json("data"))
    })
  )

  it.effect("does not lose status to a mint that does not exist", () =>
    Effect.gen(function* () {
      const answer = yield* eventually(ask([NOTHING]), ({ text }) => text.includes("not_found"))
      assert.deepInclude(answer.json("meta"), { status: "known", coverage: { complete: true, reason: null } })
    })
  )

  it.effect("are refused with the name of the field", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 101 }, (_, i) => at(i + 1))
      assert.strictEqual((yield* list(`addresses=${many.slice(1).join(",")}`, "e")).status, 200)
      assertInvalid(yield* list(`addresses=${many.join(",")}`, "e"), "query", "addresses", "too_long")
      assertInvalid(yield* list("", "e"), "query", "addresses", "missing")
      assertInvalid(yield* list(`addresses=${TOKEN},${TOKEN}`, "e"), "query", "addresses", "duplicate")
      assertInvalid(yield* list(`addresses=${TOKEN}&chain=base`, "e"), "query", "chain", "unknown")
      assertInvalid(yield* ask(many, "f"), "body", "addresses", "too_long")
      assertInvalid(yield* ask([TOKEN, "x"], "f"), "body", "addresses.1", "format")
      assertInvalid(yield* ask([TOKEN, TOKEN], "f"), "body", "addresses", "duplicate")
    })
  )
})
