/** Alerts on the trades of tracked wallets, over a database. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as AlertStorePg from "../../../src/alerts/AlertStorePg.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import * as TrackerStorePg from "../../../src/wallets/tracker/TrackerStorePg.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { itemsOf, read, send, serving } from "../../alerts/http.ts"
import { settle } from "../../alerts/world.ts"
import { mintOf, MONDAY, trade, walletOf } from "../../market/tape/tape.ts"
import { call, keyOf } from "../../support/http.ts"
import { block } from "../../support/reads.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const A = walletOf(1)
const scopes = ["alerts.read", "alerts.write", "tracker.read"] as const
const keys = [keyOf("a", { scopes }), keyOf("b", { scopes, accountId: "other" })]

/** Everything is new but the database, as after a restart. */
const started = (address: TestDatabase.TestAddress) => {
  const database = TestDatabase.connect(address)
  const tracker = Layer.fresh(TrackerStorePg.layer).pipe(Layer.provide([database, Layer.fresh(WatchList.layer)]))
  return serving({
    store: Layer.fresh(AlertStorePg.layer).pipe(Layer.provide(database)),
    world: { keys, tracker: Layer.merge(tracker, Tickets.layerMemory) }
  })
}

const track = (key = "a") =>
  call("/api/v1/tracker/wallets", {
    method: "POST",
    key,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ wallet: A })
  })

const untrack = call(`/api/v1/tracker/wallets/${A}`, { method: "DELETE" })

const body = { wallet: A, condition: { metric: "wallet_trade_usd", operator: "at_least", threshold: "500" } }

/** One block of trades of that wallet worth a thousand dollars, so many seconds after `MONDAY`. */
const traded = Effect.fnUntraced(function* (second: number, given: ReadonlyArray<Partial<TapeTrade>>) {
  const tape = yield* Tape
  const timeMs = (MONDAY + second) * 1000
  yield* TestClock.setTime(timeMs)
  const trades = given.map((other, index) =>
    trade({
      slot: 1000 + second,
      index,
      timeMs,
      signature: `s${second}_${index}`,
      volumeUsdNanos: 1_000_000_000_000n,
      ...other
    })
  )
  yield* tape.apply(block(second, { trades }))
  yield* settle
})

/** Signatures of the firings, sorted, once there are so many. */
const firedOf = (count: number) =>
  Effect.eventually(
    Effect.flatMap(read("/events"), ({ text }) => {
      const events = itemsOf(text)
      return events.length === count ? Effect.succeed(events) : Effect.fail(events.length)
    })
  ).pipe(
    Effect.map((events) =>
      events.map((event) => (event["trade"] as { readonly signature: string }).signature).toSorted()
    )
  )

describe.runIf(TestDatabase.isAvailable)("alerts on the trades of tracked wallets", () => {
  it.effect("are set for a wallet of the account alone, and each trade fires once, over a restart too", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const id = yield* Effect.gen(function* () {
        const early = yield* send("POST", "", body)
        assert.strictEqual(early.status, 400)
        assert.deepStrictEqual(early.json("error.details"), [{ in: "body", field: "wallet", issue: "conflict" }])
        assert.include(early.json("error.message"), "tracked wallets")
        yield* track("b")
        assert.strictEqual((yield* send("POST", "", body)).status, 400)
        yield* track()
        yield* traded(0, [{}])
        const made = yield* send("POST", "", body)
        assert.strictEqual(made.status, 201)
        assert.deepInclude(made.json("data"), {
          mint: null,
          wallet: A,
          side: "either",
          recurrence: "repeat",
          cooldownSeconds: null,
          status: "active",
          statusReason: null,
          armed: true,
          trades: { leftOut: 0, unvalued: 0 },
          evaluation: { state: "ok", value: null, observedAtMs: MONDAY * 1000, sinceMs: null, reason: null }
        })
        yield* traded(1, [{}, { mint: mintOf(2), side: "sell" }, { volumeUsdNanos: 1n }, { volumeUsdNanos: null }])
        assert.deepStrictEqual(yield* firedOf(2), ["s1_0", "s1_1"])
        return String(made.json("data.id"))
      }).pipe(Effect.provide(started(address)))

      yield* Effect.gen(function* () {
        // The feed catches up with a block that was seen before, and goes on.
        yield* traded(1, [{}, { mint: mintOf(2), side: "sell" }, { volumeUsdNanos: 1n }, { volumeUsdNanos: null }])
        yield* traded(2, [{}])
        assert.deepStrictEqual(yield* firedOf(3), ["s1_0", "s1_1", "s2_0"])
        assert.deepInclude((yield* read(`/${id}`)).json("data"), {
          triggerCount: 3,
          trades: { leftOut: 0, unvalued: 1 }
        })
      }).pipe(Effect.provide(started(address)))
    })
  )

  it.effect("are inactive, with the reason, while the wallet is not tracked", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      yield* Effect.gen(function* () {
        yield* track()
        yield* traded(0, [{}])
        const id = String((yield* send("POST", "", { ...body, mint: mintOf(1), side: "buy" })).json("data.id"))
        yield* untrack
        yield* traded(1, [{}])
        const lost = { status: "inactive", statusReason: "wallet_not_tracked", armed: false, triggerCount: 0 }
        assert.deepInclude((yield* read(`/${id}`)).json("data"), lost)
        assert.lengthOf(itemsOf((yield* read("?status=inactive")).text), 1)
        assert.deepInclude((yield* send("PATCH", `/${id}`, { note: "kept" })).json("data"), { ...lost, note: "kept" })
        yield* track()
        yield* traded(2, [{}, { side: "sell" }])
        assert.deepStrictEqual(yield* firedOf(1), ["s2_0"])
        assert.deepInclude((yield* read(`/${id}`)).json("data"), { status: "active", statusReason: null })
      }).pipe(Effect.provide(started(address)))
    })
  )
})
