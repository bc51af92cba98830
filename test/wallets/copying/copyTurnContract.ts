import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { filledCopyOf } from "../../../src/wallets/copying/filledCopy.ts"
import { FollowStore } from "../../../src/wallets/copying/FollowStore.ts"
import { copyOf, followOf } from "./copies.ts"

const buy = (followId: string, number: number) =>
  copyOf({ followId, number, side: "buy", tokens: BigInt(number), usdNanos: 9n })

/** Contract of the recording order of copies for every follow store. Each test uses its own account. */
export const copyTurnContract = <E>(name: string, store: Layer.Layer<FollowStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(`${name}: turns`, (it) => {
    it.effect("counts copies as they are filled, and returns the new ones", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        const [accountId, followId] = ["acct_turn", "cf_turn"]
        yield* copies.recordFollow(followOf(followId, { accountId }))
        const filled = Effect.map(copies.progress(accountId), (all) => all.map((one) => [one.followId, one.filled]))
        const numbers = (after: number, through: number) =>
          Effect.map(copies.inTurn({ accountId, followId, after, through }), (some) => some.map(({ amount }) => amount))
        assert.deepStrictEqual(yield* filled, [[followId, 0]])
        const pending = { ...buy(followId, 7), status: "pending" as const, execution: null }
        const failed = { ...pending, id: "fl_turn_no", status: "failed" as const, reason: "slippage" as const }
        for (const fill of [pending, buy(followId, 9), failed, buy(followId, 2), buy(followId, 9), buy(followId, 7)]) {
          yield* copies.recordFill(fill)
        }
        assert.deepStrictEqual(yield* filled, [[followId, 3]])
        assert.deepStrictEqual(yield* numbers(0, 3), [9n, 2n, 7n])
        assert.deepStrictEqual(yield* numbers(1, 2), [2n])
        assert.deepStrictEqual(yield* numbers(3, 9), [])
        const [first] = yield* copies.inTurn({ accountId, followId, after: 1, through: 2 })
        assert.deepStrictEqual(first, filledCopyOf(buy(followId, 2)))
      })
    )

    it.effect("gives each of many concurrent copies its own turn", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        const [accountId, followId] = ["acct_rush", "cf_rush"]
        yield* copies.recordFollow(followOf(followId, { accountId }))
        const numbers = Array.from({ length: 20 }, (_, i) => i + 1)
        yield* Effect.forEach(numbers, (number) => copies.recordFill(buy(followId, number)), {
          concurrency: "unbounded"
        })
        const filled = yield* copies.inTurn({ accountId, followId, after: 0, through: 20 })
        assert.sameMembers(
          filled.map(({ amount }) => Number(amount)),
          numbers
        )
      })
    )

    it.effect("hides other accounts, and gives a follow recorded again a new generation", () =>
      Effect.gen(function* () {
        const copies = yield* FollowStore
        const [accountId, followId] = ["acct_again", "cf_again"]
        const follow = followOf(followId, { accountId })
        yield* copies.recordFollow(follow)
        yield* copies.recordFill(buy(followId, 1))
        const selection = { followId, after: 0, through: 9 }
        assert.deepStrictEqual(yield* copies.inTurn({ ...selection, accountId: "acct_other" }), [])
        assert.deepStrictEqual(yield* copies.progress("acct_other"), [])
        const [before] = yield* copies.progress(accountId)
        yield* copies.recordFollow({ ...follow, updatedAtMs: follow.updatedAtMs + 1 })
        assert.deepStrictEqual((yield* copies.progress(accountId))[0], before)
        yield* copies.forgetOthers(accountId, [])
        assert.deepStrictEqual(yield* copies.progress(accountId), [])
        yield* copies.recordFollow(follow)
        yield* copies.recordFill(buy(followId, 3))
        const [after] = yield* copies.progress(accountId)
        assert.deepInclude(after, { followId, filled: 1 })
        assert.notStrictEqual(after?.generation, before?.generation)
        assert.strictEqual((yield* copies.inTurn({ ...selection, accountId }))[0]?.amount, 3n)
      })
    )
  })
