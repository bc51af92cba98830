import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { DEFAULT_PLAN } from "../../src/domain/Plan.ts"
import { KeyedBudget } from "../../src/domain/KeyedBudget.ts"
import { RateLimiter } from "../../src/access/RateLimiter.ts"
import { budgets, type Charge } from "../../src/domain/Budget.ts"

const LIMIT = 24
const WINDOW = 100

/** The contract in the plainest words: a list of charges, added up from the start every time. */
class NaiveBudget {
  charges: Array<{ readonly at: number; readonly seq: number; readonly cost: number }> = []
  spent(now: number) {
    return this.charges.filter(({ at }) => now - at < WINDOW).reduce((sum, { cost }) => sum + cost, 0)
  }
  resetIn(now: number) {
    const counted = this.charges.filter(({ at, cost }) => cost > 0 && now - at < WINDOW)
    return counted.length === 0 ? 0 : Math.min(...counted.map(({ at }) => at)) + WINDOW - now
  }
  fitsIn(cost: number, now: number) {
    for (let wait = 0; wait <= WINDOW; wait++) {
      if (this.spent(now + wait) + cost <= LIMIT) {
        return wait
      }
    }
    return WINDOW
  }
}

const Step = Schema.Struct({
  wait: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 })),
  cost: Schema.Literals([0, 1, 2, 3, 20, LIMIT + 1]),
  refund: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 })))
})

describe("KeyedBudget", () => {
  it.prop(
    "agrees with a list that is added up from the start every time",
    [Schema.Array(Step)],
    ([steps]) => {
      const budget = new KeyedBudget({ limit: LIMIT, windowMs: WINDOW })
      const naive = new NaiveBudget()
      let now = 5_000
      for (const { cost, refund, wait } of steps) {
        now += wait
        if (refund !== null) {
          const given = naive.charges[refund]
          naive.charges = naive.charges.map((charge) => (charge === given ? { ...charge, cost: 0 } : charge))
          budget.refund("k", given?.seq ?? 1e9, now)
        }
        const fits = naive.spent(now) + cost <= LIMIT
        const fitsInMs = naive.fitsIn(cost, now)
        const verdict = budget.admit("k", cost, now)
        assert.strictEqual(verdict._tag, fits ? "Admitted" : "Refused")
        if (verdict._tag === "Admitted") {
          naive.charges.push({ at: now, cost, seq: verdict.seq })
        } else {
          assert.strictEqual(verdict.fitsInMs, fitsInMs)
        }
        assert.strictEqual(verdict.remaining, LIMIT - naive.spent(now))
        assert.strictEqual(verdict.resetInMs, naive.resetIn(now))
      }
    },
    { arbitrary: { runs: 300, size: 80 } }
  )

  it("holds no more than a few windows' worth of refunded charges", () => {
    const budget = new KeyedBudget({ limit: LIMIT, windowMs: WINDOW })
    for (let i = 0; i < 100_000; i++) {
      const verdict = budget.admit("k", 1, 0)
      assert.strictEqual(verdict._tag, "Admitted")
      budget.refund("k", verdict._tag === "Admitted" ? verdict.seq : -1, 0)
    }
    assert.isBelow(
      JSON.stringify(budget, (_, value) => (value instanceof Map ? Array.from(value) : value)).length,
      2000
    )
  })

  it("forgets idle keys within two windows, and only those", () => {
    const budget = new KeyedBudget({ limit: LIMIT, windowMs: WINDOW })
    for (let i = 0; i < 1000; i++) {
      budget.admit(`idle ${i}`, 1, i / 1000)
      budget.peek(`asked ${i}`, i / 1000)
    }
    assert.strictEqual(budget.size, 1000)
    budget.admit("busy", 1, WINDOW - 1)
    budget.admit("busy", 1, 2 * WINDOW - 2)
    assert.strictEqual(budget.size, 1)
    assert.strictEqual(budget.peek("busy", 2 * WINDOW - 2).remaining, LIMIT - 2)
  })
})

const spend = Effect.fnUntraced(function* (cost: number, key = "k") {
  const limiter = yield* RateLimiter
  return yield* limiter.admit({ key: { id: key, plan: DEFAULT_PLAN }, budget: "quote", cost })
})
const refused = (cost: number) => Effect.flip(spend(cost))

describe("RateLimiter.layerMemory", () => {
  const provide = Effect.provide(RateLimiter.layerMemory)

  it.effect("admits the limit and no unit more", () =>
    Effect.gen(function* () {
      const charge = yield* spend(300)
      assert.deepInclude(charge, { budget: "quote", limit: 300, remaining: 0, cost: 300, atMs: 0, resetAtMs: 60_000 })
      const error = yield* refused(1)
      assert.deepInclude(error, { _tag: "BudgetExceeded", remaining: 0, limit: 300, fitsAtMs: 60_000 })
    }).pipe(provide)
  )

  it.effect("keeps the budgets of a key, and the keys, apart", () =>
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

  it.effect("sends a cost that can never fit away for a whole window", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_000)
      assert.deepInclude(yield* refused(301), { fitsAtMs: 61_000, remaining: 300 })
    }).pipe(provide)
  )

  it.effect("gives back exactly the units of a charge, once, wherever it stands in the log", () =>
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

  it.effect("moves the reset when the oldest units are given back", () =>
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
