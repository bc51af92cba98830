import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { UsageStore } from "../../../src/access/usage/UsageStore.ts"
import { LimiterUnavailable } from "../../../src/api/schemas/Budget.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import { charge, chargeDue } from "../../../src/live/market/charges.ts"
import { MarketHub } from "../../../src/live/market/MarketHub.ts"
import type { Opening } from "../../../src/live/market/Topic.ts"
import { mintOf } from "../../market/tape/tape.ts"
import * as MemoryUsage from "../../support/memoryUsage.ts"
import { FakeWire } from "../../wallets/tracker/hubScene.ts"

const key = { id: "key_a", plan: DEFAULT_PLAN }

/** A hub whose subscriptions wait for their opening. */
const makeScene = Effect.fnUntraced(function* (sockets = 1) {
  const openings: Array<Opening> = []
  const hub = new MarketHub(
    { health: () => ({ ingestLagMs: 0, heardAtMs: 0 }), opening: (opening) => openings.push(opening) },
    { replayBytes: 1024, sockets }
  )
  const limiter = yield* RateLimiter
  const parts = { hub, limiter, usage: yield* UsageStore }
  /** Connects a key and subscribes to a price under each id. */
  const subscribe = (keyId: string, ids: ReadonlyArray<string>, nowMs = 0) => {
    const wire = new FakeWire()
    const grant = { keyId, session: null, accountId: "a", control: true, streamId: `s_${keyId}`, plan: DEFAULT_PLAN }
    const connection = hub.open(grant, wire, nowMs)
    for (const id of ids) {
      connection?.message(JSON.stringify({ op: "subscribe", id, channel: "price", mint: mintOf(1) }), nowMs)
    }
    return { connection, wire }
  }
  /** Opens every subscription; the first minute is charged with `isPaid`. */
  const open = Effect.fnUntraced(function* (isPaid: boolean, nowMs = 0) {
    for (const opening of openings) {
      yield* isPaid ? charge(parts, [opening.subscription]) : Effect.void
      hub.opened(opening, {}, nowMs)
    }
    return openings.map(({ subscription }) => subscription)
  })
  const left = (id = key.id) => Effect.map(limiter.peek({ ...key, id }, "rest"), ({ remaining }) => remaining)
  return { hub, limiter, parts, subscribe, open, left }
})

const services = Layer.merge(RateLimiter.layerMemory, MemoryUsage.layer)

describe("the charges of subscriptions", () => {
  it.effect("end the subscriptions that the budget has no room for, and leave the others", () =>
    Effect.gen(function* () {
      const { left, limiter, open, parts, subscribe } = yield* makeScene()
      const { wire } = subscribe(key.id, ["one", "two", "three"])
      yield* open(true)
      assert.strictEqual(yield* left(), 117)
      yield* TestClock.adjust("60 seconds")
      yield* limiter.admit({ key, budget: "rest", cost: 118 })
      yield* chargeDue(parts)
      const ended = () => wire.controls.filter(({ type }) => type === "ended")
      assert.deepStrictEqual(
        ended().map(({ code, id, retryAfterMs }) => [id, code, retryAfterMs]),
        [["three", "rate_limited", 60_000]]
      )
      assert.strictEqual(yield* left(), 0)
      // Each is paid for a minute: nothing is due again.
      yield* chargeDue(parts)
      assert.lengthOf(ended(), 1)
    }).pipe(Effect.provide(services))
  )

  it.effect("pay the minute after the last paid one, however late they are made", () =>
    Effect.gen(function* () {
      const { open, parts, subscribe } = yield* makeScene()
      subscribe(key.id, ["one"])
      const [subscription] = yield* open(true)
      assert.strictEqual(subscription?.paidUntilMs, 60_000)
      for (const minute of [1, 2, 3]) {
        yield* TestClock.setTime(minute * 60_000 + 900)
        yield* chargeDue(parts)
        assert.strictEqual(subscription?.paidUntilMs, (minute + 1) * 60_000)
      }
    }).pipe(Effect.provide(services))
  )

  it.effect("leave out the time before the last minute, when nothing could be charged for longer", () =>
    Effect.gen(function* () {
      const { left, open, parts, subscribe } = yield* makeScene()
      subscribe(key.id, ["one"])
      const [subscription] = yield* open(true)
      yield* TestClock.setTime(600_000)
      yield* chargeDue(parts)
      assert.deepStrictEqual([subscription?.paidUntilMs, yield* left()], [600_000, 119])
      yield* chargeDue(parts)
      assert.deepStrictEqual([subscription?.paidUntilMs, yield* left()], [660_000, 118])
      yield* chargeDue(parts)
      assert.strictEqual(yield* left(), 118)
    }).pipe(Effect.provide(services))
  )

  it.effect("go on by the minute after the clock was set back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(3_600_000)
      const { open, parts, subscribe } = yield* makeScene()
      subscribe(key.id, ["one"], 3_600_000)
      const [subscription] = yield* open(true, 3_600_000)
      assert.strictEqual(subscription?.paidUntilMs, 3_660_000)
      yield* TestClock.setTime(1_000_000)
      yield* chargeDue(parts)
      assert.strictEqual(subscription?.paidUntilMs, 1_060_000)
      yield* chargeDue(parts)
      assert.strictEqual(subscription?.paidUntilMs, 1_060_000)
      yield* TestClock.setTime(1_060_000)
      yield* chargeDue(parts)
      assert.strictEqual(subscription?.paidUntilMs, 1_120_000)
    }).pipe(Effect.provide(services))
  )

  it.effect("wait for a limiter that cannot decide, and do not ask it for every stream", () =>
    Effect.gen(function* () {
      const STREAMS = 500
      const { left, limiter, open, parts, subscribe } = yield* makeScene(STREAMS)
      for (let n = 0; n < STREAMS; n++) {
        subscribe(`key_${n}`, ["one"])
      }
      yield* open(false)
      let calls = 0
      const lost = RateLimiter.of({
        ...limiter,
        admit: () => {
          calls += 1
          return Effect.andThen(Effect.yieldNow, Effect.fail(new LimiterUnavailable({ cause: "away" })))
        }
      })
      yield* chargeDue({ ...parts, limiter: lost })
      assert.isBelow(calls, STREAMS / 2)
      assert.strictEqual(yield* left("key_0"), 120)
      yield* chargeDue(parts)
      assert.deepStrictEqual(yield* Effect.all([left("key_0"), left(`key_${STREAMS - 1}`)]), [119, 119])
    }).pipe(Effect.provide(services))
  )

  it.effect("skip a reader that left while others were charged", () =>
    Effect.gen(function* () {
      const { limiter, open, parts, subscribe } = yield* makeScene()
      const { connection } = subscribe(key.id, ["one", "two", "three"])
      yield* open(false)
      const costs: Array<number> = []
      const short = RateLimiter.of({
        ...limiter,
        admit: (request) => {
          costs.push(request.cost)
          connection?.message(JSON.stringify({ op: "unsubscribe", id: costs.length === 1 ? "one" : "three" }), 0)
          return limiter.admit({ ...request, cost: costs.length === 1 ? 1000 : request.cost })
        }
      })
      yield* chargeDue({ ...parts, limiter: short })
      assert.deepStrictEqual(costs, [3, 1])
    }).pipe(Effect.provide(services))
  )
})
