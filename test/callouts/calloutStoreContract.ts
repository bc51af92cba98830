import { assert, layer } from "@effect/vitest"
import { Effect, Exit, type Layer } from "effect"
import { CalloutStore } from "../../src/callouts/CalloutStore.ts"
import type { Address } from "../../src/domain/Address.ts"
import type { CalloutPlace, CalloutSort, NewCallout } from "../../src/api/schemas/Callout.ts"
import { at } from "../support/clock.ts"
import { addressOf, calloutOf, START, tradeOf } from "./callouts.ts"

const NOW = START + 1000

const now = at(NOW)

/** Ids of one page, and where the next begins. */
const pageOf = Effect.fnUntraced(function* (
  sort: CalloutSort,
  mint: Address | null,
  after: CalloutPlace | null = null,
  limit = 2
) {
  const store = yield* CalloutStore
  const { callouts, next } = yield* store.page({ sort, mint, limit, after })
  return { ids: callouts.map(({ id }) => id), callouts, next }
}, now)

/** Every page to the end; `between` runs after each. */
const walk = Effect.fnUntraced(function* <E>(
  sort: CalloutSort,
  mint: Address | null,
  between: (page: number) => Effect.Effect<unknown, E, CalloutStore> = () => Effect.void
) {
  const pages: Array<ReadonlyArray<string>> = []
  let after: CalloutPlace | null = null
  do {
    const page: { readonly ids: ReadonlyArray<string>; readonly next: CalloutPlace | null } = yield* pageOf(
      sort,
      mint,
      after
    )
    pages.push(page.ids)
    after = page.next
    yield* between(pages.length)
  } while (after !== null)
  return pages
})

/** Contract of every callout store. Each test has a token of its own. */
export const calloutStoreContract = <E>(name: string, store: Layer.Layer<CalloutStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    const post = Effect.fnUntraced(function* (mint: Address, ids: ReadonlyArray<string>) {
      const callouts = yield* CalloutStore
      yield* Effect.forEach(ids, (id, i) => callouts.post(calloutOf(id, { mint, createdAtMs: START + i })))
    }, now)

    it.effect("returns a callout exactly as posted, with nothing counted yet", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        const posted = calloutOf("co_exact", {
          mint: addressOf(10),
          body: "two\nlines, 'quotes', a \\ backslash and 🦦",
          createdAtMs: START + 7,
          expiresAtMs: START + 123_457,
          creator: { id: "u_ß", username: "o'hara", displayName: "Ö \u202e; drop table", avatarUrl: null },
          tokenSymbol: null,
          tokenName: null,
          tokenImageUrl: null,
          priceUsdAtCreate: "0.000000000000000000000000000001"
        })
        assert.isTrue(yield* callouts.post(posted))
        const found = yield* callouts.find("co_exact")
        assert.isNotNull(found)
        assert.deepStrictEqual(found, {
          ...posted,
          status: "active",
          clickCount: 0,
          traderCount: 0,
          attributedVolumeUsdNanos: 0n,
          earnedUsdNanos: 0n,
          pointsAwarded: 0n
        })
        const { callouts: listed } = yield* pageOf("recent", posted.mint)
        assert.deepStrictEqual(listed, [found])
      }).pipe(now)
    )

    it.effect("keeps the first callout of an id", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        assert.isTrue(yield* callouts.post(calloutOf("co_taken", { mint: addressOf(11), body: "first" })))
        assert.isFalse(yield* callouts.post(calloutOf("co_taken", { mint: addressOf(11), body: "second" })))
        assert.strictEqual((yield* callouts.find("co_taken"))?.body, "first")
      }).pipe(now)
    )

    it.effect("rejects a callout that could not be shown", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        const { creator } = calloutOf("co_bad")
        const wrong: ReadonlyArray<Partial<NewCallout>> = [
          { body: "" },
          { body: "a\0b" },
          { body: "half a pair \ud800" },
          { body: "x".repeat(1001) },
          { createdAtMs: -1 },
          { expiresAtMs: 1e15 },
          { creator: { ...creator, avatarUrl: "javascript:alert(1)" } },
          { creator: { ...creator, displayName: "two\nlines" } },
          { tokenImageUrl: "http://images.example/fern.png" },
          { priceUsdAtCreate: "1e-9" }
        ]
        for (const fields of wrong) {
          const exit = yield* Effect.exit(callouts.post(calloutOf("co_bad", fields)))
          assert.isTrue(Exit.hasDies(exit), JSON.stringify(fields))
        }
        assert.isNull(yield* callouts.find("co_bad"))
      }).pipe(now)
    )

    it.effect("shows a callout until the moment it expires, and never again", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        const mint = addressOf(12)
        yield* callouts.post(calloutOf("co_brief", { mint, expiresAtMs: NOW + 5 })).pipe(now)
        const seen = (nowMs: number) =>
          Effect.gen(function* () {
            const { callouts: listed } = yield* callouts.page({ sort: "top", mint, limit: 5, after: null })
            const found = yield* callouts.find("co_brief")
            yield* callouts.recordClick("co_brief")
            return [listed.length, found?.clickCount]
          }).pipe(at(nowMs))
        assert.deepStrictEqual(yield* seen(NOW + 4), [1, 0])
        assert.deepStrictEqual(yield* seen(NOW + 4), [1, 1])
        assert.deepStrictEqual(yield* seen(NOW + 5), [0, undefined])
      })
    )

    it.effect("removes a callout once, from every read", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        const mint = addressOf(13)
        yield* post(mint, ["co_gone", "co_stays"])
        assert.isTrue(yield* callouts.remove("co_gone"))
        assert.isFalse(yield* callouts.remove("co_gone"))
        assert.isNull(yield* callouts.find("co_gone"))
        assert.deepStrictEqual((yield* pageOf("recent", mint)).ids, ["co_stays"])
        assert.deepStrictEqual((yield* pageOf("top", mint)).ids, ["co_stays"])
        assert.isFalse(yield* callouts.attribute(tradeOf("t_gone", "co_gone", 5)))
        assert.isFalse(yield* callouts.post(calloutOf("co_gone", { mint })))
      }).pipe(now)
    )

    it.effect("finds nothing for ids that it cannot have issued", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        for (const id of ["co_nobody", "", "co_a\0b", `co_${"x".repeat(10_000)}`, "co_'; drop table callouts"]) {
          assert.isNull(yield* callouts.find(id))
          assert.isFalse(yield* callouts.remove(id))
          assert.isFalse(yield* callouts.attribute(tradeOf("t_nobody", id, 1)))
          yield* callouts.recordClick(id)
        }
      }).pipe(now)
    )

    it.effect("counts every click, including simultaneous clicks", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        yield* post(addressOf(14), ["co_clicked"])
        yield* Effect.forEach(Array.from({ length: 40 }), () => callouts.recordClick("co_clicked"), { concurrency: 8 })
        assert.strictEqual((yield* callouts.find("co_clicked"))?.clickCount, 40)
        yield* callouts.recordClick("co_clicked", 2)
        assert.strictEqual((yield* callouts.find("co_clicked"))?.clickCount, 42)
      }).pipe(now)
    )

    it.effect("adds trades exactly, and distinct traders", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        yield* post(addressOf(15), ["co_traded"])
        const amounts = { volumeUsdNanos: 9_007_199_254_740_993_000_000_001n, earnedUsdNanos: 1n, points: 3n }
        const trades = [1, 2, 1].map((trader, i) =>
          tradeOf(`t_sum_${i}`, "co_traded", 0, { ...amounts, trader: addressOf(trader) })
        )
        for (const trade of trades) {
          assert.isTrue(yield* callouts.attribute(trade))
        }
        assert.deepInclude(yield* callouts.find("co_traded"), {
          traderCount: 2,
          attributedVolumeUsdNanos: 27_021_597_764_222_979_000_000_003n,
          earnedUsdNanos: 3n,
          pointsAwarded: 9n
        })
      }).pipe(now)
    )

    it.effect("counts a trade once, for the first callout it is attributed to, however often it is reported", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        yield* post(addressOf(16), ["co_once", "co_late"])
        const told = yield* Effect.forEach(
          Array.from({ length: 12 }),
          () => callouts.attribute(tradeOf("t_once", "co_once", 7)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(told.filter((isNew) => isNew).length, 1)
        assert.isFalse(yield* callouts.attribute(tradeOf("t_once", "co_late", 9)))
        const sums = { traderCount: 1, attributedVolumeUsdNanos: 7_000_000_000n, pointsAwarded: 7n }
        assert.deepInclude(yield* callouts.find("co_once"), sums)
        assert.deepInclude(yield* callouts.find("co_late"), { traderCount: 0, attributedVolumeUsdNanos: 0n })
      }).pipe(now)
    )

    it.effect("counts trades that settle after the callout has expired", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        const mint = addressOf(17)
        yield* callouts.post(calloutOf("co_after", { mint, expiresAtMs: NOW + 5 })).pipe(now)
        assert.isTrue(yield* callouts.attribute(tradeOf("t_after", "co_after", 3)).pipe(at(NOW + 6)))
        assert.strictEqual((yield* callouts.find("co_after").pipe(now))?.traderCount, 1)
      })
    )

    it.effect("lists newest first and by volume, ties by id, for one token or all", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        const mint = addressOf(18)
        const same = ["co_l1", "co_l3", "co_l2", "co_lZ", "co_l_"]
        yield* Effect.forEach(same, (id) => callouts.post(calloutOf(id, { mint, createdAtMs: START })))
        yield* callouts.post(calloutOf("co_l0", { mint, createdAtMs: START + 1 }))
        yield* callouts.post(calloutOf("co_l9", { mint, createdAtMs: START - 1 }))
        yield* callouts.attribute(tradeOf("t_l1", "co_l1", 10))
        yield* callouts.attribute(tradeOf("t_l9", "co_l9", 9))
        // Byte order: capitals before the underscore, digits before both.
        assert.deepStrictEqual(yield* walk("recent", mint), [
          ["co_l0", "co_l_"],
          ["co_lZ", "co_l3"],
          ["co_l2", "co_l1"],
          ["co_l9"]
        ])
        assert.deepStrictEqual(yield* walk("top", mint), [
          ["co_l1", "co_l9"],
          ["co_l_", "co_lZ"],
          ["co_l3", "co_l2"],
          ["co_l0"]
        ])
        const everywhere = (yield* walk("top", null)).flat()
        assert.includeMembers(everywhere, same)
        assert.strictEqual(new Set(everywhere).size, everywhere.length)
        assert.deepStrictEqual(yield* walk("recent", addressOf(19)), [[]])
      }).pipe(now)
    )

    it.effect("ends a list that fills its last page exactly", () =>
      Effect.gen(function* () {
        yield* post(addressOf(20), ["co_f1", "co_f2"])
        for (const sort of ["recent", "top"] as const) {
          assert.isNull((yield* pageOf(sort, addressOf(20))).next)
        }
      })
    )

    it.effect("neither repeats nor skips nor slips in a callout while others are posted", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        for (const [sort, mint] of [
          ["recent", addressOf(21)],
          ["top", addressOf(22)]
        ] as const) {
          const ids = Array.from({ length: 7 }, (_, i) => `co_${sort}_${i}`)
          yield* post(mint, ids)
          // Newer ones, ones as old as the oldest, and ones with the most volume: none of them belongs to this list.
          const pages = yield* walk(sort, mint, (page) =>
            Effect.gen(function* () {
              yield* callouts.post(calloutOf(`co_new_${sort}_${page}`, { mint, createdAtMs: START + 50 + page }))
              yield* callouts.post(calloutOf(`co_0_${sort}_${page}`, { mint, createdAtMs: START }))
              yield* callouts.attribute(tradeOf(`t_new_${sort}_${page}`, `co_new_${sort}_${page}`, 1000))
            })
          )
          assert.deepStrictEqual(pages.flat(), ids.toReversed(), sort)
        }
      }).pipe(now)
    )

    it.effect("pages by the volumes of the first page while trades settle", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        const mint = addressOf(23)
        const ids = Array.from({ length: 8 }, (_, i) => `co_v${i}`)
        yield* post(mint, ids)
        yield* Effect.forEach(ids, (id, i) => callouts.attribute(tradeOf(`t_v${i}`, id, 10 * (i + 1))))
        // The last one overtakes all others, the first one moves within the pages already read, the middle ones swap.
        const pages = yield* walk("top", mint, (page) =>
          Effect.forEach(["co_v0", "co_v7", "co_v3"], (id) => callouts.attribute(tradeOf(`t_v_${page}_${id}`, id, 300)))
        )
        assert.deepStrictEqual(pages.flat(), ids.toReversed())
        const again = (yield* walk("top", mint)).flat()
        assert.deepStrictEqual(again.slice(0, 3), ["co_v7", "co_v3", "co_v0"])
        const [first] = (yield* pageOf("top", mint)).callouts
        assert.strictEqual(first?.attributedVolumeUsdNanos, 80_000_000_000n + 4n * 300_000_000_000n)
      }).pipe(now)
    )

    it.effect("drops only callouts that are removed or expire between two pages", () =>
      Effect.gen(function* () {
        const callouts = yield* CalloutStore
        const mint = addressOf(24)
        yield* post(mint, ["co_d0", "co_d1", "co_d2", "co_d3", "co_d4"])
        const pages = yield* walk("recent", mint, () => callouts.remove("co_d1"))
        assert.deepStrictEqual(pages.flat(), ["co_d4", "co_d3", "co_d2", "co_d0"])
      }).pipe(now)
    )
  })
