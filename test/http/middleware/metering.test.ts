import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { probing } from "../../support/probe.ts"

const RATE_HEADERS = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-ratelimit-budget",
  "x-ratelimit-cost",
  "ratelimit-policy",
  "ratelimit"
]

const rateHeaders = ({ headers }: Answer) => RATE_HEADERS.map((name) => headers.get(name))

const ladder = (rungs: unknown, key: string) =>
  call("/probe/ladder", {
    key,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ rungs })
  })

// Each test has a key of its own, because budgets belong to keys.
const keys = "abcdefghijkl".split("").map((letter) => keyOf(letter))

layer(probing({ keys }))("the budget of a key", (it) => {
  it.effect("is reported exactly in both families of headers", () =>
    Effect.gen(function* () {
      const now = (yield* Clock.currentTimeMillis) / 1000
      const rest = rateHeaders(yield* call("/probe/read", { key: "a" }))
      assert.deepStrictEqual(rest, [
        "120",
        "119",
        String(now + 60),
        "rest",
        "1",
        `"rest";q=120;w=60`,
        `"rest";r=119;t=60`
      ])
      const quote = rateHeaders(yield* call("/probe/quote", { key: "a" }))
      assert.deepStrictEqual(quote, [
        "300",
        "299",
        String(now + 60),
        "quote",
        "1",
        `"quote";q=300;w=60`,
        `"quote";r=299;t=60`
      ])
    })
  )

  it.effect("resets when its oldest unit leaves the window", () =>
    Effect.gen(function* () {
      yield* call("/probe/read", { key: "b" })
      yield* TestClock.adjust("20 seconds")
      const second = yield* call("/probe/read", { key: "b" })
      assert.strictEqual(second.headers.get("ratelimit"), `"rest";r=118;t=40`)
      yield* TestClock.adjust("40 seconds")
      const third = yield* call("/probe/read", { key: "b" })
      assert.strictEqual(third.headers.get("ratelimit"), `"rest";r=118;t=20`)
    })
  )

  it.effect("is spent by invalid requests and by 404s like by any other request", () =>
    Effect.gen(function* () {
      const invalid = yield* call("/probe/read?x=1", { key: "c" })
      assert.strictEqual(invalid.status, 400)
      assert.strictEqual(invalid.headers.get("x-ratelimit-remaining"), "119")
      const missing = yield* call("/probe/fails/no_route", { key: "c" })
      assert.strictEqual(missing.status, 404)
      assert.strictEqual(missing.headers.get("x-ratelimit-remaining"), "118")
      assert.strictEqual(missing.headers.get("x-ratelimit-cost"), "1")
    })
  )

  it.effect("gets back the cost of a 5xx", () =>
    Effect.gen(function* () {
      for (const path of ["/probe/fails/unavailable", "/probe/defect", "/probe/unencodable", "/probe/fails/warming"]) {
        const answer = yield* call(path, { key: "d" })
        assert.isAtLeast(answer.status, 500)
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0", path)
        assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "120", path)
      }
    })
  )

  it.effect("is not charged for a refused key", () =>
    Effect.gen(function* () {
      const refused = yield* call("/probe/perps", { key: "e" })
      assert.strictEqual(refused.status, 403)
      assert.deepStrictEqual(
        rateHeaders(refused),
        RATE_HEADERS.map(() => null)
      )
      const next = yield* call("/probe/read", { key: "e" })
      assert.strictEqual(next.headers.get("x-ratelimit-remaining"), "119")
    })
  )

  it.effect("never asks to wait for longer than the window, whatever the fraction of the second", () =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      yield* TestClock.adjust(1001 - (now % 1000))
      const first = yield* call("/probe/read", { key: "l" })
      assert.strictEqual(first.headers.get("ratelimit"), `"rest";r=119;t=60`)
      yield* Effect.replicateEffect(call("/probe/read", { key: "l" }), 119, { concurrency: 8 })
      const refused = yield* call("/probe/read", { key: "l" })
      assert.strictEqual(refused.headers.get("retry-after"), "60")
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual((yield* call("/probe/read", { key: "l" })).status, 200)
    })
  )

  it.effect("rejects the request that no longer fits, free of charge, and reports when it will fit", () =>
    Effect.gen(function* () {
      yield* Effect.replicateEffect(call("/probe/read", { key: "f" }), 120, { concurrency: 8 })
      yield* TestClock.adjust("1500 millis")
      const now = yield* Clock.currentTimeMillis
      const answer = yield* call("/probe/read", { key: "f" })
      assert.strictEqual(answer.status, 429)
      assert.strictEqual(answer.json("error.code"), "rate_limited")
      assert.strictEqual(answer.json("error.details.0.field"), "rest")
      // 58.5 seconds are left; `Reset` is a whole second, and coming back then must not be too early.
      const reset = Math.ceil((now + 58_500) / 1000)
      const t = Math.ceil((reset * 1000 - now) / 1000)
      assert.deepStrictEqual(rateHeaders(answer), [
        "120",
        "0",
        String(reset),
        "rest",
        "0",
        `"rest";q=120;w=60`,
        `"rest";r=0;t=${t}`
      ])
      assert.strictEqual(answer.headers.get("retry-after"), String(t))
      yield* TestClock.adjust(`${t} seconds`)
      assert.strictEqual((yield* call("/probe/read", { key: "f" })).status, 200)
    })
  )

  it.effect("admits exactly what fits, however many come at once", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.replicateEffect(call("/probe/read", { key: "g" }), 150, {
        concurrency: "unbounded"
      })
      const admitted = answers.filter(({ status }) => status === 200)
      assert.strictEqual(admitted.length, 120)
      const remaining = admitted.map(({ headers }) => Number(headers.get("x-ratelimit-remaining")))
      // Every admitted request saw a state of its own: 119 down to 0.
      assert.sameMembers(
        remaining,
        Array.from({ length: 120 }, (_, at) => at)
      )
      const ids = new Set(answers.map(({ headers }) => headers.get("x-request-id")))
      assert.strictEqual(ids.size, 150)
    })
  )
})

layer(probing({ keys }))("a price that depends on the body", (it) => {
  it.effect("is charged in full and reported in full", () =>
    Effect.gen(function* () {
      const answer = yield* ladder(6, "a")
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "6")
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "294")
    })
  )

  it.effect("is one unit when the body is invalid", () =>
    Effect.gen(function* () {
      const answer = yield* ladder("six", "b")
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "299")
    })
  )

  it.effect("is admitted whole or not at all", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* ladder(296, "c")).status, 200)
      yield* TestClock.adjust("10 seconds")
      const refused = yield* ladder(5, "c")
      assert.strictEqual(refused.status, 429)
      assert.strictEqual(refused.json("error.details.0.field"), "quote")
      assert.strictEqual(refused.headers.get("x-ratelimit-cost"), "0")
      assert.strictEqual(refused.headers.get("x-ratelimit-remaining"), "4")
      assert.strictEqual(refused.headers.get("retry-after"), "50")
      assert.strictEqual((yield* ladder(4, "c")).status, 200)
      assert.strictEqual((yield* ladder(1, "c")).status, 429)
    })
  )

  it.effect("that exceeds the whole budget is told to wait for a whole window", () =>
    Effect.gen(function* () {
      const refused = yield* ladder(301, "d")
      assert.strictEqual(refused.status, 429)
      assert.strictEqual(refused.headers.get("x-ratelimit-remaining"), "300")
      assert.isAtLeast(Number(refused.headers.get("retry-after")), 1)
    })
  )
})
