import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, trade } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, reading, setSecond } from "../../support/reads.ts"

type Query = Record<string, string>

const TOKEN = mintOf(1)
const HOUR = 3600

const chart = (token: string, query: Query = {}, key = "f") =>
  call(`/api/v1/market/chart/${token}?${new URLSearchParams(query)}`, { key })

const assertInvalid = (answer: Answer, where: string, field: string, issue: string) => {
  assert.strictEqual(answer.status, 400, answer.text)
  assert.strictEqual(answer.json("error.code"), "invalid_request")
  assert.deepInclude([answer.json("error.details")].flat(), { in: where, field, issue })
}

const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
}

const refusals: ReadonlyArray<readonly [string, Query, string, string]> = [
  ["an unknown resolution", { resolution: "2m" }, "resolution", "format"],
  ["an unknown denomination", { denom: "eur" }, "denom", "format"],
  ["an unknown mode", { mode: "volume" }, "mode", "format"],
  ["a pool that is no address", { pool: "0xpool" }, "pool", "format"],
  ["an unknown use of outliers", { outliers: "hide" }, "outliers", "format"],
  ["no bars", { limit: "0" }, "limit", "out_of_range"],
  ["1501 bars", { limit: "1501" }, "limit", "out_of_range"],
  ["a beginning that is no number", { from: "1e3" }, "from", "format"],
  ["a negative end", { to: "-1" }, "to", "format"],
  ["an end after the year 9999", { to: "253402300800" }, "to", "out_of_range"],
  ["an end at the beginning", { from: "60", to: "60" }, "to", "conflict"],
  ["a beginning after now", { from: String(MONDAY + 2 * HOUR) }, "from", "conflict"],
  ["an unknown parameter", { symbol: "X" }, "symbol", "unknown"]
]

layer(reading({ world: { keys: [keyOf("f"), keyOf("g")] } }))("a chart that cannot be", (it) => {
  for (const [what, query, field, issue] of refusals) {
    it.effect(`refuses ${what}`, () =>
      Effect.gen(function* () {
        yield* setSecond(HOUR)
        assertInvalid(yield* chart(TOKEN, query, "f"), "query", field, issue)
      })
    )
  }

  it.effect("refuses a token that is no address of its chain, an unsupported chain, and SOL off Solana", () =>
    Effect.gen(function* () {
      const evm = `0x${"a".repeat(40)}`
      assertInvalid(yield* chart("abc", {}, "g"), "path", "token", "format")
      assertInvalid(yield* chart(evm, {}, "g"), "path", "token", "format")
      assertInvalid(yield* chart(TOKEN, { chain: "base" }, "g"), "path", "token", "format")
      assertInvalid(yield* chart(evm, { chain: "base", resolution: "30s" }, "g"), "query", "resolution", "out_of_range")
      assertInvalid(yield* chart(evm, { chain: "base", outliers: "exclude" }, "g"), "query", "outliers", "conflict")
      assertInvalid(yield* chart(evm, { chain: "base", pool: TOKEN }, "g"), "query", "pool", "conflict")
      assertRefused(yield* chart(TOKEN, { chain: "dogechain" }, "g"), 400, "unsupported_chain")
      assertRefused(yield* chart(evm, { chain: "base", denom: "sol" }, "g"), 400, "invalid_denom")
    })
  )

  it.effect("of a pool is unavailable without a store of trades", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* tape.apply(block(HOUR, { trades: [trade({ timeMs: (MONDAY + HOUR) * 1000 })] }))
      assertRefused(yield* chart(TOKEN, { pool: TOKEN }, "g"), 503, "data_unavailable")
    })
  )

  it.effect("reports that no source of EVM candles is configured", () =>
    Effect.gen(function* () {
      const answer = yield* chart(`0x${"a".repeat(40)}`, { chain: "base" }, "g")
      assertRefused(answer, 400, "unsupported_chain")
      assert.include(String(answer.json("error.message")), "chain must be solana")
      assert.strictEqual(answer.json("error.details.0.field"), "chain")
      assert.isNull(answer.headers.get("retry-after"))
    })
  )
})
