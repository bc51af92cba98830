import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { TokenFactsAnswer } from "../../../src/api/Tokens.ts"
import { call, running } from "../../support/http.ts"
import { AUTHORITY, BROKEN, eventually, makeTokenWorld, NOTHING, TOKEN, tokensOver } from "../../support/tokens.ts"
import { answered, assertInvalid, assertRefused, facts, keys, known, unknown } from "./tokenCalls.ts"

const world = makeTokenWorld()

layer(running({ keys, tokens: tokensOver(world) }))("GET /api/v1/tokens/{chain}/{address}", (it) => {
  it.effect("answers 503 with Retry-After while the token is loaded, free of charge, and then the facts", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1000)
      const cold = yield* facts(TOKEN, { key: "b" })
      assertRefused(cold, 503, "data_unavailable")
      assert.strictEqual(cold.headers.get("retry-after"), "1")
      assert.strictEqual(cold.headers.get("x-ratelimit-cost"), "0")
      const answer = yield* eventually(facts(TOKEN, { key: "b" }), answered)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.strictEqual(answer.headers.get("x-ratelimit-budget"), "rest")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
      yield* Schema.decodeUnknownEffect(Schema.fromJsonString(TokenFactsAnswer))(answer.text)
      assert.deepStrictEqual(JSON.parse(answer.text), {
        data: {
          token: { chain: "solana", address: TOKEN, symbol: "FERN", name: "Fern Network", decimals: 6, imageUrl: null },
          supply: "1000000000000",
          tokenProgram: "token-2022",
          mintAuthority: AUTHORITY,
          freezeAuthority: null,
          authoritiesKnown: true,
          extensions: ["transfer_fee"],
          priceUsd: known("0.3", "usd"),
          priceSol: known("0.002", "sol"),
          marketCapUsd: known("300000", "usd"),
          liquidityUsd: {
            ...known("670", "usd"),
            status: "partial",
            coverage: { complete: false, reason: "mark_unknown" }
          },
          volume24hUsd: unknown("usd", "not_captured"),
          holders: unknown("count", "not_captured"),
          firstSeenAtMs: null,
          createdAtMs: null
        },
        meta: {
          requestId: answer.headers.get("x-request-id"),
          methodVersion: "public-token-v1",
          chain: "solana",
          observedAtMs: 1000,
          status: "partial",
          coverage: { complete: false, reason: "mark_unknown" }
        }
      })
    })
  )

  it.effect("answers 404 token_not_found for a mint that does not exist on chain, which costs a unit", () =>
    Effect.gen(function* () {
      const answer = yield* eventually(facts(NOTHING, { key: "c" }), answered)
      assertRefused(answer, 404, "token_not_found")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
    })
  )

  it.effect("answers 503 data_unavailable for a malformed mint account", () =>
    Effect.gen(function* () {
      const answer = yield* eventually(facts(BROKEN, { key: "d" }), ({ text }) => text.includes("malformed"))
      assertRefused(answer, 503, "data_unavailable")
    })
  )
})

const paths = ["", "/risk", "/liquidity"]

layer(running({ keys, tokens: tokensOver(makeTokenWorld()) }))("every token read", (it) => {
  for (const path of paths) {
    it.effect(`${path} names a chain that is not served before it reads the address`, () =>
      Effect.gen(function* () {
        for (const chain of ["base", "Solana", "ethereum", "%20"]) {
          assertRefused(yield* call(`/api/v1/tokens/${chain}/${TOKEN}${path}`), 400, "unsupported_chain")
        }
        const evm = "0x4200000000000000000000000000000000000006"
        const answer = yield* call(`/api/v1/tokens/base/${evm}${path}`)
        assertRefused(answer, 400, "unsupported_chain")
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
      })
    )

    it.effect(`${path} rejects a malformed address`, () =>
      Effect.gen(function* () {
        for (const address of [
          "abc",
          "0x4200000000000000000000000000000000000006",
          TOKEN.slice(1),
          `${TOKEN}1`,
          "%C3%A9"
        ]) {
          assertInvalid(
            yield* call(`/api/v1/tokens/solana/${address}${path}`, { key: "b" }),
            "path",
            "address",
            "format"
          )
        }
      })
    )

    it.effect(`${path} refuses unknown and repeated parameters`, () =>
      Effect.gen(function* () {
        const answer = yield* call(`/api/v1/tokens/solana/${TOKEN}${path}?window=1h&window=1h`, { key: "c" })
        assertInvalid(answer, "query", "window", "unknown")
      })
    )
  }
})
