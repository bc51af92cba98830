import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import type { Address } from "../../../src/domain/Address.ts"
import { GroupId, MAIN_GROUP, MAX_GROUPS } from "../../../src/api/schemas/Tracker.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import type { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { addressOf, START } from "../../callouts/callouts.ts"
import { add, now, ofAccount } from "./trackerStoreContract.ts"

/** Contract of groups, batches and changes of every tracker store. Each test uses its own accounts. */
export const trackerGroupsContract = <E>(name: string, store: Layer.Layer<TrackerStore | WatchList, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(`${name}: groups and changes`, (it) => {
    it.effect("adds a batch whole or not at all", () =>
      Effect.gen(function* () {
        const tracker = yield* TrackerStore
        const accountId = "batch"
        const of = (wallet: Address, groupId: GroupId | null = null) => ({ accountId, wallet, groupId })
        const added = yield* tracker.addAll(accountId, [of(addressOf(31)), of(addressOf(32))])
        assert.deepStrictEqual(added, [
          { groupId: MAIN_GROUP, isNew: true },
          { groupId: MAIN_GROUP, isNew: true }
        ])
        const unknown = GroupId.make("grp_elsewhere")
        const error = yield* Effect.flip(tracker.addAll(accountId, [of(addressOf(33)), of(addressOf(34), unknown)]))
        assert.strictEqual(error._tag, "UnknownGroup")
        const again = yield* tracker.addAll(accountId, [of(addressOf(31)), of(addressOf(35))])
        assert.deepStrictEqual(
          again.map(({ isNew }) => isNew),
          [false, true]
        )
        const { wallets } = yield* ofAccount(accountId)
        assert.sameMembers(
          wallets.map(({ wallet }) => wallet),
          [addressOf(31), addressOf(32), addressOf(35)]
        )
      }).pipe(now)
    )

    it.effect("changes, clears and keeps texts of a wallet, and replaces its groups in their order", () =>
      Effect.gen(function* () {
        const tracker = yield* TrackerStore
        const accountId = "changing"
        const wallet = addressOf(36)
        const unknown = yield* Effect.flip(tracker.change({ accountId, wallet, label: "x" }))
        assert.strictEqual(unknown._tag, "UnknownWallet")
        yield* add(accountId, wallet, { label: "one", emoji: "🦊", notes: "kept" })
        const whales = yield* tracker.createGroup({ accountId, name: "Whales" })
        yield* tracker.change({ accountId, wallet, label: "two", emoji: null })
        yield* tracker.change({ accountId, wallet, groups: [whales.groupId, MAIN_GROUP] })
        const missing = tracker.change({ accountId, wallet, label: "no", groups: [GroupId.make("grp_elsewhere")] })
        assert.strictEqual((yield* Effect.flip(missing))._tag, "UnknownGroup")
        assert.deepInclude((yield* ofAccount(accountId)).wallets[0], {
          label: "two",
          emoji: null,
          notes: "kept",
          groups: [whales.groupId, MAIN_GROUP],
          groupId: whales.groupId,
          addedAtMs: START
        })
      }).pipe(now)
    )

    it.effect("renames and deletes groups of one account only; wallets without another group move to Main", () =>
      Effect.gen(function* () {
        const tracker = yield* TrackerStore
        const accountId = "renaming"
        const { groupId } = yield* tracker.createGroup({ accountId, name: "Whales" })
        const desks = yield* tracker.createGroup({ accountId, name: "Desks" })
        yield* add(accountId, addressOf(37), { groupId })
        yield* add(accountId, addressOf(38), { groupId })
        yield* add(accountId, addressOf(38), { groupId: desks.groupId })
        assert.isTrue(yield* tracker.renameGroup({ accountId, groupId, name: "Whales 🐳" }))
        assert.isFalse(yield* tracker.renameGroup({ accountId: "other", groupId, name: "x" }))
        assert.isFalse(yield* tracker.removeGroup({ accountId: "other", groupId }))
        assert.isFalse(yield* tracker.removeGroup({ accountId, groupId: MAIN_GROUP }))
        assert.include(
          (yield* ofAccount(accountId)).groups.map(({ name }) => name),
          "Whales 🐳"
        )
        assert.isTrue(yield* tracker.removeGroup({ accountId, groupId }))
        assert.isFalse(yield* tracker.removeGroup({ accountId, groupId }))
        const { groups, wallets } = yield* ofAccount(accountId)
        assert.deepStrictEqual(
          groups.map(({ name, walletCount }) => [name, walletCount]),
          [
            ["Main", 1],
            ["Desks", 1]
          ]
        )
        assert.deepStrictEqual(
          new Map(wallets.map(({ wallet, groupId: primary }) => [wallet, primary])),
          new Map([
            [addressOf(37), MAIN_GROUP],
            [addressOf(38), desks.groupId]
          ])
        )
      }).pipe(now)
    )

    it.effect("holds at most fifty groups for an account, Main included", () =>
      Effect.gen(function* () {
        const tracker = yield* TrackerStore
        const create = tracker.createGroup({ accountId: "many", name: "x" })
        yield* Effect.forEach(Array.from({ length: MAX_GROUPS - 1 }), () => create, { discard: true })
        assert.deepInclude(yield* Effect.flip(create), { _tag: "TooManyGroups", limit: MAX_GROUPS })
      }).pipe(now)
    )
  })
