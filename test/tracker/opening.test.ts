import { assert, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { TrackerStoreUnavailable } from "../../src/domain/wallets/Tracker.ts"
import { castOf } from "../../src/simulator/traders/cast.ts"
import { trackedWalletsOf } from "../../src/simulator/seed/trackedWallets.ts"
import { OpeningWallets, trackOpening } from "../../src/tracker/opening.ts"
import { TrackerStore } from "../../src/tracker/TrackerStore.ts"
import { memoryTracker } from "../support/tracker.ts"

const { wallets } = castOf("a seed")
const opening = trackedWalletsOf(wallets)
const account = { accountId: "welcome", groupId: null }

it("picks wallets that trade in the market, each once", () => {
  assert.isAtLeast(opening.length, 5)
  assert.strictEqual(new Set(opening.map(({ wallet }) => wallet)).size, opening.length)
  assert.isTrue(opening.every(({ wallet }) => wallets.some(({ address }) => address === wallet)))
  assert.deepStrictEqual(trackedWalletsOf([]), [])
})

it.effect("tracks them in their groups, once, however often the service starts", () =>
  Effect.gen(function* () {
    const store = yield* TrackerStore
    yield* trackOpening
    yield* trackOpening
    const { groups, wallets } = yield* store.overview(account)
    assert.deepStrictEqual(
      groups.map(({ name, walletCount }) => [name, walletCount]),
      [
        ["Main", opening.filter(({ group }) => group === null).length],
        ["Whales", opening.filter(({ group }) => group === "Whales").length]
      ]
    )
    assert.sameMembers(
      wallets.map(({ label }) => label),
      opening.map(({ label }) => label)
    )
  }).pipe(Effect.provideService(OpeningWallets, opening), Effect.provide(memoryTracker))
)

it.effect("leaves a list alone that its owner has changed", () =>
  Effect.gen(function* () {
    const store = yield* TrackerStore
    yield* trackOpening
    for (const { wallet } of opening) {
      yield* store.remove({ accountId: "welcome", wallet })
    }
    yield* trackOpening
    assert.deepStrictEqual((yield* store.overview(account)).wallets, [])
  }).pipe(Effect.provideService(OpeningWallets, opening), Effect.provide(memoryTracker))
)

it.effect("tracks nothing in a market that is real", () =>
  Effect.gen(function* () {
    const store = yield* TrackerStore
    yield* trackOpening
    assert.deepStrictEqual((yield* store.overview(account)).wallets, [])
  }).pipe(Effect.provide(memoryTracker))
)

const down = () => new TrackerStoreUnavailable({ cause: "away" })

it.effect("lets the service start without its wallets", () => {
  const store = {
    overview: down,
    add: down,
    remove: down,
    createGroup: down,
    recordActivity: down,
    changes: Stream.never
  }
  return trackOpening.pipe(
    Effect.provideService(OpeningWallets, opening),
    Effect.provide(Layer.succeed(TrackerStore, store))
  )
})
