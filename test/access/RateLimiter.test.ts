import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { KeyedBudget } from "../../src/access/KeyedBudget.ts"
import { RateLimiter } from "../../src/access/RateLimiter.ts"
import { rateLimiterContract } from "./rateLimiterContract.ts"

const LIMIT = 24
const WINDOW = 100

/** The contract in the plainest form: a list of charges, summed from the start every time. */
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
    "agrees with a list that is summed from the start every time",
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

rateLimiterContract("RateLimiter.layerMemory", RateLimiter.layerMemory)
