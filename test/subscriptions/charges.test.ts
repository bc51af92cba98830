import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { RateLimiter } from "../../src/access/RateLimiter.ts"
import { UsageStore } from "../../src/access/usage/UsageStore.ts"
import { LimiterUnavailable } from "../../src/domain/Budget.ts"
import { DEFAULT_PLAN } from "../../src/domain/keys/Plan.ts"
import { charge, chargeDue } from "../../src/subscriptions/charges.ts"
import { MarketHub } from "../../src/subscriptions/MarketHub.ts"
import type { Opening } from "../../src/subscriptions/Topic.ts"
import { mintOf } from "../market/tape/tape.ts"
import * as MemoryUsage from "../support/memoryUsage.ts"
import { FakeWire } from "../tracker/hubScene.ts"

const key = { id: "key_a", plan: DEFAULT_PLAN }

describe("the charges of subscriptions", () => {
  it.effect("end those that the budget has no room for, and leave the others", () =>
    Effect.gen(function* () {
      const openings: Array<Opening> = []
      const hub = new MarketHub(
        { health: () => ({ ingestLagMs: 0, heardAtMs: 0 }), opening: (opening) => openings.push(opening) },
        { replayBytes: 1024, sockets: 1 }
      )
      const limiter = yield* RateLimiter
      const parts = { hub, limiter, usage: yield* UsageStore }
      const wire = new FakeWire()
      const grant = { keyId: key.id, session: null, accountId: "a", control: true, streamId: "s", plan: DEFAULT_PLAN }
      const connection = hub.open(grant, wire, 0)
      for (const id of ["one", "two", "three"]) {
        connection?.message(JSON.stringify({ op: "subscribe", id, channel: "price", mint: mintOf(1) }), 0)
      }
      for (const opening of openings) {
        yield* charge(parts, [opening.subscription])
        hub.opened(opening, {}, 0)
      }
      assert.strictEqual((yield* limiter.peek(key, "rest")).remaining, 117)
      yield* TestClock.adjust("60 seconds")
      yield* limiter.admit({ key, budget: "rest", cost: 118 })
      yield* chargeDue(parts)
      const ended = wire.controls.filter(({ type }) => type === "ended")
      assert.deepStrictEqual(
        ended.map(({ code, id, retryAfterMs }) => [id, code, retryAfterMs]),
        [["three", "rate_limited", 60_000]]
      )
      assert.strictEqual((yield* limiter.peek(key, "rest")).remaining, 0)
      // Each is paid for a minute: nothing is due again.
      yield* chargeDue(parts)
      assert.lengthOf(
        wire.controls.filter(({ type }) => type === "ended"),
        1
      )
    }).pipe(Effect.provide(Layer.merge(RateLimiter.layerMemory, MemoryUsage.layer)))
  )

  it.effect("go on by the minute after the clock was set back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(3_600_000)
      const openings: Array<Opening> = []
      const hub = new MarketHub(
        { health: () => ({ ingestLagMs: 0, heardAtMs: 0 }), opening: (opening) => openings.push(opening) },
        { replayBytes: 1024, sockets: 1 }
      )
      const parts = { hub, limiter: yield* RateLimiter, usage: yield* UsageStore }
      const grant = { keyId: key.id, session: null, accountId: "a", control: true, streamId: "s", plan: DEFAULT_PLAN }
      const connection = hub.open(grant, new FakeWire(), 3_600_000)
      connection?.message(JSON.stringify({ op: "subscribe", id: "one", channel: "price", mint: mintOf(1) }), 3_600_000)
      for (const opening of openings) {
        yield* charge(parts, [opening.subscription])
        hub.opened(opening, {}, 3_600_000)
      }
      const [subscription] = openings.map((opening) => opening.subscription)
      assert.strictEqual(subscription?.paidUntilMs, 3_660_000)
      yield* TestClock.setTime(1_000_000)
      yield* chargeDue(parts)
      assert.strictEqual(subscription?.paidUntilMs, 1_060_000)
      yield* chargeDue(parts)
      assert.strictEqual(subscription?.paidUntilMs, 1_060_000)
      yield* TestClock.setTime(1_060_000)
      yield* chargeDue(parts)
      assert.strictEqual(subscription?.paidUntilMs, 1_120_000)
    }).pipe(Effect.provide(Layer.merge(RateLimiter.layerMemory, MemoryUsage.layer)))
  )

  it.effect("wait for a limiter that cannot decide, which is not asked for every stream", () =>
    Effect.gen(function* () {
      const STREAMS = 500
      const openings: Array<Opening> = []
      const hub = new MarketHub(
        { health: () => ({ ingestLagMs: 0, heardAtMs: 0 }), opening: (opening) => openings.push(opening) },
        { replayBytes: 1024, sockets: STREAMS }
      )
      const limiter = yield* RateLimiter
      const parts = { hub, limiter, usage: yield* UsageStore }
      for (let n = 0; n < STREAMS; n++) {
        const grant = { session: null, accountId: "a", control: true, plan: DEFAULT_PLAN }
        const connection = hub.open({ ...grant, keyId: `key_${n}`, streamId: `s${n}` }, new FakeWire(), 0)
        connection?.message(JSON.stringify({ op: "subscribe", id: "one", channel: "price", mint: mintOf(1) }), 0)
      }
      for (const opening of openings) {
        hub.opened(opening, {}, 0)
      }
      let asked = 0
      const lost = RateLimiter.of({
        ...limiter,
        admit: () => {
          asked += 1
          return Effect.andThen(Effect.yieldNow, Effect.fail(new LimiterUnavailable({ cause: "away" })))
        }
      })
      yield* chargeDue({ ...parts, limiter: lost })
      assert.isBelow(asked, STREAMS / 2)
      const left = (n: number) =>
        Effect.map(limiter.peek({ ...key, id: `key_${n}` }, "rest"), ({ remaining }) => remaining)
      assert.strictEqual(yield* left(0), 120)
      yield* chargeDue(parts)
      assert.deepStrictEqual(yield* Effect.all([left(0), left(STREAMS - 1)]), [119, 119])
    }).pipe(Effect.provide(Layer.merge(RateLimiter.layerMemory, MemoryUsage.layer)))
  )

  it.effect("are not made for a reader that has left while others were charged", () =>
    Effect.gen(function* () {
      const openings: Array<Opening> = []
      const hub = new MarketHub(
        { health: () => ({ ingestLagMs: 0, heardAtMs: 0 }), opening: (opening) => openings.push(opening) },
        { replayBytes: 1024, sockets: 1 }
      )
      const limiter = yield* RateLimiter
      const grant = { keyId: key.id, session: null, accountId: "a", control: true, streamId: "s", plan: DEFAULT_PLAN }
      const connection = hub.open(grant, new FakeWire(), 0)
      for (const id of ["one", "two", "three"]) {
        connection?.message(JSON.stringify({ op: "subscribe", id, channel: "price", mint: mintOf(1) }), 0)
      }
      openings.forEach((opening) => hub.opened(opening, {}, 0))
      const costs: Array<number> = []
      const short = RateLimiter.of({
        ...limiter,
        admit: (request) => {
          costs.push(request.cost)
          connection?.message(JSON.stringify({ op: "unsubscribe", id: costs.length === 1 ? "one" : "three" }), 0)
          return limiter.admit({ ...request, cost: costs.length === 1 ? 1000 : request.cost })
        }
      })
      yield* chargeDue({ hub, limiter: short, usage: yield* UsageStore })
      assert.deepStrictEqual(costs, [3, 1])
    }).pipe(Effect.provide(Layer.merge(RateLimiter.layerMemory, MemoryUsage.layer)))
  )
})
