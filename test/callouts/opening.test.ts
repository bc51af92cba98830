import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { CalloutStore } from "../../src/callouts/CalloutStore.ts"
import { Opening, postOpening } from "../../src/callouts/opening.ts"
import { CalloutStoreUnavailable, NewCallout } from "../../src/domain/wallets/Callout.ts"
import { calloutsOf } from "../../src/simulator/seed/callouts.ts"
import { coins } from "../../src/simulator/chain/catalog.ts"
import { at } from "../support/clock.ts"
import { addressOf, START } from "./callouts.ts"

const mints = coins.map(({ decimals, name, symbol }, i) => ({ symbol, name, decimals, address: addressOf(i + 1) }))
const wallets = [1, 2, 3].map((n) => ({ label: `wallet ${n}`, address: addressOf(1000 + n) }))
const DAY = 86_400_000

const opening = calloutsOf({ nowMs: START, mints, wallets })
const isCallout = Schema.is(NewCallout)

it("invents callouts that could have been posted, all before and none expired", () => {
  assert.isAtLeast(opening.length, 10)
  assert.strictEqual(new Set(opening.map(({ callout }) => callout.id)).size, opening.length)
  for (const { callout, clicks, trades } of opening) {
    assert.isTrue(isCallout(callout), JSON.stringify(callout))
    assert.isAtMost(callout.createdAtMs, START)
    assert.isAbove(callout.expiresAtMs, START + DAY)
    assert.isTrue(mints.some(({ address }) => address === callout.mint))
    assert.isAtLeast(clicks, trades.length)
  }
})

it("invents the same ones all day, and others the next day or in another market", () => {
  const ids = (nowMs: number, market = mints) =>
    calloutsOf({ nowMs, mints: market, wallets }).map(({ callout }) => callout.id)
  assert.deepStrictEqual(calloutsOf({ nowMs: START + 3_600_000, mints, wallets }), opening)
  assert.notIncludeMembers(ids(START + DAY), ids(START).slice(0, 1))
  const other = mints.map((mint, i) => ({ ...mint, address: addressOf(500 + i) }))
  assert.notIncludeMembers(ids(START, other), ids(START).slice(0, 1))
  assert.deepStrictEqual(ids(START, []), [])
})

it.effect("posts each with its past, once, however often the service starts", () =>
  Effect.gen(function* () {
    const store = yield* CalloutStore
    yield* postOpening
    yield* postOpening
    for (const { callout, clicks, trades } of opening) {
      const found = yield* store.find(callout.id)
      assert.strictEqual(found?.clickCount, clicks)
      assert.strictEqual(found?.traderCount, new Set(trades.map(({ trader }) => trader)).size)
      const volume = trades.reduce((sum, { volumeUsdNanos }) => sum + volumeUsdNanos, 0n)
      assert.strictEqual(found?.attributedVolumeUsdNanos, volume)
    }
  }).pipe(at(START), Effect.provideService(Opening, opening), Effect.provide(CalloutStore.layerMemory))
)

it.effect("posts nothing in a market that is real", () =>
  Effect.gen(function* () {
    const store = yield* CalloutStore
    yield* postOpening
    assert.deepStrictEqual(yield* store.page({ sort: "top", mint: null, limit: 1, after: null }), {
      callouts: [],
      next: null
    })
  }).pipe(Effect.provide(CalloutStore.layerMemory))
)

const down = () => new CalloutStoreUnavailable({ cause: new Error("away") })

it.effect("lets the service start without its callouts", () => {
  const store = { post: down, remove: down, find: down, page: down, recordClick: down, attribute: down }
  return postOpening.pipe(Effect.provideService(Opening, opening), Effect.provide(Layer.succeed(CalloutStore, store)))
})
