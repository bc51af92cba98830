import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { RateLimiter } from "../../src/access/RateLimiter.ts"
import { UsageStore } from "../../src/access/usage/UsageStore.ts"
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
})
