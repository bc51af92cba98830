import { assert, layer } from "@effect/vitest"
import { Effect, Exit, type Layer, Stream } from "effect"
import type { Address } from "../../../src/domain/Address.ts"
import { GroupId, MAIN_GROUP, MAX_TRACKED_WALLETS } from "../../../src/api/schemas/Tracker.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { secondOf } from "../../../src/wallets/tracker/overview.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { addressOf, START } from "../../callouts/callouts.ts"
import { at } from "../../support/clock.ts"

export const now = at(START)

export const ofAccount = (accountId: string, groupId: GroupId | null = null) =>
  TrackerStore.use((store) => store.overview({ accountId, groupId }))

export const add = (
  accountId: string,
  wallet: Address,
  other: { readonly groupId?: GroupId; readonly label?: string; readonly emoji?: string; readonly notes?: string } = {}
) => TrackerStore.use((store) => store.add({ accountId, wallet, groupId: null, ...other }))

const remove = (accountId: string, wallet: Address) => TrackerStore.use((store) => store.remove({ accountId, wallet }))

const saw = (wallet: Address, atMs: number) => TrackerStore.use((store) => store.recordActivity([{ wallet, atMs }]))

/** Contract of every tracker store. Each test uses its own accounts. */
export const trackerStoreContract = <E>(name: string, store: Layer.Layer<TrackerStore | WatchList, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("gives a new account its Main group, and no wallets", () =>
      Effect.gen(function* () {
        const first = yield* ofAccount("new").pipe(now)
        assert.deepStrictEqual(first, {
          groups: [{ groupId: MAIN_GROUP, name: "Main", isMain: true, walletCount: 0, createdAtMs: START }],
          wallets: []
        })
        assert.deepStrictEqual(yield* ofAccount("new").pipe(at(START + 5000)), first)
      })
    )

    it.effect("tracks a wallet in Main unless a group is named, pending and from that moment", () =>
      Effect.gen(function* () {
        const added = yield* add("plain", addressOf(1), { label: "desk", emoji: "🦦", notes: "two\twords" })
        assert.deepStrictEqual(added, { groupId: MAIN_GROUP, isNew: true })
        assert.deepStrictEqual((yield* ofAccount("plain")).wallets, [
          {
            wallet: addressOf(1),
            label: "desk",
            emoji: "🦦",
            notes: "two\twords",
            groups: [MAIN_GROUP],
            groupId: MAIN_GROUP,
            status: "pending",
            lastEventAtMs: null,
            addedAtMs: START
          }
        ])
        assert.strictEqual((yield* ofAccount("plain")).groups[0]?.walletCount, 1)
        assert.isTrue((yield* WatchList).has(addressOf(1)))
      }).pipe(now)
    )

    it.effect("adds a wallet once, updates the given texts and keeps the rest", () =>
      Effect.gen(function* () {
        yield* add("twice", addressOf(2), { label: "one", emoji: "🦊" }).pipe(now)
        const again = yield* add("twice", addressOf(2), { label: "two" }).pipe(at(START + 10))
        assert.deepStrictEqual(again, { groupId: MAIN_GROUP, isNew: false })
        const { wallets } = yield* ofAccount("twice").pipe(now)
        assert.strictEqual(wallets.length, 1)
        assert.deepInclude(wallets[0], { label: "two", emoji: "🦊", notes: null, addedAtMs: START })
      })
    )

    it.effect("keeps a wallet in several groups; the first stays its primary group", () =>
      Effect.gen(function* () {
        const tracker = yield* TrackerStore
        const whales = yield* tracker.createGroup({ accountId: "groups", name: "Whales 🐳" }).pipe(at(START + 20))
        const desks = yield* tracker.createGroup({ accountId: "groups", name: "Desks" }).pipe(at(START + 10))
        assert.match(whales.groupId, /^grp_[0-9A-Za-z]{12}$/u)
        assert.isTrue((yield* add("groups", addressOf(3), { groupId: whales.groupId })).isNew)
        assert.isTrue((yield* add("groups", addressOf(3))).isNew)
        assert.isFalse((yield* add("groups", addressOf(3), { groupId: whales.groupId })).isNew)
        yield* add("groups", addressOf(4), { groupId: desks.groupId })
        const whole = yield* ofAccount("groups")
        assert.deepStrictEqual(
          whole.groups.map(({ name, walletCount }) => [name, walletCount]),
          [
            ["Main", 1],
            ["Desks", 1],
            ["Whales 🐳", 1]
          ]
        )
        const inWhales = yield* ofAccount("groups", whales.groupId)
        assert.deepStrictEqual(inWhales.groups, whole.groups)
        assert.deepStrictEqual(
          inWhales.wallets.map(({ groupId, groups, wallet }) => ({ groupId, groups, wallet })),
          [{ wallet: addressOf(3), groupId: whales.groupId, groups: [whales.groupId, MAIN_GROUP] }]
        )
      }).pipe(now)
    )

    it.effect("lists the newest first, and wallets added at the same time by address", () =>
      Effect.gen(function* () {
        const same = [10, 11, 12, 13, 14].map(addressOf)
        yield* Effect.forEach(same.toReversed(), (wallet) => add("order", wallet)).pipe(at(START + 1))
        yield* add("order", addressOf(15)).pipe(at(START + 2))
        yield* add("order", addressOf(16)).pipe(now)
        assert.deepStrictEqual(
          (yield* ofAccount("order").pipe(now)).wallets.map(({ wallet }) => wallet),
          [addressOf(15), ...same.toSorted((a, b) => (a < b ? -1 : 1)), addressOf(16)]
        )
      })
    )

    it.effect("knows only the groups of the requesting account", () =>
      Effect.gen(function* () {
        const tracker = yield* TrackerStore
        const theirs = yield* tracker.createGroup({ accountId: "owner", name: "Private" })
        yield* add("owner", addressOf(5), { groupId: theirs.groupId })
        for (const groupId of [theirs.groupId, GroupId.make("grp_unknown")]) {
          const error = yield* Effect.flip(ofAccount("other", groupId))
          assert.deepInclude(error, { _tag: "UnknownGroup", groupId })
          assert.deepInclude(yield* Effect.flip(add("other", addressOf(5), { groupId })), {
            _tag: "UnknownGroup",
            groupId
          })
        }
        assert.isFalse(yield* remove("other", addressOf(5)))
        assert.deepStrictEqual((yield* ofAccount("other")).wallets, [])
        assert.strictEqual((yield* ofAccount("owner", theirs.groupId)).wallets.length, 1)
      }).pipe(now)
    )

    it.effect("keeps the start of tracking per account, also with several groups", () =>
      Effect.gen(function* () {
        const store = yield* TrackerStore
        const list = yield* WatchList
        yield* add("first", addressOf(1007))
        const { groupId } = yield* store.createGroup({ accountId: "first", name: "Also" })
        yield* add("first", addressOf(1007), { groupId }).pipe(at(START + 1500))
        assert.deepStrictEqual(Array.from(list.sincesOf(addressOf(1007))), [secondOf(START)])
        yield* add("second", addressOf(1007)).pipe(at(START + 1500))
        assert.deepStrictEqual(
          Array.from(list.sincesOf(addressOf(1007))).toSorted((x, y) => x - y),
          [secondOf(START), secondOf(START + 1500)]
        )
      }).pipe(now)
    )

    it.effect("gives every account a Main of its own", () =>
      Effect.gen(function* () {
        yield* add("left", addressOf(6), { label: "mine" })
        yield* add("right", addressOf(6), { label: "also mine" })
        assert.isTrue(yield* remove("left", addressOf(6)))
        assert.deepStrictEqual((yield* ofAccount("left", MAIN_GROUP)).wallets, [])
        assert.strictEqual((yield* ofAccount("right", MAIN_GROUP)).wallets[0]?.label, "also mine")
        assert.isTrue((yield* WatchList).has(addressOf(6)))
      }).pipe(now)
    )

    it.effect("removes a wallet with its labels, and starts over when it is added again", () =>
      Effect.gen(function* () {
        yield* add("again", addressOf(7), { label: "old" }).pipe(now)
        yield* saw(addressOf(7), START)
        assert.isTrue(yield* remove("again", addressOf(7)))
        assert.isFalse(yield* remove("again", addressOf(7)))
        yield* add("again", addressOf(7)).pipe(at(START + 60_000))
        assert.deepInclude((yield* ofAccount("again")).wallets[0], {
          label: null,
          status: "pending",
          lastEventAtMs: null,
          addedAtMs: START + 60_000
        })
      }).pipe(now)
    )

    it.effect("becomes live with the first activity since it was added, and keeps the newest", () =>
      Effect.gen(function* () {
        // Added in the middle of a second, because block times are whole seconds.
        yield* add("lively", addressOf(8)).pipe(at(START + 500))
        const last = Effect.map(ofAccount("lively"), ({ wallets }) => [wallets[0]?.status, wallets[0]?.lastEventAtMs])
        yield* saw(addressOf(8), START - 1000)
        assert.deepStrictEqual(yield* last, ["pending", null])
        yield* saw(addressOf(8), START)
        assert.deepStrictEqual(yield* last, ["live", START])
        yield* saw(addressOf(8), START + 9000)
        yield* saw(addressOf(8), START + 3000)
        assert.deepStrictEqual(yield* last, ["live", START + 9000])
      }).pipe(now)
    )

    it.effect("records activity for every account that tracked the wallet by then", () =>
      Effect.gen(function* () {
        yield* add("early", addressOf(9)).pipe(now)
        yield* add("late", addressOf(9)).pipe(at(START + 60_000))
        const tracker = yield* TrackerStore
        yield* tracker.recordActivity([
          { wallet: addressOf(9), atMs: START + 30_000 },
          { wallet: addressOf(999), atMs: START + 30_000 }
        ])
        yield* tracker.recordActivity([])
        assert.strictEqual((yield* ofAccount("early")).wallets[0]?.status, "live")
        assert.strictEqual((yield* ofAccount("late")).wallets[0]?.status, "pending")
      }).pipe(now)
    )

    it.effect("tracks five hundred wallets and no more, however many are added at once", () =>
      Effect.gen(function* () {
        const wallets = Array.from({ length: MAX_TRACKED_WALLETS + 10 }, (_, i) => addressOf(10_000 + i))
        yield* Effect.forEach(wallets.slice(0, MAX_TRACKED_WALLETS - 1), (wallet) => add("full", wallet), {
          concurrency: 8
        })
        const raced = yield* Effect.forEach(
          wallets.slice(MAX_TRACKED_WALLETS - 1),
          (wallet) => Effect.exit(add("full", wallet)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(raced.filter(Exit.isSuccess).length, 1)
        const error = yield* Effect.flip(add("full", addressOf(9_999)))
        assert.deepInclude(error, { _tag: "TooManyWallets", limit: MAX_TRACKED_WALLETS })
        // A wallet that is already tracked may still change, and join another group.
        const group = yield* TrackerStore.use((tracker) => tracker.createGroup({ accountId: "full", name: "Some" }))
        assert.isTrue((yield* add("full", addressOf(10_000), { groupId: group.groupId, label: "x" })).isNew)
        assert.strictEqual((yield* ofAccount("full")).wallets.length, MAX_TRACKED_WALLETS)
        assert.isTrue(yield* remove("full", addressOf(10_000)))
        assert.isTrue((yield* add("full", addressOf(9_999))).isNew)
      }).pipe(now)
    )

    it.effect("rejects a group name that is not a label", () =>
      Effect.gen(function* () {
        const tracker = yield* TrackerStore
        for (const name of ["", "a\0b", "half a pair \ud800", "x".repeat(65)]) {
          assert.isTrue(Exit.hasDies(yield* Effect.exit(tracker.createGroup({ accountId: "odd", name }))))
        }
        assert.strictEqual((yield* ofAccount("odd")).groups.length, 1)
      }).pipe(now)
    )

    it.effect("publishes an account once per change, and not without one", () =>
      Effect.gen(function* () {
        const tracker = yield* TrackerStore
        const heard: Array<string> = []
        yield* tracker.changes.pipe(
          Stream.filter((accountId) => accountId.startsWith("changed")),
          Stream.runForEach((accountId) => Effect.sync(() => heard.push(accountId))),
          Effect.forkScoped({ startImmediately: true })
        )
        const changesOf = Effect.fnUntraced(function* <A, E2, R>(change: Effect.Effect<A, E2, R>) {
          heard.length = 0
          yield* change
          // A final change of another account comes after all earlier changes.
          yield* tracker.createGroup({ accountId: "changed_last", name: "x" })
          yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => heard.includes("changed_last") }))
          return heard.filter((accountId) => accountId !== "changed_last")
        })
        assert.deepStrictEqual(yield* changesOf(add("changed_a", addressOf(20))), ["changed_a"])
        assert.deepStrictEqual(yield* changesOf(add("changed_a", addressOf(20))), [])
        assert.deepStrictEqual(yield* changesOf(add("changed_a", addressOf(20), { label: "x" })), ["changed_a"])
        assert.deepStrictEqual(yield* changesOf(add("changed_a", addressOf(20), { label: "x" })), [])
        assert.deepStrictEqual(yield* changesOf(saw(addressOf(20), START + 5000)), [])
        assert.deepStrictEqual(yield* changesOf(tracker.createGroup({ accountId: "changed_a", name: "x" })), [
          "changed_a"
        ])
        assert.deepStrictEqual(yield* changesOf(remove("changed_a", addressOf(20))), ["changed_a"])
        assert.deepStrictEqual(yield* changesOf(remove("changed_a", addressOf(20))), [])
      }).pipe(Effect.scoped, now)
    )
  })
