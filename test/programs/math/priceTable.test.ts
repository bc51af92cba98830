import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Course } from "../../../src/programs/math/swapPath.ts"
import { makePriceTable } from "../../../src/programs/math/priceTable.ts"
import { clmmCourses } from "../../../src/programs/raydium/clmm.ts"
import { raydiumSqrtPriceAt } from "../../../src/programs/raydium/clmmTicks.ts"
import { traverse } from "../../../src/programs/math/swapSteps.ts"
import { isFailure } from "../../../src/programs/math/unpriceable.ts"
import { whirlpoolCourses } from "../../../src/programs/orca/whirlpool.ts"
import { whirlpoolSqrtPriceAt } from "../../../src/programs/orca/whirlpoolTicks.ts"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { clmmFrom, clock, derive, randomBits, randomFrom, randomPlan, whirlpoolFrom } from "../syntheticPools.ts"

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 }))

const whirlpoolOf = (seed: number): ReadonlyArray<Course> => {
  const { accounts, pool } = whirlpoolFrom(randomPlan(seed, whirlpoolSqrtPriceAt))
  const courses = whirlpoolCourses(pool, accounts, derive)
  const sides = isFailure(courses) ? null : courses.at(clock)
  assert.isNotNull(sides)
  return sides === null ? [] : [sides.down, sides.up]
}

const clmmOf = (seed: number, feeOn = 0): ReadonlyArray<Course> => {
  const { accounts, pool } = clmmFrom(randomPlan(seed, raydiumSqrtPriceAt), (view) => view.setUint8(390, feeOn))
  const courses = clmmCourses(pool, accounts, derive)
  const sides = isFailure(courses) ? null : courses.at(clock)
  assert.isNotNull(sides)
  return sides === null ? [] : [sides.down, sides.up]
}

/** Amounts of every size, and those at which one tick more is crossed, with their neighbours. */
const amountsFor = (course: Course, seed: number): ReadonlyArray<bigint> => {
  const random = randomFrom(seed)
  const sizes = Array.from({ length: 12 }, () => 1n + randomBits(random, 63))
  const thresholds = course.ticks.map(
    (_, i) => traverse({ ...course, ticks: course.ticks.slice(0, i + 1), edge: null }, MAX_U64).amountIn
  )
  return [...sizes, ...thresholds.flatMap((at) => [at - 1n, at, at + 1n])].filter(
    (amount) => amount > 0n && amount <= MAX_U64
  )
}

const assertEqualsLoop = (course: Course, seed: number): void => {
  const { quote } = makePriceTable(course)
  for (const amount of amountsFor(course, seed)) {
    const { amountIn, amountOut, ending } = traverse(course, amount)
    assert.deepStrictEqual(quote(amount), { ending, amountIn, amountOut }, `${amount} of seed ${seed}`)
  }
}

const families: ReadonlyArray<readonly [string, (seed: number) => ReadonlyArray<Course>]> = [
  ["Whirlpool", whirlpoolOf],
  ["Raydium CLMM", clmmOf],
  ["Raydium CLMM with the fee on token 0", (seed) => clmmOf(seed, 1)],
  ["Raydium CLMM with the fee on token 1", (seed) => clmmOf(seed, 2)]
]

describe("a price table", () => {
  it("refuses an output that outgrows 64 bits before the fee comes off it", () => {
    const seed = 1_390_820_516
    const [, up] = clmmOf(seed, 1)
    assert.isDefined(up)
    if (up !== undefined) {
      assert.strictEqual(makePriceTable(up).quote(5_477_786_331_615n).ending, "refused")
      assertEqualsLoop(up, seed)
    }
  })
})

for (const [name, coursesOf] of families) {
  describe(`the price table of a ${name} pool`, () => {
    it.prop("pays to the unit what the step loop pays", [Seed], ([seed]) => {
      for (const course of coursesOf(seed)) {
        assertEqualsLoop(course, seed)
      }
    })

    it.prop("never pays less for more", [Seed], ([seed]) => {
      for (const course of coursesOf(seed)) {
        const { quote } = makePriceTable(course)
        const amounts = amountsFor(course, seed).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
        const paid = amounts.map((amount) => quote(amount)).filter(({ ending }) => ending !== "refused")
        for (const [i, { amountOut }] of paid.entries()) {
          assert.isTrue(amountOut >= (paid[i - 1]?.amountOut ?? 0n), `seed ${seed}`)
        }
      }
    })

    it.prop("answers the same whatever was asked before", [Seed], ([seed]) => {
      for (const course of coursesOf(seed)) {
        const used = makePriceTable(course)
        used.quote(MAX_U64)
        for (const amount of amountsFor(course, seed)) {
          assert.deepStrictEqual(used.quote(amount), makePriceTable(course).quote(amount))
        }
      }
    })

    it.prop("lets no round trip end with a profit", [Seed], ([seed]) => {
      const [down, up] = coursesOf(seed)
      if (down === undefined || up === undefined) {
        return
      }
      for (const amount of amountsFor(down, seed)) {
        const there = traverse(down, amount)
        const { liquidity, sqrtPrice, tick } = there
        // Ticks that the first leg crossed lie ahead of the second.
        const passed = down.ticks.filter(({ index }) => index > tick).toReversed()
        const back = { ...up, liquidity, sqrtPrice, tick, ticks: [...passed, ...up.ticks] }
        if (there.ending !== "refused" && there.amountOut > 0n) {
          assert.isTrue(traverse(back, there.amountOut).amountOut <= there.amountIn, `${amount} of seed ${seed}`)
        }
      }
    })

    it.prop("starts at its marginal rate and stays below it", [Seed], ([seed]) => {
      for (const course of coursesOf(seed)) {
        const { marginalRate, quote } = makePriceTable(course)
        const { denominator, numerator } = marginalRate()
        for (const amount of amountsFor(course, seed)) {
          const { amountIn, amountOut } = quote(amount)
          assert.isTrue(amountOut * denominator <= amountIn * numerator, `${amount} of seed ${seed}`)
        }
      }
    })
  })
}
