import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { TrackerStoreUnavailable } from "../../../src/api/schemas/Tracker.ts"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { addressOf, START } from "../../callouts/callouts.ts"
import { call } from "../../support/http.ts"
import { trackerFeed } from "../../support/tracker.ts"
import {
  assertDetail,
  assertRefused,
  BATCH,
  GROUPS,
  later,
  listed,
  READS,
  send,
  serving,
  SESSION,
  track,
  untrack,
  WALLETS
} from "./trackerCalls.ts"

/** The addresses of a list. */
const addresses = (query: string) => Effect.map(listed("b", query), (items) => items.map(({ wallet }) => wallet))

const [fern, moss, reed] = [addressOf(1), addressOf(2), addressOf(3)]

/** The body as JSON with every letter beyond ASCII escaped, which makes it as long as it can be. */
const escaped = (body: unknown) =>
  JSON.stringify(body).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

const post = (method: string, path: string, body: string) =>
  call(path, { key: "g", method, body, headers: { "content-type": "application/json" } })

layer(serving())("/api/v1/tracker/wallets", (it) => {
  it.effect("tracks a wallet: 201 once, then 200 with the texts that are given", () =>
    Effect.gen(function* () {
      yield* later()
      const first = yield* track("a", { wallet: fern, label: "desk", emoji: "🦦" })
      assert.strictEqual(first.status, 201, first.text)
      assert.deepStrictEqual(JSON.parse(first.text), { wallet: fern, tracked: true, groupId: "grp_main" })
      assert.isNull(first.headers.get("idempotency-replayed"))
      yield* later(5000)
      const again = yield* track("a", { wallet: fern, label: "other desk" })
      assert.strictEqual(again.status, 200)
      assert.strictEqual(again.text, first.text)
      assert.deepStrictEqual(yield* listed("a"), [
        {
          wallet: fern,
          label: "other desk",
          emoji: "🦦",
          notes: null,
          groups: ["grp_main"],
          groupId: "grp_main",
          status: "pending",
          lastEventAtMs: null,
          addedAtMs: START
        }
      ])
    })
  )

  it.effect("lists the newest first, of one group or of all", () =>
    Effect.gen(function* () {
      const store = yield* TrackerStore
      const { groupId } = yield* store.createGroup({ accountId: "account_b", name: "Whales" })
      yield* later()
      yield* track("b", { wallet: moss })
      yield* later(1)
      assert.strictEqual((yield* track("b", { wallet: fern, group: groupId })).json("groupId"), groupId)
      yield* track("b", { wallet: reed })
      assert.deepStrictEqual(yield* addresses(""), [...[fern, reed].toSorted(), moss])
      assert.deepStrictEqual(yield* addresses(`?group=${groupId}`), [fern])
      assert.deepStrictEqual(yield* addresses("?group=grp_main"), [reed, moss])
    })
  )

  it.effect("stops tracking in every group, with the same answer whether or not it was tracked", () =>
    Effect.gen(function* () {
      const store = yield* TrackerStore
      const { groupId } = yield* store.createGroup({ accountId: "account_c", name: "Whales" })
      yield* track("c", { wallet: fern })
      yield* track("c", { wallet: fern, group: groupId })
      for (let i = 0; i < 2; i++) {
        const answer = yield* untrack("c", fern)
        assert.strictEqual(answer.status, 200)
        assert.deepStrictEqual(JSON.parse(answer.text), { wallet: fern, tracked: false })
        assert.deepStrictEqual(yield* listed("c"), [])
      }
      assert.strictEqual((yield* track("c", { wallet: fern })).status, 201)
    })
  )

  it.effect("refuses unknown and malformed fields of the body", () =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<readonly [unknown, string, string]> = [
        [{}, "wallet", "missing"],
        [{ wallet: "x" }, "wallet", "format"],
        [{ wallet: 5 }, "wallet", "type"],
        [{ wallet: fern, label: "" }, "label", "format"],
        [{ wallet: fern, label: "a\0b" }, "label", "format"],
        [{ wallet: fern, label: "a\nb" }, "label", "format"],
        [`{"wallet":"${fern}","label":"half \\ud800"}`, "label", "format"],
        [{ wallet: fern, label: "🦦".repeat(65) }, "label", "too_long"],
        [{ wallet: fern, label: null }, "label", "type"],
        [{ wallet: fern, emoji: "" }, "emoji", "format"],
        [{ wallet: fern, emoji: "🦦🦦🦦🦦x" }, "emoji", "too_long"],
        [{ wallet: fern, notes: "mine" }, "notes", "unknown"],
        [{ wallet: fern, accountId: "account_b" }, "accountId", "unknown"],
        [`{"wallet":"${fern}","__proto__":{}}`, "__proto__", "unknown"],
        [`{"wallet":"${fern}","wallet":"${moss}"}`, "wallet", "duplicate"],
        [{ wallet: fern, group: "grp_unknown" }, "group", "unknown"],
        [{ wallet: fern, group: "main" }, "group", "format"],
        ["", "", "missing"],
        ["not json", "", "format"]
      ]
      for (const [body, field, issue] of wrong) {
        assertDetail(yield* track("d", body), "body", field, issue)
      }
      assertDetail(yield* call(`${WALLETS}?group=grp_main`, { key: "d", method: "POST" }), "body", "", "missing")
      assert.deepStrictEqual(yield* listed("d"), [])
      const longest = { wallet: fern, label: "🦦".repeat(64), emoji: "🦦🦦🦦🦦" }
      assert.strictEqual((yield* track("d", longest)).status, 201)
      assert.deepInclude((yield* listed("d"))[0], { label: longest.label, emoji: longest.emoji })
    })
  )

  it.effect("takes the largest batch and the largest change, whatever way their texts are written", () =>
    Effect.gen(function* () {
      const [label, emoji] = ["🦦".repeat(64), "🦦🦦🦦🦦"]
      const group = String((yield* send("POST", GROUPS, "g", { name: label })).json("groupId"))
      const wallets = Array.from({ length: 100 }, (_, i) => ({ wallet: addressOf(i + 1), label, emoji, group }))
      const batch = yield* post("POST", BATCH, escaped({ wallets }))
      assert.strictEqual(batch.status, 200, batch.text)
      const change = { label, emoji, notes: "🦦".repeat(500), groups: [group, "grp_main"] }
      assert.strictEqual((yield* post("PATCH", `${WALLETS}/${fern}`, escaped(change))).status, 200)
      assert.strictEqual((yield* post("POST", BATCH, escaped({ wallets }).padEnd(128 * 1024 + 1))).status, 413)
    })
  )

  it.effect("names a change without any field", () =>
    Effect.gen(function* () {
      yield* track("h", { wallet: fern })
      assertDetail(yield* send("PATCH", `${WALLETS}/${fern}`, "h", {}), "body", "", "missing")
    })
  )

  it.effect("refuses a body that is too large or no JSON", () =>
    Effect.gen(function* () {
      const huge = JSON.stringify({ wallet: fern, label: "x".repeat(8192) })
      assertRefused(yield* track("e", huge), 413, "body_too_large")
      assertRefused(
        yield* track("e", { wallet: fern }, { "content-type": "text/plain" }),
        415,
        "unsupported_media_type"
      )
    })
  )

  it.effect("refuses malformed paths and unknown parameters", () =>
    Effect.gen(function* () {
      for (const wallet of ["x", "1".repeat(44), "0".repeat(40), "%00"]) {
        assertDetail(yield* untrack("f", wallet), "path", "wallet", "format")
      }
      assertDetail(
        yield* call(`${WALLETS}/${fern}?group=grp_main`, { key: "f", method: "DELETE" }),
        "query",
        "group",
        "unknown"
      )
      for (const path of READS) {
        assertDetail(yield* call(`${path}?group=`, { key: "f" }), "query", "group", "format")
        assertDetail(yield* call(`${path}?group=%00`, { key: "f" }), "query", "group", "format")
        assertDetail(yield* call(`${path}?group=grp_unknown`, { key: "f" }), "query", "group", "unknown")
        assertDetail(yield* call(`${path}?group=grp_main&group=grp_main`, { key: "f" }), "query", "group", "repeated")
        assertDetail(yield* call(`${path}?account=account_b`, { key: "f" }), "query", "account", "unknown")
      }
    })
  )

  it.effect("costs one unit of the REST budget and needs tracker.read or md.read", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("2 minutes")
      for (const path of READS) {
        const { headers } = yield* call(path, { key: "g" })
        assert.strictEqual(headers.get("x-ratelimit-budget"), "rest")
        assert.strictEqual(headers.get("x-ratelimit-cost"), "1")
        assert.strictEqual(headers.get("cache-control"), "no-store")
        assert.strictEqual((yield* call(path, { key: "m" })).status, 200)
        assertRefused(yield* call(path, { key: null }), 401, "missing_api_key")
        const refused = yield* call(path, { key: "z" })
        assertRefused(refused, 403, "missing_scope")
        assert.deepStrictEqual(refused.json("error.details"), [
          { in: "header", field: "tracker.read", issue: "missing" }
        ])
        assertRefused(yield* call(path, { key: "g", method: "PUT" }), 405, "method_not_allowed")
      }
      assertRefused(yield* untrack("z", fern), 403, "missing_scope")
      assertRefused(yield* track("z", { wallet: fern }), 403, "missing_scope")
      assert.strictEqual((yield* track("g", { wallet: fern })).headers.get("x-ratelimit-cost"), "1")
      assert.strictEqual((yield* untrack("g", fern)).headers.get("x-ratelimit-remaining"), "114")
      for (let i = 0; i < 114; i++) {
        yield* call(WALLETS, { key: "g" })
      }
      assertRefused(yield* call(WALLETS, { key: "g" }), 429, "rate_limited")
      assertRefused(yield* track("g", { wallet: fern }), 429, "rate_limited")
    })
  )
})

layer(serving())("the five hundred wallets of an account", (it) => {
  it.effect("are the limit for all keys of an account together", () =>
    Effect.gen(function* () {
      const store = yield* TrackerStore
      for (let i = 0; i < 499; i++) {
        yield* store.add({ accountId: "account_m", wallet: addressOf(100 + i), groupId: null })
      }
      const answers = yield* Effect.forEach([fern, moss, reed], (wallet, i) => track(i === 1 ? "n" : "m", { wallet }), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409])
      answers.filter(({ status }) => status === 409).forEach((answer) => assertRefused(answer, 409, "limit_reached"))
      assert.strictEqual((yield* track("n", { wallet: addressOf(100), label: "still" })).status, 200)
      assert.lengthOf(yield* listed("n"), 500)
      assert.strictEqual((yield* untrack("m", addressOf(100))).status, 200)
      assert.strictEqual((yield* track("n", { wallet: addressOf(50) })).status, 201)
    })
  )
})

const down = () => new TrackerStoreUnavailable({ cause: new Error("secret") })
const unavailable = Layer.merge(
  Tickets.layerMemory,
  Layer.succeed(TrackerStore, {
    overview: down,
    add: down,
    remove: down,
    addAll: down,
    change: down,
    createGroup: down,
    renameGroup: down,
    removeGroup: down,
    recordActivity: down,
    changes: Stream.never
  })
)

layer(serving({ tracker: unavailable, trackerFeed: trackerFeed() }))("/api/v1/tracker without its store", (it) => {
  it.effect("answers 503 data_unavailable, free of charge", () =>
    Effect.gen(function* () {
      const answers = [
        ...(yield* Effect.forEach(READS, (path) => call(path, { key: "a" }))),
        yield* track("a", { wallet: fern }),
        yield* track("a", { wallet: fern }, { "idempotency-key": "12345678" }),
        yield* track("a", { wallet: fern }, { "idempotency-key": "12345678" }),
        yield* untrack("a", fern),
        yield* send("POST", BATCH, "a", { wallets: [{ wallet: fern }] }),
        yield* send("PATCH", `${WALLETS}/${fern}`, "a", { label: "x" }),
        yield* send("POST", GROUPS, "a", { name: "x" }),
        yield* send("PATCH", `${GROUPS}/grp_x`, "a", { name: "x" }),
        yield* send("DELETE", `${GROUPS}/grp_x`, "a")
      ]
      for (const answer of answers) {
        assertRefused(answer, 503, "data_unavailable")
        assert.strictEqual(answer.headers.get("retry-after"), "1")
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
        assert.isNull(answer.headers.get("idempotency-replayed"))
        assert.notInclude(answer.text, "secret")
      }
      assert.strictEqual((yield* call(SESSION, { key: "z" })).status, 403)
    })
  )
})
