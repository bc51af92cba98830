import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { CalloutPage } from "../../../src/api/Callouts.ts"
import { CalloutStore } from "../../../src/callouts/CalloutStore.ts"
import { CalloutStoreUnavailable } from "../../../src/api/schemas/Callout.ts"
import { writeCursor } from "../../../src/http/middleware/cursor.ts"
import { addressOf, calloutOf, START, tradeOf } from "../../callouts/callouts.ts"
import { type Answer, call, keyOf, running } from "../../support/http.ts"
import * as MemoryCallouts from "../../support/memoryCallouts.ts"

const FEED = "/api/v1/callouts/feed"
const TOKEN = `/api/v1/callouts/token/${addressOf(1)}`

const decodePage = Schema.decodeEffect(Schema.fromJsonString(CalloutPage))

const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
}

const assertDetail = (answer: Answer, at: "query" | "path", field: string, issue: string) => {
  assertRefused(answer, 400, "invalid_request")
  assert.deepStrictEqual(answer.json("error.details"), [{ in: at, field, issue }])
}

/** A page that has to be one, and its ids. */
const pageOf = Effect.fnUntraced(function* (path: string, key = "a") {
  const answer = yield* call(path, { key })
  assert.strictEqual(answer.status, 200, answer.text)
  const page = yield* decodePage(answer.text)
  return { ids: page.callouts.map(({ id }) => id), nextCursor: page.nextCursor, answer }
})

/** Every page of a list; `between` runs after each. */
const walk = Effect.fnUntraced(function* <E, R>(
  path: string,
  key: string,
  between: (page: number) => Effect.Effect<unknown, E, R>
) {
  const ids: Array<string> = []
  let cursor: string | null = ""
  for (let pages = 1; cursor !== null; pages++) {
    const page: { readonly ids: ReadonlyArray<string>; readonly nextCursor: string | null } = yield* pageOf(
      `${path}&limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
      key
    )
    ids.push(...page.ids)
    cursor = page.nextCursor
    yield* between(pages)
  }
  return ids
})

/** Ten callouts of two tokens, the later the more volume but the last, which has none; and two that are hidden. */
const seeded = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* CalloutStore
    yield* TestClock.setTime(START + 100_000)
    for (let i = 0; i < 10; i++) {
      yield* store.post(calloutOf(`co_${i}`, { mint: addressOf(1 + (i % 2)), createdAtMs: START + i }))
    }
    for (let i = 0; i < 9; i++) {
      yield* store.attribute(tradeOf(`t_${i}`, `co_${i}`, 10 + i))
    }
    yield* store.post(calloutOf("co_expired", { createdAtMs: START + 50, expiresAtMs: START + 100_000 }))
    yield* store.post(calloutOf("co_removed", { createdAtMs: START + 51 }))
    yield* store.remove("co_removed")
  })
)

const keys = "abcdefghij".split("").map((letter) => keyOf(letter))
const callouts = seeded.pipe(Layer.provideMerge(MemoryCallouts.layer), Layer.orDie)
const world = { keys: [...keys, keyOf("z", { scopes: ["perps.read"] })], callouts }

/** Those about the token of `TOKEN`. */
const even = (ids: ReadonlyArray<string>) => ids.filter((id) => Number(id.slice(3)) % 2 === 0)

/** A well-sealed cursor of the feed to a place of our making. */
const forged = (...place: ReadonlyArray<string>) => writeCursor(["callouts", "recent", ""], place, START + 100_000)

const at = TestClock.setTime(START + 100_000)

layer(running(world))("GET /api/v1/callouts", (it) => {
  it.effect("shows a callout in full", () =>
    Effect.gen(function* () {
      yield* at
      const { answer } = yield* pageOf(`${FEED}?sort=top&limit=1`)
      assert.deepStrictEqual(answer.json("callouts"), [
        {
          id: "co_8",
          mint: addressOf(1),
          body: "What co_8 has to say.",
          status: "active",
          createdAt: "2026-10-01T12:00:00.008Z",
          expiresAt: "2026-10-08T12:00:00.000Z",
          creator: {
            id: "u_1",
            username: "mira",
            displayName: "Mira",
            avatarUrl: "https://images.example/mira.png"
          },
          tokenSymbol: "FERN",
          tokenName: "Fern Network",
          tokenImageUrl: "https://images.example/fern.png",
          priceUsdAtCreate: 0.84,
          clickCount: 0,
          traderCount: 1,
          attributedVolumeUsd: 18,
          earnedUsd: 0.018,
          pointsAwarded: 18
        }
      ])
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    })
  )

  it.effect("sorts the feed newest first and a token's callouts by volume, by default", () =>
    Effect.gen(function* () {
      yield* at
      const newest = ["co_9", "co_8", "co_7", "co_6", "co_5", "co_4", "co_3", "co_2", "co_1", "co_0"]
      const top = ["co_8", "co_7", "co_6", "co_5", "co_4", "co_3", "co_2", "co_1", "co_0", "co_9"]
      const odd = addressOf(2)
      assert.deepStrictEqual((yield* pageOf(FEED)).ids, newest)
      assert.deepStrictEqual((yield* pageOf(`${FEED}?sort=recent`)).ids, newest)
      assert.deepStrictEqual((yield* pageOf(`${FEED}?sort=top`)).ids, top)
      assert.deepStrictEqual((yield* pageOf(TOKEN)).ids, even(top))
      assert.deepStrictEqual((yield* pageOf(`${TOKEN}?sort=recent`)).ids, even(newest))
      assert.deepStrictEqual((yield* pageOf(`/api/v1/callouts/token/${odd}`)).ids, [
        "co_7",
        "co_5",
        "co_3",
        "co_1",
        "co_9"
      ])
    })
  )

  it.effect("answers an empty page for a token without callouts", () =>
    Effect.gen(function* () {
      const { answer } = yield* pageOf(`/api/v1/callouts/token/${addressOf(77)}`)
      assert.strictEqual(answer.text, `{"callouts":[],"nextCursor":null}`)
    })
  )

  it.effect("pages with its own cursors, which say nothing and fit into a URL", () =>
    Effect.gen(function* () {
      yield* at
      const first = yield* pageOf(`${FEED}?limit=4`)
      assert.match(String(first.nextCursor), /^[\w-]{1,512}$/u)
      const second = yield* pageOf(`${FEED}?limit=50&sort=recent&cursor=${first.nextCursor}`)
      assert.deepStrictEqual(second.ids, ["co_5", "co_4", "co_3", "co_2", "co_1", "co_0"])
      assert.isNull(second.nextCursor)
    })
  )

  it.effect("refuses cursors that are malformed, altered, too long or of another list", () =>
    Effect.gen(function* () {
      yield* at
      const cursor = (yield* pageOf(`${FEED}?limit=1`, "b")).nextCursor ?? ""
      const wrong = [
        "",
        "x",
        "%20",
        `${cursor}=`,
        `${cursor}A`,
        cursor.slice(1),
        "a".repeat(513),
        forged(),
        forged("1", "-1", "co_1"),
        forged("1", "9".repeat(16), "co_1"),
        forged("9".repeat(19), "1", "co_1"),
        forged("1", "1", "co_'; drop table callouts")
      ]
      assert.strictEqual((yield* call(`${FEED}?cursor=${forged("1", "1", "co_1")}`, { key: "b" })).status, 200)
      for (const text of wrong) {
        assertRefused(yield* call(`${FEED}?cursor=${text}`, { key: "b" }), 400, "invalid_cursor")
      }
      for (const path of [`${FEED}?sort=top`, `${TOKEN}?sort=recent`, `${TOKEN}?sort=top`]) {
        assertRefused(yield* call(`${path}&cursor=${cursor}`, { key: "b" }), 400, "invalid_cursor")
      }
    })
  )

  it.effect("lets a cursor live for fifteen minutes", () =>
    Effect.gen(function* () {
      yield* at
      const { nextCursor } = yield* pageOf(`${FEED}?limit=1`, "c")
      yield* TestClock.adjust("899999 millis")
      assert.deepStrictEqual((yield* pageOf(`${FEED}?limit=1&cursor=${nextCursor}`, "c")).ids, ["co_8"])
      yield* TestClock.adjust("1 millis")
      assertRefused(yield* call(`${FEED}?limit=1&cursor=${nextCursor}`, { key: "c" }), 400, "invalid_cursor")
    })
  )

  it.effect("refuses unknown and malformed parameters", () =>
    Effect.gen(function* () {
      const refused: ReadonlyArray<readonly [string, string, string]> = [
        ["limit=0", "limit", "out_of_range"],
        ["limit=51", "limit", "out_of_range"],
        ["limit=", "limit", "format"],
        ["limit=1.5", "limit", "format"],
        ["limit=%205", "limit", "format"],
        ["limit=5&limit=6", "limit", "repeated"],
        ["sort=newest", "sort", "format"],
        ["sort=TOP", "sort", "format"],
        ["cursor=a&cursor=b", "cursor", "repeated"],
        ["mint=x", "mint", "unknown"],
        ["__proto__=x", "__proto__", "unknown"]
      ]
      for (const path of [FEED, TOKEN]) {
        for (const [query, field, issue] of refused) {
          assertDetail(yield* call(`${path}?${query}`, { key: "d" }), "query", field, issue)
        }
      }
      for (const mint of ["x", "1".repeat(44), "0".repeat(40), "%00"]) {
        assertDetail(yield* call(`/api/v1/callouts/token/${mint}`, { key: "e" }), "path", "mint", "format")
      }
    })
  )

  it.effect("costs one unit of the REST budget and needs md.read", () =>
    Effect.gen(function* () {
      for (const [path, remaining] of [
        [FEED, "119"],
        [TOKEN, "118"]
      ] as const) {
        const { headers } = yield* call(path, { key: "f" })
        assert.strictEqual(headers.get("x-ratelimit-budget"), "rest")
        assert.strictEqual(headers.get("x-ratelimit-cost"), "1")
        assert.strictEqual(headers.get("x-ratelimit-remaining"), remaining)
        assertRefused(yield* call(path, { key: null }), 401, "missing_api_key")
        assertRefused(yield* call(path, { key: "z" }), 403, "missing_scope")
        assertRefused(yield* call(path, { key: "f", method: "POST" }), 405, "method_not_allowed")
      }
      for (let i = 0; i < 118; i++) {
        yield* call(FEED, { key: "f" })
      }
      assertRefused(yield* call(FEED, { key: "f" }), 429, "rate_limited")
    })
  )
})

layer(running({ keys, callouts }))("GET /api/v1/callouts while callouts and trades arrive", (it) => {
  it.effect("neither repeats nor skips", () =>
    Effect.gen(function* () {
      yield* at
      const store = yield* CalloutStore
      for (const [sort, key] of [
        ["recent", "g"],
        ["top", "h"]
      ] as const) {
        const before = (yield* pageOf(`${FEED}?sort=${sort}&limit=50`, key)).ids
        const seen = yield* walk(`${FEED}?sort=${sort}`, key, (page) =>
          Effect.gen(function* () {
            yield* store.post(calloutOf(`co_${sort}_${page}`, { createdAtMs: START + 1000 + page }))
            yield* store.attribute(tradeOf(`t_${sort}_${page}`, "co_0", 5000))
          })
        )
        assert.deepStrictEqual(seen, before, sort)
      }
    })
  )
})

const down = () => new CalloutStoreUnavailable({ cause: new Error("secret") })
const unavailable = Layer.succeed(CalloutStore, {
  post: down,
  remove: down,
  find: down,
  page: down,
  recordClick: down,
  attribute: down
})

layer(running({ callouts: unavailable }))("GET /api/v1/callouts without its store", (it) => {
  it.effect("answers 503 data_unavailable, free of charge", () =>
    Effect.gen(function* () {
      for (const path of [FEED, TOKEN]) {
        const answer = yield* call(path)
        assertRefused(answer, 503, "data_unavailable")
        assert.strictEqual(answer.headers.get("retry-after"), "1")
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
        assert.notInclude(answer.text, "secret")
      }
    })
  )
})
