import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { PricesAnswer } from "../../../src/api/Tokens.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { at } from "../../quotes/toyChain.ts"
import { running } from "../../support/http.ts"
import { eventually, makeTokenWorld, NOTHING, pools, TOKEN, tokensOver } from "../../support/tokens.ts"
import { assertInvalid, assertRefused, keys, known, post, prices, unknown } from "./tokenCalls.ts"

layer(running({ keys, tokens: tokensOver(makeTokenWorld()) }))("POST /api/v1/prices", (it) => {
  it.effect("answers a row for every mint in the order of the request", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1000)
      const answer = yield* eventually(
        prices([NOTHING, USDC, TOKEN], "b"),
        (answer) => answer.json("data.2.priceUsd.value") !== null
      )
      assert.strictEqual(answer.status, 200, answer.text)
      yield* Schema.decodeUnknownEffect(Schema.fromJsonString(PricesAnswer))(answer.text)
      assert.deepStrictEqual(JSON.parse(answer.text), {
        data: [
          {
            mint: NOTHING,
            priceUsd: unknown("usd", "not_captured"),
            priceSol: unknown("sol", "not_captured"),
            method: "pool_median",
            evidence: null
          },
          {
            mint: USDC,
            priceUsd: known("1", "usd"),
            priceSol: known("0.00666666666666667", "sol"),
            method: "pool_median",
            evidence: { depthUsd: null, path: [] }
          },
          {
            mint: TOKEN,
            priceUsd: known("0.3", "usd"),
            priceSol: known("0.002", "sol"),
            method: "pool_median",
            evidence: {
              depthUsd: "2.985148",
              path: [{ pool: pools.SOL_POOL, fromMint: TOKEN, toMint: SOL }]
            }
          }
        ],
        meta: {
          requestId: answer.headers.get("x-request-id"),
          methodVersion: "public-price-v1",
          chain: "solana",
          observedAtMs: 1000,
          status: "partial",
          coverage: { complete: false, reason: "not_captured" }
        },
        nextCursor: null
      })
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
    })
  )

  it.effect("is null once the chain has been silent, with the time of the last observation", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(11_001)
      const answer = yield* prices([SOL])
      assert.deepStrictEqual(answer.json("data.0.priceUsd"), {
        ...known("150", "usd"),
        value: null,
        status: "stale",
        coverage: { complete: false, reason: "source_stale" }
      })
      assert.strictEqual(answer.json("meta.status"), "stale")
      yield* TestClock.setTime(1000)
    })
  )

  const refusals: ReadonlyArray<readonly [string, string, string, string]> = [
    ["no mints", "{}", "mints", "missing"],
    ["an empty list", `{"mints":[]}`, "mints", "out_of_range"],
    ["mints that are no list", `{"mints":"${TOKEN}"}`, "mints", "type"],
    ["a mint that is no address", `{"mints":["${TOKEN}","x"]}`, "mints.1", "format"],
    ["a mint that is no text", `{"mints":[1]}`, "mints.0", "type"],
    ["a mint twice", `{"mints":["${TOKEN}","${TOKEN}"]}`, "mints", "duplicate"],
    ["101 mints", JSON.stringify({ mints: Array.from({ length: 101 }, () => TOKEN) }), "mints", "too_long"],
    ["an unknown field", `{"mints":["${TOKEN}"],"chain":"solana"}`, "chain", "unknown"],
    ["the field twice", `{"mints":["${TOKEN}"],"mints":[]}`, "mints", "duplicate"],
    ["a list alone", "[]", "", "type"],
    ["no JSON", "{", "", "format"],
    ["no body", "", "", "missing"]
  ]

  for (const [what, body, field, issue] of refusals) {
    it.effect(`refuses ${what} as ${issue}`, () =>
      Effect.gen(function* () {
        assertInvalid(yield* post(body, "c"), "body", field, issue)
      })
    )
  }

  it.effect("takes a hundred mints, in JSON of at most 8 KiB and nothing else", () =>
    Effect.gen(function* () {
      const hundred = Array.from({ length: 100 }, (_, n) => at(100 + n))
      const answer = yield* prices(hundred, "d")
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.json("data.length"), 100)
      const text = JSON.stringify({ mints: [TOKEN] })
      assertRefused(yield* post(text, "d", "text/plain"), 415, "unsupported_media_type")
      assertRefused(yield* post(text.padEnd(8193), "d"), 413, "body_too_large")
      assert.strictEqual((yield* post(text.padEnd(8192), "d")).status, 200)
    })
  )
})
