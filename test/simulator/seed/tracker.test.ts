import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { TrackerStoreUnavailable } from "../../../src/api/schemas/Tracker.ts"
import { castOf } from "../../../src/simulator/traders/cast.ts"
import { seedTracker, trackedWalletsOf } from "../../../src/simulator/seed/tracker.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { memoryTracker } from "../../support/tracker.ts"

const { wallets } = castOf("a seed")
const demo = trackedWalletsOf(wallets)
const account = { accountId: "welcome", groupId: null }

it("picks wallets that trade in the market, each once", () => {
  assert.isAtLeast(demo.length, 5)
  assert.strictEqual(new Set(demo.map(({ wallet }) => wallet)).size, demo.length)
  assert.isTrue(demo.every(({ wallet }) => wallets.some(({ address }) => address === wallet)))
  assert.deepStrictEqual(trackedWalletsOf([]), [])
})

it.effect("tracks the wallets in their groups once, however often the service starts", () =>
  Effect.gen(function* () {
    const store = yield* TrackerStore
    yield* seedTracker(demo)
    yield* seedTracker(demo)
    const { groups, wallets } = yield* store.overview(account)
    assert.deepStrictEqual(
      groups.map(({ name, walletCount }) => [name, walletCount]),
      [
        ["Main", demo.filter(({ group }) => group === null).length],
        ["Whales", demo.filter(({ group }) => group === "Whales").length]
      ]
    )
    assert.sameMembers(
      wallets.map(({ label }) => label),
      demo.map(({ label }) => label)
    )
  }).pipe(Effect.provide(memoryTracker))
)

it.effect("leaves a list alone that its owner has changed", () =>
  Effect.gen(function* () {
    const store = yield* TrackerStore
    yield* seedTracker(demo)
    for (const { wallet } of demo) {
      yield* store.remove({ accountId: "welcome", wallet })
    }
    yield* seedTracker(demo)
    assert.deepStrictEqual((yield* store.overview(account)).wallets, [])
  }).pipe(Effect.provide(memoryTracker))
)

it.effect("creates each group once when the store fails after writing it", () =>
  Effect.gen(function* () {
    const store = yield* TrackerStore
    let failures = 1
    const flaky = TrackerStore.of({
      ...store,
      createGroup: (request) =>
        Effect.tap(store.createGroup(request), () =>
          failures-- > 0 ? Effect.fail(new TrackerStoreUnavailable({ cause: "timeout" })) : Effect.void
        )
    })
    const seeding = yield* seedTracker(demo).pipe(Effect.provideService(TrackerStore, flaky), Effect.forkChild)
    yield* TestClock.adjust("10 seconds")
    yield* Fiber.join(seeding)
    const { groups, wallets } = yield* store.overview(account)
    assert.deepStrictEqual(
      groups.map(({ name }) => name),
      ["Main", "Whales"]
    )
    assert.strictEqual(wallets.length, demo.length)
  }).pipe(Effect.provide(memoryTracker))
)
