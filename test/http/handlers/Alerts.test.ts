import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { itemsOf, make, read, remove, send, serving, wanted } from "../../alerts/http.ts"
import { priced } from "../../alerts/world.ts"
import { mintOf, MONDAY } from "../../market/tape/tape.ts"

const DAY_MS = 86_400_000

/** Answers of every call about an alert to another account. */
const answersTo = (other: string) =>
  Effect.map(
    Effect.all([
      read(`/${other}`, "b"),
      send("PATCH", `/${other}`, { note: "mine now" }, { key: "b" }),
      remove(other, "b")
    ]),
    (answers) => answers.map(({ json, status }) => [status, json("error")])
  )

layer(serving())("the alerts of an account", (it) => {
  it.effect("are set with every default, and answered with the present value of their metric", () =>
    Effect.gen(function* () {
      yield* priced(0, [9.5])
      yield* TestClock.setTime((MONDAY + 1) * 1000)
      const answer = yield* send("POST", "", wanted)
      assert.strictEqual(answer.status, 201)
      const id = String(answer.json("data.id"))
      assert.match(id, /^al_[0-9a-f]{32}$/u)
      const expected = {
        data: {
          id,
          chain: "solana",
          mint: mintOf(1),
          wallet: null,
          side: null,
          condition: {
            metric: "price_usd",
            operator: "crosses_above",
            threshold: "10",
            windowSeconds: null,
            source: "swap"
          },
          recurrence: "once",
          cooldownSeconds: null,
          expiresAtMs: null,
          note: null,
          status: "active",
          statusReason: null,
          trades: null,
          armed: true,
          createdAtMs: (MONDAY + 1) * 1000,
          updatedAtMs: (MONDAY + 1) * 1000,
          lastTriggeredAtMs: null,
          triggerCount: 0,
          evaluation: { state: "ok", value: "9.5", observedAtMs: MONDAY * 1000, sinceMs: null, reason: null }
        },
        meta: { requestId: answer.headers.get("x-request-id"), methodVersion: "public-alerts-v1" }
      }
      assert.deepStrictEqual(JSON.parse(answer.text), expected)
      assert.isNull(answer.headers.get("idempotency-replayed"))
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.strictEqual(answer.headers.get("x-ratelimit-budget"), "rest")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
      assert.deepStrictEqual(JSON.parse((yield* read(`/${id}`)).text).data, expected.data)
    })
  )

  it.effect("are not armed beyond their threshold unless they are to fire at once, nor where nothing is known", () =>
    Effect.gen(function* () {
      yield* priced(2, [12])
      const beyond = yield* send("POST", "", wanted)
      assert.deepStrictEqual([beyond.json("data.armed"), beyond.json("data.evaluation.state")], [false, "ok"])
      assert.isTrue((yield* send("POST", "", { ...wanted, fireNow: true })).json("data.armed"))
      const unknown = yield* send("POST", "", { ...wanted, mint: mintOf(40) })
      assert.deepStrictEqual(unknown.json("data.evaluation"), {
        state: "unavailable",
        value: null,
        observedAtMs: null,
        sinceMs: null,
        reason: "mint_not_seen"
      })
      assert.isFalse(unknown.json("data.armed"))
      yield* TestClock.setTime((MONDAY + 120) * 1000)
      const stale = yield* read(`/${String(beyond.json("data.id"))}`)
      assert.deepStrictEqual(stale.json("data.evaluation"), {
        state: "stale",
        value: null,
        observedAtMs: (MONDAY + 2) * 1000,
        sinceMs: (MONDAY + 2) * 1000,
        reason: "source_stale"
      })
    })
  )

  it.effect("keep every field of the request", () =>
    Effect.gen(function* () {
      const body = {
        chain: "solana",
        mint: mintOf(7),
        condition: {
          metric: "change_pct",
          operator: "falls_by",
          threshold: "12.5",
          windowSeconds: 3600,
          source: "swap"
        },
        recurrence: "repeat",
        cooldownSeconds: 600,
        expiresAtMs: (MONDAY + 120) * 1000 + 90 * DAY_MS,
        note: "below the knee 🦦"
      }
      const { data } = JSON.parse((yield* send("POST", "", body)).text)
      assert.deepInclude(data, body)
      const silent = yield* send("POST", "", { ...wanted, recurrence: "repeat" })
      assert.strictEqual(silent.json("data.cooldownSeconds"), 300)
      const nulls = { cooldownSeconds: null, expiresAtMs: null, note: null }
      const spelled = { ...wanted, ...nulls, condition: { ...wanted.condition, windowSeconds: null } }
      assert.strictEqual((yield* send("POST", "", spelled)).status, 201)
    })
  )

  it.effect("are listed newest first, by status and by token, page by page", () =>
    Effect.gen(function* () {
      const ids: Array<string> = []
      for (const second of [200, 201, 201, 202]) {
        yield* TestClock.setTime((MONDAY + second) * 1000)
        ids.push(yield* make({ ...wanted, mint: mintOf(second) }, "f"))
      }
      const first = yield* read("?limit=3", "f")
      const rest = yield* read(`?limit=3&cursor=${String(first.json("nextCursor"))}`, "f")
      const [a, b, c, d] = ids
      const seen = [...itemsOf(first.text), ...itemsOf(rest.text)].map(({ id }) => id)
      assert.deepStrictEqual([seen[0], seen[3]], [d, a])
      assert.sameMembers(seen, [a, b, c, d])
      assert.isNull(rest.json("nextCursor"))
      assert.strictEqual(rest.json("meta.methodVersion"), "public-alerts-v1")
      yield* send("PATCH", `/${a}`, { status: "paused" }, { key: "f" })
      const paused = itemsOf((yield* read("?status=paused", "f")).text)
      assert.deepStrictEqual(
        paused.map(({ id, status }) => [id, status]),
        [[a, "paused"]]
      )
      assert.deepStrictEqual(
        itemsOf((yield* read(`?mint=${mintOf(202)}&status=active`, "f")).text).map(({ id }) => id),
        [d]
      )
      assert.deepStrictEqual(itemsOf((yield* read("?status=triggered", "f")).text), [])
    })
  )

  it.effect("are changed field by field, and armed anew by another threshold", () =>
    Effect.gen(function* () {
      yield* priced(300, [9])
      const id = yield* make({ ...wanted, note: "stays" })
      const raised = yield* send("PATCH", `/${id}`, { condition: { threshold: "8" } })
      assert.strictEqual(raised.status, 200)
      assert.deepInclude(raised.json("data"), { armed: false, note: "stays", recurrence: "once" })
      assert.deepStrictEqual(raised.json("data.condition"), {
        metric: "price_usd",
        operator: "crosses_above",
        threshold: "8",
        windowSeconds: null,
        source: "swap"
      })
      const repeated = yield* send("PATCH", `/${id}`, { recurrence: "repeat", note: null })
      assert.deepInclude(repeated.json("data"), { recurrence: "repeat", cooldownSeconds: 300, note: null })
      const slower = yield* send("PATCH", `/${id}`, { cooldownSeconds: 900, expiresAtMs: (MONDAY + 400) * 1000 })
      assert.deepInclude(slower.json("data"), { cooldownSeconds: 900, expiresAtMs: (MONDAY + 400) * 1000 })
      const back = yield* send("PATCH", `/${id}`, { recurrence: "once", condition: { threshold: "10" } })
      assert.deepInclude(back.json("data"), { cooldownSeconds: null, armed: true })
      const paused = yield* send("PATCH", `/${id}`, { status: "paused" })
      assert.deepInclude(paused.json("data"), { status: "paused", armed: false })
      const resumed = yield* send("PATCH", `/${id}`, { status: "active" })
      assert.deepInclude(resumed.json("data"), { status: "active", armed: true })
      assert.deepStrictEqual((yield* read(`/${id}`)).json("data"), resumed.json("data"))
      yield* TestClock.setTime((MONDAY + 400) * 1000)
      assert.deepInclude((yield* read(`/${id}`)).json("data"), { status: "expired", armed: false })
      const late = yield* send("PATCH", `/${id}`, { status: "active" })
      assert.strictEqual(late.status, 400)
      assert.deepStrictEqual(late.json("error.details"), [{ in: "body", field: "status", issue: "conflict" }])
    })
  )

  it.effect("are 404 once they are removed, as before", () =>
    Effect.gen(function* () {
      const id = yield* make()
      const first = yield* remove(id)
      assert.deepStrictEqual(JSON.parse(first.text), {
        data: { id, deleted: true },
        meta: { requestId: first.headers.get("x-request-id"), methodVersion: "public-alerts-v1" }
      })
      const again = yield* remove(id)
      assert.deepStrictEqual([again.status, again.json("data")], [200, { id, deleted: true }])
      assert.strictEqual((yield* read(`/${id}`)).status, 404)
    })
  )

  it.effect("belong to one account: to another account they do not exist", () =>
    Effect.gen(function* () {
      const id = yield* make()
      const [theirs, unknown] = [yield* answersTo(id), yield* answersTo("al_never")]
      assert.deepStrictEqual(theirs, unknown)
      for (const [status, error] of theirs) {
        assert.strictEqual(status, 404)
        assert.deepInclude(error, { code: "alert_not_found" })
      }
      assert.deepStrictEqual(itemsOf((yield* read("", "b")).text), [])
      assert.isNull((yield* read(`/${id}`)).json("data.note"))
      const cursor = String((yield* read("?limit=1")).json("nextCursor"))
      assert.strictEqual((yield* read(`?limit=1&cursor=${cursor}`, "b")).json("error.code"), "invalid_cursor")
    })
  )
})
