import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { SwapPath } from "../../../src/programs/math/swapPath.ts"
import { makePriceTable } from "../../../src/programs/math/priceTable.ts"
import { clmmSwapPaths } from "../../../src/programs/raydium/clmm.ts"
import { raydiumSqrtPriceAt } from "../../../src/programs/raydium/clmmTicks.ts"
import { swapSteps } from "../../../src/programs/math/swapSteps.ts"
import { isFailure } from "../../../src/programs/layout/unpriceable.ts"
import { whirlpoolSwapPaths } from "../../../src/programs/orca/whirlpool.ts"
import { whirlpoolSqrtPriceAt } from "../../../src/programs/orca/whirlpoolTicks.ts"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { clmmFrom, clock, derive, randomBits, randomFrom, randomPlan, whirlpoolFrom } from "../syntheticPools.ts"

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 }))

const whirlpoolOf = (seed: number): ReadonlyArray<SwapPath> => {
  const { accounts, pool } = whirlpoolFrom(randomPlan(seed, whirlpoolSqrtPriceAt))
  const swapPaths = whirlpoolSwapPaths(pool, accounts, derive)
  const sides = isFailure(swapPaths) ? null : swapPaths.at(clock)
  assert.isNotNull(sides)
  return sides === null ? [] : [sides.down, sides.up]
}

const clmmOf = (seed: number, feeOn = 0): ReadonlyArray<SwapPath> => {
  const { accounts, pool } = clmmFrom(randomPlan(seed, raydiumSqrtPriceAt), (view) => view.setUint8(390, feeOn))
  const swapPaths = clmmSwapPaths(pool, accounts, derive)
  const sides = isFailure(swapPaths) ? null : swapPaths.at(clock)
  assert.isNotNull(sides)
  return sides === null ? [] : [sides.down, sides.up]
}

/** Amounts of every size, and the amounts at which one more tick is crossed, with their neighbours. */
const amountsFor = (swapPath: SwapPath, seed: number): ReadonlyArray<bigint> => {
  const random = randomFrom(seed)
  const sizes = Array.from({ length: 12 }, () => 1n + randomBits(random, 63))
  const thresholds = swapPath.ticks.map(
    (_, i) => swapSteps({ ...swapPath, ticks: swapPath.ticks.slice(0, i + 1), edge: null }, MAX_U64).amountIn
  )
  return [...sizes, ...thresholds.flatMap((at) => [at - 1n, at, at + 1n])].filter(
    (amount) => amount > 0n && amount <= MAX_U64
  )
}

const assertEqualsLoop = (swapPath: SwapPath, seed: number): void => {
  const { quote } = makePriceTable(swapPath)
  for (const amount of amountsFor(swapPath, seed)) {
    const { amountIn, amountOut, ending } = swapSteps(swapPath, amount)
    assert.deepStrictEqual(quote(amount), { ending, amountIn, amountOut }, `${amount} of seed ${seed}`)
  }
}

const families: ReadonlyArray<readonly [string, (seed: number) => ReadonlyArray<SwapPath>]> = [
  ["Whirlpool", whirlpoolOf],
  ["Raydium CLMM", clmmOf],
  ["Raydium CLMM with the fee on token 0", (seed) => clmmOf(seed, 1)],
  ["Raydium CLMM with the fee on token 1", (seed) => clmmOf(seed, 2)]
]

describe("a price table", () => {
  it("refuses an output that exceeds 64 bits before the fee is taken off", () => {
    const seed = 1_390_820_516
    const [, up] = clmmOf(seed, 1)
    assert.isDefined(up)
    if (up !== undefined) {
      assert.strictEqual(makePriceTable(up).quote(5_477_786_331_615n).ending, "refused")
      assertEqualsLoop(up, seed)
    }
  })
})

for (const [name, swapPathsOf] of families) {
  describe(`the price table of a ${name} pool`, () => {
    it.prop("pays to the unit what the step loop pays", [Seed], ([seed]) => {
      for (const swapPath of swapPathsOf(seed)) {
        assertEqualsLoop(swapPath, seed)
      }
    })

    it.prop("never pays less for more", [Seed], ([seed]) => {
      for (const swapPath of swapPathsOf(seed)) {
        const { quote } = makePriceTable(swapPath)
        const amounts = amountsFor(swapPath, seed).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
        const paid = amounts.map((amount) => quote(amount)).filter(({ ending }) => ending !== "refused")
        for (const [i, { amountOut }] of paid.entries()) {
          assert.isTrue(amountOut >= (paid[i - 1]?.amountOut ?? 0n), `seed ${seed}`)
        }
      }
    })

    it.prop("gives the same answer whatever was asked before", [Seed], ([seed]) => {
      for (const swapPath of swapPathsOf(seed)) {
        const used = makePriceTable(swapPath)
        used.quote(MAX_U64)
        for (const amount of amountsFor(swapPath, seed)) {
          assert.deepStrictEqual(used.quote(amount), makePriceTable(swapPath).quote(amount))
        }
      }
    })

    it.prop("lets no round trip end with a profit", [Seed], ([seed]) => {
      const [down, up] = swapPathsOf(seed)
      if (down === undefined || up === undefined) {
        return
      }
      for (const amount of amountsFor(down, seed)) {
        const there = swapSteps(down, amount)
        const { liquidity, sqrtPrice, tick } = there
        // Ticks that the first leg crossed lie ahead of the second leg.
        const passed = down.ticks.filter(({ index }) => index > tick).toReversed()
        const back = { ...up, liquidity, sqrtPrice, tick, ticks: [...passed, ...up.ticks] }
        if (there.ending !== "refused" && there.amountOut > 0n) {
          assert.isTrue(swapSteps(back, there.amountOut).amountOut <= there.amountIn, `${amount} of seed ${seed}`)
        }
      }
    })

    it.prop("starts at its marginal rate and stays below it", [Seed], ([seed]) => {
      for (const swapPath of swapPathsOf(seed)) {
        const { marginalRate, quote } = makePriceTable(swapPath)
        const { denominator, numerator } = marginalRate()
        for (const amount of amountsFor(swapPath, seed)) {
          const { amountIn, amountOut } = quote(amount)
          assert.isTrue(amountOut * denominator <= amountIn * numerator, `${amount} of seed ${seed}`)
        }
      }
    })
  })
}
