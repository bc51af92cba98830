import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { RateLimiter } from "../../src/access/RateLimiter.ts"
import { budgets, type Charge } from "../../src/api/schemas/Budget.ts"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"

const spend = Effect.fnUntraced(function* (cost: number, key = "k") {
  const limiter = yield* RateLimiter
  return yield* limiter.admit({ key: { id: key, plan: DEFAULT_PLAN }, budget: "quote", cost })
})
const refused = (cost: number) => Effect.flip(spend(cost))

/** Budgets of any limiter: exact windows by the test's clock. The layer is built for each test and begins empty. */
export const rateLimiterContract = <E>(name: string, limiter: Layer.Layer<RateLimiter, E>) =>
  describe(`${name}`, () => {
    const provide = Effect.provide(limiter)

    it.effect("admits the limit and no unit more", () =>
      Effect.gen(function* () {
        const charge = yield* spend(300)
        assert.deepInclude(charge, { budget: "quote", limit: 300, remaining: 0, cost: 300, atMs: 0, resetAtMs: 60_000 })
        const error = yield* refused(1)
        assert.deepInclude(error, { _tag: "BudgetExceeded", remaining: 0, limit: 300, fitsAtMs: 60_000 })
      }).pipe(provide)
    )

    it.effect("keeps the two budgets of a key apart, and the budgets of two keys", () =>
      Effect.gen(function* () {
        const limiter = yield* RateLimiter
        yield* spend(300)
        yield* spend(300, "other")
        assert.strictEqual(
          (yield* limiter.admit({ key: { id: "k", plan: DEFAULT_PLAN }, budget: "rest", cost: 120 })).remaining,
          0
        )
      }).pipe(provide)
    )

    it.effect("charges a cost whole or not at all", () =>
      Effect.gen(function* () {
        yield* spend(295)
        assert.strictEqual((yield* refused(8))._tag, "BudgetExceeded")
        assert.strictEqual((yield* spend(5)).remaining, 0)
      }).pipe(provide)
    )

    it.effect("names the first millisecond at which a cost fits", () =>
      Effect.gen(function* () {
        yield* spend(200)
        yield* TestClock.adjust(10_000)
        yield* spend(99)
        yield* TestClock.adjust(5_000)
        const [small, large] = [yield* refused(201), yield* refused(202)]
        assert.deepStrictEqual([small._tag, large._tag], ["BudgetExceeded", "BudgetExceeded"])
        assert.deepInclude(small, { fitsAtMs: 60_000 })
        assert.deepInclude(large, { fitsAtMs: 70_000 })
        yield* TestClock.setTime(59_999)
        assert.strictEqual((yield* refused(201))._tag, "BudgetExceeded")
        yield* TestClock.setTime(60_000)
        assert.strictEqual((yield* spend(201)).remaining, 0)
      }).pipe(provide)
    )

    it.effect("refuses a cost that can never fit for a whole window", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(1_000)
        assert.deepInclude(yield* refused(301), { fitsAtMs: 61_000, remaining: 300 })
      }).pipe(provide)
    )

    it.effect("refunds exactly the units of a charge, once, wherever it stands in the log", () =>
      Effect.gen(function* () {
        const limiter = yield* RateLimiter
        const charges = yield* Effect.forEach([10, 10, 20, 10], (cost) => spend(cost))
        const middle: Charge | undefined = charges[1]
        assert.isDefined(middle)
        assert.strictEqual((yield* limiter.refund({ ...middle })).remaining, 260)
        assert.strictEqual((yield* limiter.refund({ ...middle })).remaining, 260)
        assert.strictEqual((yield* limiter.peek({ id: "k", plan: DEFAULT_PLAN }, "quote")).remaining, 260)
      }).pipe(provide)
    )

    it.effect("moves the reset when the oldest units are refunded", () =>
      Effect.gen(function* () {
        const limiter = yield* RateLimiter
        const first = yield* spend(1)
        yield* TestClock.adjust(2_000)
        assert.strictEqual((yield* spend(1)).resetAtMs, 60_000)
        assert.strictEqual((yield* limiter.refund(first)).resetAtMs, 62_000)
      }).pipe(provide)
    )

    it.effect("ignores a refund that comes after the window", () =>
      Effect.gen(function* () {
        const limiter = yield* RateLimiter
        const charge = yield* spend(5)
        yield* TestClock.adjust(60_000)
        yield* spend(5)
        assert.strictEqual((yield* limiter.refund(charge)).remaining, 295)
        assert.deepInclude(yield* limiter.peek({ id: "k", plan: DEFAULT_PLAN }, "rest"), {
          remaining: budgets.rest.limit,
          resetAtMs: 60_000
        })
      }).pipe(provide)
    )

    it.effect("keeps its windows when the wall clock is set back", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(100_000)
        yield* spend(300)
        yield* TestClock.setTime(10_000)
        assert.deepInclude(yield* refused(1), { fitsAtMs: 70_000 })
        yield* TestClock.setTime(70_000)
        assert.strictEqual((yield* spend(300)).remaining, 0)
      }).pipe(provide)
    )

    it.effect("refuses to work with fractions and negative costs", () =>
      Effect.gen(function* () {
        for (const cost of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
          const exit = yield* Effect.exit(spend(cost))
          assert.strictEqual(exit._tag, "Failure")
        }
        const limiter = yield* RateLimiter
        assert.strictEqual((yield* limiter.peek({ id: "k", plan: DEFAULT_PLAN }, "quote")).remaining, 300)
      }).pipe(provide)
    )
  })
