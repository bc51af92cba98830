import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { TokenLiquidityAnswer } from "../../../src/api/Tokens.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { running } from "../../support/http.ts"
import { COLD, eventually, makeTokenWorld, NOTHING, pools, TOKEN, tokensOver } from "../../support/tokens.ts"
import { answered, assertInvalid, assertRefused, facts, keys, liquidity } from "./tokenCalls.ts"

layer(running({ keys, tokens: tokensOver(makeTokenWorld()) }))(
  "GET /api/v1/tokens/{chain}/{address}/liquidity",
  (it) => {
    it.effect("answers the deepest pools and the sum of all", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(1000)
        const answer = yield* eventually(liquidity(TOKEN, "", "b"), answered)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.strictEqual(answer.headers.get("x-ratelimit-budget"), "rest")
        yield* Schema.decodeUnknownEffect(Schema.fromJsonString(TokenLiquidityAnswer))(answer.text)
        assert.strictEqual(answer.json("data.token.symbol"), "FERN")
        assert.deepInclude(answer.json("data.totalLiquidityUsd"), { value: "670", status: "partial" })
        assert.deepStrictEqual(answer.json("data.pools.0"), {
          pool: pools.SOL_POOL,
          dex: "raydium-cpmm",
          baseMint: TOKEN,
          quoteMint: SOL,
          baseReserve: "1000000000",
          createdAtMs: null,
          depth2pct: {
            sellQuoteOut: "20101011",
            sellUsd: "3.015151",
            buyBaseOut: "9852456",
            buyUsd: "2.955736",
            reason: null
          },
          volume24hUsd: {
            value: null,
            unit: "usd",
            status: "unavailable",
            observedAtMs: null,
            expiresAtMs: null,
            coverage: { complete: false, reason: "not_captured" }
          },
          quoteReserve: "2000000000",
          liquidityUsd: "600",
          feeBps: 0,
          lpBurnedPct: null,
          stateSlot: 75,
          stateAgeMs: 0
        })
        assert.strictEqual(answer.json("data.pools.length"), 3)
        assert.deepInclude(answer.json("meta"), { methodVersion: "public-liquidity-v1", status: "partial" })
      })
    )

    it.effect("accepts a limit from 1 to 50", () =>
      Effect.gen(function* () {
        const one = yield* eventually(liquidity(TOKEN, "?limit=1", "c"), answered)
        assert.strictEqual(one.json("data.pools.length"), 1)
        assert.strictEqual(one.json("data.totalLiquidityUsd.value"), "670")
        assert.strictEqual((yield* liquidity(TOKEN, "?limit=50", "c")).status, 200)
        assertInvalid(yield* liquidity(TOKEN, "?limit=0", "c"), "query", "limit", "out_of_range")
        assertInvalid(yield* liquidity(TOKEN, "?limit=51", "c"), "query", "limit", "out_of_range")
        assertInvalid(yield* liquidity(TOKEN, "?limit=05", "c"), "query", "limit", "format")
        assertInvalid(yield* liquidity(TOKEN, "?limit=5&limit=5", "c"), "query", "limit", "repeated")
      })
    )

    it.effect("answers 404 for an address that is not a mint, and 503 while pools are not loaded", () =>
      Effect.gen(function* () {
        assertRefused(yield* eventually(liquidity(NOTHING, "", "d"), answered), 404, "token_not_found")
        const answer = yield* Effect.andThen(liquidity(COLD, "", "d"), liquidity(COLD, "", "d"))
        assertRefused(answer, 503, "data_unavailable")
        assert.strictEqual(answer.headers.get("retry-after"), "1")
      })
    )

    it.effect("lets a caller start sixty a minute, not counting other reads", () =>
      Effect.gen(function* () {
        yield* Effect.repeat(liquidity(TOKEN, "", "e"), { times: 59 })
        const answer = yield* liquidity(TOKEN, "", "e")
        assertRefused(answer, 429, "rate_limited")
        assert.deepStrictEqual(answer.json("error.details"), [
          { in: "header", field: "wallet-batch", issue: "out_of_range" }
        ])
        assert.strictEqual(answer.headers.get("retry-after"), "60")
        assert.strictEqual(answer.headers.get("ratelimit"), '"rest";r=60;t=60')
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
        assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "60", "the rest budget has paid for sixty")
        assert.strictEqual((yield* facts(TOKEN, { key: "e" })).status, 200)
        assert.strictEqual((yield* liquidity(TOKEN, "", "f")).status, 200)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* liquidity(TOKEN, "", "e")).status, 200)
      })
    )
  }
)
