import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as AlertStorePg from "../../../src/alerts/AlertStorePg.ts"
import { AlertStore } from "../../../src/alerts/AlertStore.ts"
import { itemsOf, make, read, remove, send, serving, wanted } from "../../alerts/http.ts"
import { priced } from "../../alerts/world.ts"
import { mintOf, MONDAY } from "../../market/tape/tape.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

/** The firings as the service answers them, newest first. */
const firings = Effect.fnUntraced(function* (query = "") {
  const answer = yield* read(`/events${query}`)
  return itemsOf(answer.text)
})

/** Seconds after `MONDAY` at which these fired. */
const times = (events: ReadonlyArray<Record<string, unknown>>) =>
  events.map(({ firedAtMs }) => Number(firedAtMs) / 1000 - MONDAY)

layer(serving())("a firing", (it) => {
  it.effect("is listed once a swap crosses the threshold, and ends an alert with recurrence `once`", () =>
    Effect.gen(function* () {
      yield* priced(0, [9])
      const id = yield* make()
      yield* priced(1, [9.5, 10.5, 9])
      const answer = yield* read("/events")
      const [event] = itemsOf(answer.text)
      assert.deepStrictEqual(JSON.parse(answer.text), {
        data: [
          {
            eventId: event?.["eventId"],
            alertId: id,
            mint: mintOf(1),
            condition: {
              metric: "price_usd",
              operator: "crosses_above",
              threshold: "10",
              windowSeconds: null,
              source: "swap"
            },
            value: "10.5",
            observedAtMs: (MONDAY + 1) * 1000,
            firedAtMs: (MONDAY + 1) * 1000,
            trade: null,
            delivery: ["app"]
          }
        ],
        nextCursor: null,
        meta: { requestId: answer.headers.get("x-request-id"), methodVersion: "public-alerts-v1" }
      })
      assert.match(String(event?.["eventId"]), /^evt_[\w-]{1,60}$/u)
      assert.deepInclude((yield* read(`/${id}`)).json("data"), {
        status: "triggered",
        armed: false,
        triggerCount: 1,
        lastTriggeredAtMs: (MONDAY + 1) * 1000
      })
      yield* priced(2, [11])
      assert.strictEqual((yield* firings()).length, 1)
      const late = yield* send("PATCH", `/${id}`, { condition: { threshold: "20" } })
      assert.deepStrictEqual(late.json("error.details"), [
        { in: "body", field: "condition.threshold", issue: "conflict" }
      ])
    })
  )

  it.effect("is listed page by page, of one alert, and since a time; and outlives its alert", () =>
    Effect.gen(function* () {
      const mint = mintOf(5)
      yield* priced(100, [9], { mint })
      const id = yield* make({ ...wanted, mint, recurrence: "repeat", cooldownSeconds: 60 })
      yield* Effect.forEach([200, 300, 400], (second) =>
        Effect.andThen(priced(second, [11], { mint }), priced(second + 70, [9], { mint }))
      )
      const first = yield* read(`/events?alertId=${id}&limit=2`)
      assert.deepStrictEqual(times(itemsOf(first.text)), [400, 300])
      const cursor = String(first.json("nextCursor"))
      assert.deepStrictEqual(times(yield* firings(`?alertId=${id}&limit=2&cursor=${cursor}`)), [200])
      assert.strictEqual((yield* read(`/events?limit=2&cursor=${cursor}`)).json("error.code"), "invalid_cursor")
      const since = (MONDAY + 300) * 1000
      assert.deepStrictEqual(times(yield* firings(`?alertId=${id}&sinceMs=${since}`)), [400, 300])
      yield* remove(id)
      assert.deepStrictEqual(times(yield* firings(`?alertId=${id}`)), [400, 300, 200])
      const theirs = yield* read(`/events?alertId=${id}`, "b")
      assert.deepStrictEqual(itemsOf(theirs.text), [])
    })
  )
})

describe.runIf(TestDatabase.isAvailable)("over a database", () => {
  it.effect("a restart fires nothing again, and forgets no alert that waits", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      // Everything is new but the database, as after a restart.
      const started = () =>
        serving({ store: Layer.fresh(AlertStorePg.layer).pipe(Layer.provide(TestDatabase.connect(address))) })
      const ids = yield* Effect.gen(function* () {
        yield* priced(0, [9])
        const alerts = [yield* make(), yield* make({ ...wanted, recurrence: "repeat", cooldownSeconds: 60 })]
        alerts.push(yield* make({ ...wanted, condition: { ...wanted.condition, threshold: "12" } }))
        yield* priced(1, [9, 11])
        yield* Effect.eventually(Effect.filterOrFail(firings(), (events) => events.length === 2))
        return alerts
      }).pipe(Effect.provide(started()))

      yield* Effect.gen(function* () {
        const store = yield* AlertStore
        // The feed catches up with blocks that were seen before, and goes on.
        yield* priced(0, [9])
        yield* priced(1, [9, 11])
        yield* priced(2, [9.95])
        assert.strictEqual((yield* firings()).length, 2)
        yield* priced(3, [12.5])
        const events = yield* Effect.eventually(Effect.filterOrFail(firings(), (rows) => rows.length === 3))
        assert.deepStrictEqual(events.map(({ alertId, value }) => [alertId, value]).slice(0, 1), [[ids[2], "12.5"]])
        assert.deepInclude(yield* store.find("local", ids[1] ?? ""), { triggerCount: 1, armed: false })
        assert.strictEqual((yield* read(`/${ids[0]}`)).json("data.status"), "triggered")
      }).pipe(Effect.provide(started()))
    })
  )
})
