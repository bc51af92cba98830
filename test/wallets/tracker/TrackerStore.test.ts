import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { addressOf } from "../../callouts/callouts.ts"
import * as TrackerStoreMemory from "../../support/TrackerStoreMemory.ts"
import { trackerGroupsContract } from "./trackerGroupsContract.ts"
import { trackerStoreContract } from "./trackerStoreContract.ts"

const store = TrackerStoreMemory.layer.pipe(Layer.provideMerge(WatchList.layer))

trackerStoreContract("TrackerStoreMemory.layer", store)
trackerGroupsContract("TrackerStoreMemory.layer", store)

it.effect("removes a wallet from the watch list once no account tracks it", () =>
  Effect.gen(function* () {
    const tracker = yield* TrackerStore
    const watched = yield* WatchList
    const wallet = addressOf(1)
    yield* tracker.add({ accountId: "a", wallet, groupId: null })
    yield* tracker.add({ accountId: "b", wallet, groupId: null })
    yield* tracker.remove({ accountId: "a", wallet })
    assert.isTrue(watched.has(wallet))
    yield* tracker.remove({ accountId: "b", wallet })
    assert.isFalse(watched.has(wallet))
  }).pipe(Effect.provide(store))
)
