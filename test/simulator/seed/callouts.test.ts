import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { CalloutStore } from "../../../src/callouts/CalloutStore.ts"
import { CalloutStoreUnavailable, NewCallout } from "../../../src/api/schemas/Callout.ts"
import { calloutsOf, seedCallouts } from "../../../src/simulator/seed/callouts.ts"
import { coins } from "../../../src/simulator/pools/catalog.ts"
import { at } from "../../support/clock.ts"
import { addressOf, START } from "../../callouts/callouts.ts"
import * as MemoryCallouts from "../../support/memoryCallouts.ts"

const mints = coins.map(({ decimals, name, symbol }, i) => ({ symbol, name, decimals, address: addressOf(i + 1) }))
const wallets = [1, 2, 3].map((n) => ({ label: `wallet ${n}`, address: addressOf(1000 + n) }))
const DAY = 86_400_000

const demo = calloutsOf({ nowMs: START, mints, wallets })
const isCallout = Schema.is(NewCallout)

it("makes plausible callouts, all written before the day and none expired", () => {
  assert.isAtLeast(demo.length, 10)
  assert.strictEqual(new Set(demo.map(({ callout }) => callout.id)).size, demo.length)
  for (const { callout, clicks, trades } of demo) {
    assert.isTrue(isCallout(callout), JSON.stringify(callout))
    assert.isAtMost(callout.createdAtMs, START)
    assert.isAbove(callout.expiresAtMs, START + DAY)
    assert.isTrue(mints.some(({ address }) => address === callout.mint))
    assert.isAtLeast(clicks, trades.length)
  }
})

it("makes the same callouts all day, and others on the next day or in another market", () => {
  const ids = (nowMs: number, market = mints) =>
    calloutsOf({ nowMs, mints: market, wallets }).map(({ callout }) => callout.id)
  assert.deepStrictEqual(calloutsOf({ nowMs: START + 3_600_000, mints, wallets }), demo)
  assert.notIncludeMembers(ids(START + DAY), ids(START).slice(0, 1))
  const other = mints.map((mint, i) => ({ ...mint, address: addressOf(500 + i) }))
  assert.notIncludeMembers(ids(START, other), ids(START).slice(0, 1))
  assert.deepStrictEqual(ids(START, []), [])
})

const checkPosted = Effect.gen(function* () {
  const store = yield* CalloutStore
  for (const { callout, clicks, trades } of demo) {
    const found = yield* store.find(callout.id)
    assert.strictEqual(found?.clickCount, clicks)
    assert.strictEqual(found?.traderCount, new Set(trades.map(({ trader }) => trader)).size)
    const volume = trades.reduce((sum, { volumeUsdNanos }) => sum + volumeUsdNanos, 0n)
    assert.strictEqual(found?.attributedVolumeUsdNanos, volume)
  }
})

it.effect("posts each callout with its visits and trades once, however often the service starts", () =>
  Effect.gen(function* () {
    yield* seedCallouts(demo)
    yield* seedCallouts(demo)
    yield* checkPosted
  }).pipe(at(START), Effect.provide(MemoryCallouts.layer))
)

it.effect("completes a run that was interrupted between a callout and its trades", () =>
  Effect.gen(function* () {
    const store = yield* CalloutStore
    let writes = 0
    const broken = CalloutStore.of({
      ...store,
      attribute: (trade) => (writes++ > 3 ? Effect.die("the process ends") : store.attribute(trade))
    })
    yield* seedCallouts(demo).pipe(Effect.provideService(CalloutStore, broken), Effect.exit)
    yield* seedCallouts(demo)
    yield* checkPosted
  }).pipe(at(START), Effect.provide(MemoryCallouts.layer))
)

it.effect("repeats what an unavailable store refused, and counts nothing twice", () =>
  Effect.gen(function* () {
    const store = yield* CalloutStore
    let calls = 0
    const flaky = <A>(request: Effect.Effect<A, CalloutStoreUnavailable>) =>
      Effect.suspend(() =>
        calls++ % 5 === 0 ? Effect.fail(new CalloutStoreUnavailable({ cause: new Error("down") })) : request
      )
    const shaky = CalloutStore.of({
      ...store,
      post: (callout) => flaky(store.post(callout)),
      find: (id) => flaky(store.find(id)),
      attribute: (trade) => flaky(store.attribute(trade)),
      recordClick: (id, clicks) => flaky(store.recordClick(id, clicks))
    })
    const seeding = yield* seedCallouts(demo).pipe(Effect.provideService(CalloutStore, shaky), Effect.forkChild)
    yield* TestClock.adjust("2 minutes")
    yield* Fiber.join(seeding)
    yield* at(START)(checkPosted)
  }).pipe(Effect.provide(MemoryCallouts.layer))
)
