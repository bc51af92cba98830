import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { writeCursor } from "../../../src/http/middleware/cursor.ts"
import { readerOver, storeUnavailable } from "../../wallets/copying/copyWorld.ts"
import { call, running } from "../../support/http.ts"
import { assertRefused, COPY, copying, idsOf, keys, market, NOW, read, seeded } from "./copyingWorld.ts"

layer(running({ keys, copying }))("the copy-trading reads", (it) => {
  it.effect("show an account nothing of other accounts", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(idsOf(yield* read("follows", "", "t")), ["cf_theirs"])
      assert.deepStrictEqual(idsOf(yield* read("fills", "", "t")), ["fl_theirs_00008"])
      assert.strictEqual((yield* read("pnl", "?window=all", "t")).json("data.total.fills"), 1)
      for (const what of ["follows/", "fills?followId=", "pnl?followId="]) {
        const [foreign, absent] = [
          yield* call(`${COPY}/${what}cf_theirs`, { key: "f" }),
          yield* call(`${COPY}/${what}cf_nobody`, { key: "f" })
        ]
        assertRefused(foreign, 404, "follow_not_found")
        assert.deepStrictEqual(foreign.json("error"), absent.json("error"))
      }
    })
  )

  it.effect("answer an account without copies with empty lists and sums of nothing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* read("follows", "", "n")).json("data"), [])
      assert.deepStrictEqual((yield* read("fills", "", "n")).json("data"), [])
      const pnl = yield* read("pnl", "?groupBy=mint", "n")
      assert.deepStrictEqual(pnl.json("data.groups"), [])
      assert.strictEqual(pnl.json("data.total.total"), "0")
      assert.strictEqual(pnl.json("meta.status"), "known")
    })
  )

  it.effect("answer 404 for a malformed follow id", () =>
    Effect.gen(function* () {
      for (const id of ["x", "fl_one_00001", "%00", "cf_%27", "c".repeat(500)]) {
        assertRefused(yield* call(`${COPY}/follows/${id}`, { key: "g" }), 404, "follow_not_found")
      }
    })
  )

  it.effect("name a cursor that is malformed", () =>
    Effect.gen(function* () {
      for (const path of ["pnl?groupBy=mint&cursor=x", "fills?cursor=x", "follows?cursor=x"]) {
        const answer = yield* call(`${COPY}/${path}`, { key: "f" })
        assertRefused(answer, 400, "invalid_cursor")
        assert.deepStrictEqual<unknown>(answer.json("error.details"), [
          { in: "query", field: "cursor", issue: "format" }
        ])
      }
      const without = yield* call(`${COPY}/pnl?cursor=x`, { key: "f" })
      assert.match(String(without.json("error.message")), /^cursor /u)
    })
  )

  it.effect("refuse cursors that are malformed, of another list, of another account or made up", () =>
    Effect.gen(function* () {
      const cursors = {
        follows: String((yield* read("follows", "?limit=1", "h")).json("nextCursor")),
        fills: String((yield* read("fills", "?limit=1", "h")).json("nextCursor")),
        pnl: String((yield* read("pnl", "?groupBy=mint&limit=1", "h")).json("nextCursor"))
      }
      const refused = [
        ...["", "x", `${cursors.follows}A`, cursors.fills].map((cursor) => `follows?cursor=${cursor}`),
        `follows?status=active&cursor=${cursors.follows}`,
        ...["", cursors.follows].map((cursor) => `fills?cursor=${cursor}`),
        `fills?cursor=${cursors.fills}&sinceMs=1`,
        `pnl?groupBy=follow&cursor=${cursors.pnl}`,
        `pnl?groupBy=mint&window=7d&cursor=${cursors.pnl}`,
        `follows?cursor=${writeCursor(["copy.follows", "acct_a", ""], ["1", "drop"], NOW)}`,
        `follows?cursor=${writeCursor(["copy.follows", "acct_a", ""], ["-1", "cf_one"], NOW)}`
      ]
      for (const path of refused) {
        assertRefused(yield* call(`${COPY}/${path}`, { key: "h" }), 400, "invalid_cursor")
      }
      for (const what of ["follows", "fills"] as const) {
        assertRefused(yield* call(`${COPY}/${what}?cursor=${cursors[what]}`, { key: "t" }), 400, "invalid_cursor")
        assert.strictEqual((yield* call(`${COPY}/${what}?cursor=${cursors[what]}`, { key: "h" })).status, 200)
      }
      yield* TestClock.setTime(NOW + 900_000)
      assertRefused(yield* call(`${COPY}/fills?cursor=${cursors.fills}`, { key: "h" }), 400, "invalid_cursor")
    })
  )

  it.effect("refuse unknown and malformed parameters", () =>
    Effect.gen(function* () {
      const odd: ReadonlyArray<readonly [path: string, field: string, issue: string]> = [
        ["follows?limit=0", "limit", "out_of_range"],
        ["follows?limit=101", "limit", "out_of_range"],
        ["follows?status=gone", "status", "format"],
        ["follows?status=active&status=paused", "status", "repeated"],
        ["follows?accountId=acct_b", "accountId", "unknown"],
        ["follows/cf_one?status=active", "status", "unknown"],
        ["fills?limit=201", "limit", "out_of_range"],
        ["fills?followId=", "followId", "format"],
        ["fills?mint=x", "mint", "format"],
        ["fills?status=active", "status", "format"],
        ["fills?sinceMs=1.5", "sinceMs", "format"],
        ["fills?untilMs=253402300800000", "untilMs", "out_of_range"],
        ["fills?sinceMs=2&untilMs=1", "untilMs", "conflict"],
        ["pnl?window=1h", "window", "format"],
        ["pnl?groupBy=day", "groupBy", "format"],
        ["pnl?limit=5", "limit", "conflict"],
        ["pnl?groupBy=none&cursor=x", "cursor", "conflict"],
        ["pnl?groupBy=mint&limit=101", "limit", "out_of_range"],
        ["pnl?mint=x", "mint", "unknown"]
      ]
      for (const [path, field, issue] of odd) {
        const answer = yield* call(`${COPY}/${path}`, { key: "i" })
        assertRefused(answer, 400, "invalid_request")
        assert.deepStrictEqual(answer.json("error.details"), [{ in: "query", field, issue }], path)
      }
    })
  )

  it.effect("cost one unit of the REST budget, need copy.read, and change nothing", () =>
    Effect.gen(function* () {
      for (const [at, path] of ["follows", "follows/cf_one", "fills", "pnl"].entries()) {
        const { headers } = yield* call(`${COPY}/${path}`, { key: "j" })
        assert.strictEqual(headers.get("x-ratelimit-budget"), "rest")
        assert.strictEqual(headers.get("x-ratelimit-cost"), "1")
        assert.strictEqual(headers.get("x-ratelimit-remaining"), String(119 - at))
        assertRefused(yield* call(`${COPY}/${path}`, { key: null }), 401, "missing_api_key")
        assertRefused(yield* call(`${COPY}/${path}`, { key: "y" }), 401, "invalid_api_key")
        assertRefused(yield* call(`${COPY}/${path}`, { key: "z" }), 403, "missing_scope")
        for (const method of ["POST", "PATCH", "DELETE", "PUT"]) {
          assertRefused(yield* call(`${COPY}/${path}`, { key: "j", method }), 405, "method_not_allowed")
        }
      }
      assertRefused(yield* call(`${COPY}/fills?followId=${"a".repeat(8200)}`, { key: "j" }), 414, "uri_too_long")
      for (let i = 0; i < 116; i++) {
        yield* call(`${COPY}/follows`, { key: "j" })
      }
      assertRefused(yield* call(`${COPY}/follows`, { key: "j" }), 429, "rate_limited")
    })
  )
})

const unavailable = readerOver(market, storeUnavailable)
const stale = seeded.pipe(Layer.provideMerge(readerOver({ ...market, isStale: () => true })), Layer.orDie)

layer(running({ keys, copying: unavailable }))("the copy-trading reads without their store", (it) => {
  it.effect("are unavailable, say when to ask again, and cost nothing", () =>
    Effect.gen(function* () {
      for (const path of ["follows", "follows/cf_one", "fills", "pnl", "pnl?groupBy=mint"]) {
        const answer = yield* call(`${COPY}/${path}`)
        assertRefused(answer, 503, "data_unavailable")
        assert.strictEqual(answer.headers.get("retry-after"), "1")
        assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "120")
        assert.notInclude(answer.text, "away")
      }
    })
  )
})

layer(running({ keys, copying: stale }))("the copy-trading reads beside a silent chain", (it) => {
  it.effect("answer realized profit, and null for open positions", () =>
    Effect.gen(function* () {
      const answer = yield* read("pnl", "?followId=cf_one")
      assert.strictEqual(answer.json("data.total.realized"), "29")
      assert.isNull(answer.json("data.total.unrealized"))
      assert.deepStrictEqual(answer.json("meta.coverage"), { complete: false, reason: "source_stale" })
    })
  )
})
