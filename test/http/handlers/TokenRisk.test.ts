import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { TokenRiskAnswer } from "../../../src/api/Tokens.ts"
import { running } from "../../support/http.ts"
import { BROKEN, eventually, makeTokenWorld, NOTHING, PLAIN, TOKEN, tokensOver } from "../../support/tokens.ts"
import { assertRefused, keys, risk } from "./tokenCalls.ts"

const codes = [
  "mint_authority_active",
  "freeze_authority_active",
  "concentrated_top10",
  "developer_holding",
  "developer_sold_all",
  "sniper_holding",
  "insider_holding",
  "bundled_holding",
  "suspected_wash_volume",
  "lp_not_burned"
]

const DAY = 86_400_000

const risky = makeTokenWorld()

layer(running({ keys, tokens: tokensOver(risky) }))("GET /api/v1/tokens/{chain}/{address}/risk", (it) => {
  it.effect("answers an all-unknown projection while there is no audit, and then what the mint account proves", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1000)
      const first = yield* risk(TOKEN, { key: "b" })
      assert.strictEqual(first.status, 200, first.text)
      assert.deepStrictEqual(first.json("data.facts"), Object.fromEntries(codes.map((code) => [code, null])))
      const answer = yield* eventually(
        risk(TOKEN, { key: "b" }),
        (answer) => answer.json("data.facts.mint_authority_active") !== null
      )
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
      yield* Schema.decodeUnknownEffect(Schema.fromJsonString(TokenRiskAnswer))(answer.text)
      const body: Record<string, unknown> = JSON.parse(answer.text)
      assert.deepStrictEqual(Object.keys(body), ["data", "meta"])
      assert.deepStrictEqual(body["meta"], {
        requestId: answer.headers.get("x-request-id"),
        methodVersion: "public-token-v1",
        chain: "solana"
      })
      assert.deepInclude(answer.json("data"), { chain: "solana", address: TOKEN, modelVersion: "public-risk-v1" })
      assert.deepStrictEqual(answer.json("data.facts"), {
        ...Object.fromEntries(codes.map((code) => [code, null])),
        mint_authority_active: true,
        freeze_authority_active: false
      })
      assert.deepStrictEqual(answer.json("data.tags.0"), {
        code: "mint_authority_active",
        state: "present",
        severity: "warning",
        value: true,
        unit: "boolean",
        status: "known",
        source: "mint-account",
        methodVersion: "public-token-v1",
        observedAtMs: 1000,
        staleAfterMs: DAY,
        coverage: { complete: true, reason: null }
      })
      assert.deepStrictEqual(
        codes.map((_, i) => answer.json(`data.tags.${i}.code`)),
        codes
      )
      assert.notMatch(answer.text, /score|safe/iu)
    })
  )

  it.effect("forgets an authority a day after it was observed, although it is asked for all the time", () =>
    Effect.gen(function* () {
      risky.chain.withheld.add(PLAIN)
      yield* TestClock.setTime(2000)
      yield* risk(PLAIN, { key: "c" })
      risky.chain.tell([PLAIN])
      yield* eventually(risk(PLAIN, { key: "c" }), (answer) => answer.json("data.tags.0.status") === "known")
      for (const wait of [DAY / 2, DAY / 2 - 20_000, 20_000]) {
        yield* TestClock.adjust(wait)
        assert.strictEqual((yield* risk(PLAIN, { key: "c" })).json("data.facts.mint_authority_active"), false)
      }
      yield* TestClock.adjust(1)
      const answer = yield* risk(PLAIN, { key: "c" })
      assert.strictEqual(answer.status, 200)
      assert.isNull(answer.json("data.facts.mint_authority_active"))
      assert.deepInclude(answer.json("data.tags.1"), {
        state: "unknown",
        value: null,
        status: "stale",
        observedAtMs: 2000,
        coverage: { complete: false, reason: "source_stale" }
      })
    })
  )

  it.effect("answers 200 with unknowns only for an account that is not a mint", () =>
    Effect.gen(function* () {
      const answer = yield* Effect.andThen(risk(NOTHING, { key: "d" }), risk(NOTHING, { key: "d" }))
      assert.strictEqual(answer.status, 200)
      assert.isTrue(codes.every((_, i) => answer.json(`data.tags.${i}.state`) === "unknown"))
    })
  )

  it.effect("answers 503 data_unavailable when the snapshot is malformed, free of charge", () =>
    Effect.gen(function* () {
      const answer = yield* eventually(risk(BROKEN, { key: "e" }), ({ status }) => status !== 200)
      assertRefused(answer, 503, "data_unavailable")
      assert.strictEqual(answer.headers.get("retry-after"), "1")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
      assert.notInclude(answer.text, "authority")
    })
  )

  it.effect("refuses a URL of more than 8 KiB", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* risk(`${TOKEN}?x=${"1".repeat(8192)}`)).status, 414)
    })
  )
})
