import { assert, layer } from "@effect/vitest"
import { Effect, Exit, type Layer } from "effect"
import { FollowStore } from "../../../src/wallets/copying/FollowStore.ts"
import type {
  CopyFill,
  CopyPlace,
  FillSelection,
  FollowSelection,
  NewFollow
} from "../../../src/api/schemas/Copying.ts"
import { addressOf } from "../../callouts/callouts.ts"
import { copyOf, followOf, START } from "./copies.ts"

const anyFollow = { status: null, limit: 2, after: null }
const anyFill = { followId: null, mint: null, status: null, sinceMs: null, untilMs: null, limit: 2, after: null }

const bought = (followId: string, number: number, mint = addressOf(1)) =>
  copyOf({ followId, number, side: "buy", tokens: 5n, usdNanos: 9n, mint })

type Page = { readonly rows: ReadonlyArray<{ readonly id: string }>; readonly next: CopyPlace | null }

/** Ids of every page to the end; `between` runs after each. */
const walk = Effect.fnUntraced(function* <E, F>(
  page: (after: CopyPlace | null) => Effect.Effect<Page, E>,
  between: Effect.Effect<unknown, F> = Effect.void
) {
  const pages: Array<ReadonlyArray<string>> = []
  let after: CopyPlace | null = null
  do {
    const { next, rows }: Page = yield* page(after)
    pages.push(rows.map(({ id }) => id))
    after = next
    yield* between
  } while (after !== null)
  return pages
})

const follows = (selection: Partial<FollowSelection> & { readonly accountId: string }) =>
  Effect.flatMap(FollowStore, (store) => walk((after) => store.follows({ ...anyFollow, ...selection, after })))

const fills = (selection: Partial<FillSelection> & { readonly accountId: string }) =>
  Effect.flatMap(FollowStore, (store) => walk((after) => store.fills({ ...anyFill, ...selection, after })))

/** Contract of every follow store. Each test uses its own account. */
export const followStoreContract = <E>(name: string, store: Layer.Layer<FollowStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("returns a follow exactly as recorded, with zero counts", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        const follow = followOf("cf_exact", {
          accountId: "acct_exact",
          leader: { wallet: addressOf(7), label: "Ö'hara \u202e; drop table 🦦" },
          sizing: {
            mode: "leader_ratio",
            amount: null,
            ratioPct: "0.000000000000000000000000000001",
            maxPerTrade: 2n ** 64n - 1n,
            asset: "sol"
          },
          filters: {
            buys: true,
            sells: false,
            minLeaderUsd: "0.5",
            maxMarketCapUsd: "123456789012345678901234567890.25",
            slippageBps: 10_000
          },
          status: "stopped",
          createdAtMs: START + 7,
          updatedAtMs: START + 123_457,
          stoppedAtMs: START + 123_456
        })
        assert.isTrue(yield* copies.recordFollow(follow))
        const { accountId, ...shown } = follow
        const expected = { ...shown, counts: { filled: 0, failed: 0, skipped: 0 }, lastFillAtMs: null }
        assert.deepStrictEqual(yield* copies.find(accountId, follow.id), expected)
        assert.deepStrictEqual((yield* copies.follows({ ...anyFollow, accountId })).rows, [expected])
      })
    )

    it.effect("keeps the newest version of a follow, and its creation time", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        const follow = followOf("cf_later", { accountId: "acct_later" })
        assert.isTrue(yield* copies.recordFollow(follow))
        assert.isFalse(yield* copies.recordFollow(follow))
        const later = { ...follow, status: "paused" as const, createdAtMs: START + 9, updatedAtMs: START + 5 }
        assert.isTrue(yield* copies.recordFollow(later))
        assert.isFalse(yield* copies.recordFollow({ ...follow, updatedAtMs: START + 4 }))
        assert.deepInclude(yield* copies.find("acct_later", "cf_later"), {
          status: "paused",
          createdAtMs: START,
          updatedAtMs: START + 5
        })
      })
    )

    it.effect("hides the follows of other accounts, and rejects an id that another account uses", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        const follow = followOf("cf_mine", { accountId: "acct_mine" })
        yield* copies.recordFollow(follow)
        yield* copies.recordFill(copyOf({ followId: "cf_mine", number: 1, side: "buy", tokens: 5n, usdNanos: 9n }))
        assert.isFalse(yield* copies.recordFollow({ ...follow, accountId: "acct_thief", updatedAtMs: START + 1 }))
        assert.isNull(yield* copies.find("acct_thief", "cf_mine"))
        assert.deepStrictEqual(yield* follows({ accountId: "acct_thief" }), [[]])
        assert.deepStrictEqual(yield* fills({ accountId: "acct_thief", followId: "cf_mine" }), [[]])
      })
    )

    it.effect("rejects inconsistent records", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        const follow = followOf("cf_bad", { accountId: "acct_bad" })
        const contradictions: ReadonlyArray<Partial<NewFollow>> = [
          { stoppedAtMs: START },
          { status: "stopped" },
          { id: "bad" },
          { sizing: { ...follow.sizing, amount: null } },
          { filters: { ...follow.filters, minLeaderUsd: "-1" } }
        ]
        for (const fields of contradictions) {
          assert.isTrue(Exit.hasDies(yield* Effect.exit(copies.recordFollow({ ...follow, ...fields }))))
        }
        yield* copies.recordFollow(follow)
        const fill = copyOf({ followId: "cf_bad", number: 1, side: "buy", tokens: 5n, usdNanos: 9n })
        const wrong: ReadonlyArray<Partial<CopyFill>> = [
          { execution: null },
          { reason: "slippage" },
          { status: "failed", reason: "slippage" },
          { status: "skipped", execution: null },
          { side: "sell" },
          { id: "fl_\0" }
        ]
        for (const fields of wrong) {
          assert.isTrue(Exit.hasDies(yield* Effect.exit(copies.recordFill({ ...fill, ...fields }))))
        }
        assert.deepStrictEqual(yield* fills({ accountId: "acct_bad" }), [[]])
      })
    )

    it.effect("finds nothing for malformed ids", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        for (const id of ["cf_unknown", "", "cf_a\0b", `cf_${"x".repeat(10_000)}`, "cf_'; drop table copy_follows"]) {
          assert.isNull(yield* copies.find("acct_a", id))
        }
        const orphan = copyOf({ followId: "cf_unknown", number: 1, side: "buy", tokens: 5n, usdNanos: 9n })
        assert.isFalse(yield* copies.recordFill(orphan))
      })
    )

    it.effect("stores a fill exactly and once, however often it is recorded", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        yield* copies.recordFollow(followOf("cf_once", { accountId: "acct_once" }))
        const fill = copyOf({
          followId: "cf_once",
          number: 1,
          side: "sell",
          tokens: 2n ** 64n - 1n,
          usdNanos: 9_007_199_254_740_993_000_000_001n,
          feeUsdNanos: null
        })
        const recorded = yield* Effect.forEach(Array.from({ length: 8 }), () => copies.recordFill(fill), {
          concurrency: "unbounded"
        })
        assert.strictEqual(recorded.filter((isNew) => isNew).length, 1)
        assert.isFalse(yield* copies.recordFill({ ...fill, mint: fill.mint, side: "sell" }))
        const { rows } = yield* copies.fills({ ...anyFill, accountId: "acct_once" })
        assert.deepStrictEqual(rows, [fill])
        assert.deepInclude(yield* copies.find("acct_once", "cf_once"), {
          counts: { filled: 1, failed: 0, skipped: 0 },
          lastFillAtMs: fill.execution?.atMs ?? null
        })
      })
    )

    it.effect("changes a pending fill to its final status once", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        yield* copies.recordFollow(followOf("cf_pend", { accountId: "acct_pend" }))
        const filled = copyOf({ followId: "cf_pend", number: 1, side: "buy", tokens: 5n, usdNanos: 9n })
        const pending = { ...filled, status: "pending" as const, execution: null }
        const failed = { ...pending, status: "failed" as const, reason: "slippage" as const }
        const seen = Effect.map(copies.find("acct_pend", "cf_pend"), (follow) => follow?.counts)
        assert.isTrue(yield* copies.recordFill(pending))
        assert.isFalse(yield* copies.recordFill(pending))
        assert.deepStrictEqual(yield* seen, { filled: 0, failed: 0, skipped: 0 })
        assert.isTrue(yield* copies.recordFill(filled))
        assert.isFalse(yield* copies.recordFill(failed))
        assert.isFalse(yield* copies.recordFill(pending))
        assert.deepStrictEqual(yield* seen, { filled: 1, failed: 0, skipped: 0 })
        assert.isTrue(yield* copies.recordFill({ ...failed, id: "fl_pend_fail" }))
        assert.isTrue(yield* copies.recordFill({ ...failed, id: "fl_pend_skip", status: "skipped", reason: "filter" }))
        assert.deepStrictEqual(yield* seen, { filled: 1, failed: 1, skipped: 1 })
      })
    )

    it.effect("pages follows newest first, equal times by id, for one status or all", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        const accountId = "acct_list"
        for (const id of ["cf_l1", "cf_l3", "cf_lZ", "cf_l_", "cf_l2"]) {
          yield* copies.recordFollow(followOf(id, { accountId }))
        }
        yield* copies.recordFollow(followOf("cf_l0", { accountId, createdAtMs: START + 1, status: "paused" }))
        assert.deepStrictEqual(yield* follows({ accountId }), [
          ["cf_l0", "cf_l_"],
          ["cf_lZ", "cf_l3"],
          ["cf_l2", "cf_l1"]
        ])
        assert.deepStrictEqual(yield* follows({ accountId, status: "paused" }), [["cf_l0"]])
        assert.deepStrictEqual(yield* follows({ accountId, status: "stopped" }), [[]])
      })
    )

    it.effect("chooses fills by follow, mint, status and the leader's time", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        const accountId = "acct_choose"
        yield* copies.recordFollow(followOf("cf_c1", { accountId }))
        yield* copies.recordFollow(followOf("cf_c2", { accountId }))
        yield* copies.recordFill(bought("cf_c1", 1))
        yield* copies.recordFill(bought("cf_c2", 2, addressOf(2)))
        yield* copies.recordFill({ ...bought("cf_c1", 3), status: "skipped", reason: "filter", execution: null })
        const timeOf = (number: number) => bought("cf_c1", number).leader.atMs
        const chosen = (selection: Partial<FillSelection>) =>
          Effect.map(fills({ accountId, ...selection }), (pages) => pages.flat())
        const [one, two, three] = ["fl_c1_00001", "fl_c2_00002", "fl_c1_00003"] as const
        assert.deepStrictEqual(yield* chosen({}), [three, two, one])
        assert.deepStrictEqual(yield* chosen({ followId: "cf_c1" }), [three, one])
        assert.deepStrictEqual(yield* chosen({ mint: addressOf(2) }), [two])
        assert.deepStrictEqual(yield* chosen({ status: "skipped" }), [three])
        assert.deepStrictEqual(yield* chosen({ sinceMs: timeOf(2) }), [three, two])
        assert.deepStrictEqual(yield* chosen({ untilMs: timeOf(2) }), [two, one])
        assert.deepStrictEqual(yield* chosen({ sinceMs: timeOf(1) + 1, untilMs: timeOf(3) - 1 }), [two])
        assert.deepStrictEqual(yield* chosen({ followId: "cf_c1", mint: addressOf(2), status: "filled" }), [])
      })
    )

    it.effect("neither repeats nor skips a fill while newer ones arrive, and ends on a full page", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        const accountId = "acct_walk"
        yield* copies.recordFollow(followOf("cf_walk", { accountId }))
        const old = Array.from({ length: 6 }, (_, i) => bought("cf_walk", i))
        yield* Effect.forEach(old, copies.recordFill)
        let newer = 100
        const pages = yield* walk(
          (after) => copies.fills({ ...anyFill, accountId, after }),
          Effect.suspend(() => copies.recordFill(bought("cf_walk", newer++)))
        )
        assert.deepStrictEqual(pages.flat(), old.map(({ id }) => id).toReversed())
        assert.deepStrictEqual(
          pages.map(({ length }) => length),
          [2, 2, 2]
        )
      })
    )

    it.effect("deletes the other follows of an account with their fills, and none of other accounts", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        const accountId = "acct_forget"
        for (const [id, owner] of [
          ["cf_f1", accountId],
          ["cf_f2", accountId],
          ["cf_f3", "acct_keep"]
        ] as const) {
          yield* copies.recordFollow(followOf(id, { accountId: owner }))
          yield* copies.recordFill(copyOf({ followId: id, number: 1, side: "buy", tokens: 1n, usdNanos: 1n }))
        }
        yield* copies.forgetOthers(accountId, ["cf_f2"])
        assert.deepStrictEqual(yield* follows({ accountId }), [["cf_f2"]])
        assert.deepStrictEqual(yield* fills({ accountId }), [["fl_f2_00001"]])
        yield* copies.forgetOthers(accountId, [])
        assert.deepStrictEqual(yield* fills({ accountId }), [[]])
        assert.deepStrictEqual(yield* fills({ accountId: "acct_keep" }), [["fl_f3_00001"]])
      })
    )
  })
