import { assert, it } from "@effect/vitest"
import { Effect, Layer, PubSub, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Address } from "../../../src/domain/Address.ts"
import { TrackerStoreUnavailable, type WalletActivity } from "../../../src/api/schemas/Tracker.ts"
import * as KeepActivity from "../../../src/wallets/tracker/keepActivity.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { addressOf } from "../../callouts/callouts.ts"
import { trackerFeed } from "../../support/tracker.ts"

const [fern, moss] = [addressOf(1), addressOf(2)]

const unused = () => Effect.die("this test only writes")

/** Runs a test over a store that records its calls, and fails while it is unavailable. */
const keeping = <E>(
  test: (world: {
    readonly see: (wallet: Address, atMs: number) => Effect.Effect<void>
    readonly written: Array<ReadonlyArray<WalletActivity>>
    readonly store: { isUnavailable: boolean }
  }) => Effect.Effect<void, E>
) =>
  Effect.gen(function* () {
    const seen = yield* PubSub.unbounded<WalletActivity>()
    const written: Array<ReadonlyArray<WalletActivity>> = []
    const store = { isUnavailable: false }
    const recording = Layer.succeed(TrackerStore, {
      overview: unused,
      add: unused,
      remove: unused,
      addAll: unused,
      change: unused,
      createGroup: unused,
      renameGroup: unused,
      removeGroup: unused,
      recordActivity: (batch) =>
        store.isUnavailable
          ? Effect.fail(new TrackerStoreUnavailable({ cause: "unavailable" }))
          : Effect.sync(() => void written.push(batch)),
      changes: Stream.never
    })
    const see = (wallet: Address, atMs: number) =>
      Effect.andThen(PubSub.publish(seen, { wallet, atMs }), Effect.yieldNow.pipe(Effect.repeat({ times: 10 })))
    yield* Effect.scoped(
      Effect.gen(function* () {
        const feed = trackerFeed({ activity: Stream.fromPubSub(seen) })
        yield* Layer.build(KeepActivity.layer.pipe(Layer.provide([recording, feed])))
        yield* test({ see, written, store })
      })
    )
    return written
  })

it.effect("writes the newest time of each wallet once a second, and nothing without activity", () =>
  keeping(({ see, written }) =>
    Effect.gen(function* () {
      yield* see(fern, 1000)
      yield* see(moss, 1000)
      yield* see(fern, 3000)
      yield* see(fern, 2000)
      assert.deepStrictEqual(written, [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(written, [
        [
          { wallet: fern, atMs: 3000 },
          { wallet: moss, atMs: 1000 }
        ]
      ])
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(written, 1)
    })
  )
)

it.effect("keeps activity until it can be written", () =>
  keeping(({ see, store, written }) =>
    Effect.gen(function* () {
      store.isUnavailable = true
      yield* see(fern, 1000)
      yield* TestClock.adjust("3 seconds")
      yield* see(moss, 2000)
      store.isUnavailable = false
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(written, [
        [
          { wallet: fern, atMs: 1000 },
          { wallet: moss, atMs: 2000 }
        ]
      ])
    })
  )
)

it.effect("writes the remaining activity when the service stops", () =>
  Effect.gen(function* () {
    const written = yield* keeping(({ see }) => see(fern, 1000))
    assert.deepStrictEqual(written, [[{ wallet: fern, atMs: 1000 }]])
  })
)
