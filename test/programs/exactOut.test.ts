import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { SwapPath } from "../../src/programs/math/swapPath.ts"
import { isUnpriceable } from "../../src/programs/interface/Program.ts"
import { clmmSwapPaths, raydiumClmm } from "../../src/programs/raydium/clmm.ts"
import { clmmPoolOffsets } from "../../src/programs/raydium/clmmLayout.ts"
import { raydiumSqrtPriceAt } from "../../src/programs/raydium/clmmTicks.ts"
import { swapSteps } from "../../src/programs/math/swapSteps.ts"
import { isFailure } from "../../src/programs/layout/unpriceable.ts"
import { whirlpool, whirlpoolSwapPaths } from "../../src/programs/orca/whirlpool.ts"
import { whirlpoolSqrtPriceAt } from "../../src/programs/orca/whirlpoolTicks.ts"
import { MAX_U64 } from "../../src/domain/Amount.ts"
import { clmmFrom, clock, derive, randomBits, randomFrom, randomPlan, whirlpoolFrom } from "./syntheticPools.ts"

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 }))

const whirlpoolOf = (seed: number): ReadonlyArray<SwapPath> => {
  const { accounts, pool } = whirlpoolFrom(randomPlan(seed, whirlpoolSqrtPriceAt))
  const swapPaths = whirlpoolSwapPaths(pool, accounts, derive)
  const sides = isFailure(swapPaths) ? null : swapPaths.at(clock)
  return sides === null ? [] : [sides.down, sides.up]
}

/** With limit orders on every third tick. */
const clmmOf = (seed: number, feeOn: number): ReadonlyArray<SwapPath> => {
  const plan = randomPlan(seed, raydiumSqrtPriceAt)
  const { accounts, pool } = clmmFrom(plan, (view) => view.setUint8(clmmPoolOffsets.feeOn, feeOn))
  const swapPaths = clmmSwapPaths(pool, accounts, derive)
  const sides = isFailure(swapPaths) ? null : swapPaths.at(clock)
  const random = randomFrom(seed)
  const withOrders = (swapPath: SwapPath): SwapPath => ({
    ...swapPath,
    ticks: swapPath.ticks.map((tick, i) => ({ ...tick, orders: i % 3 === 1 ? randomBits(random, 40) : 0n }))
  })
  return sides === null ? [] : [withOrders(sides.down), withOrders(sides.up)]
}

/** More than any pool here holds, and small enough that a fee still fits on top. */
const PLENTY = 2n ** 63n

const families: ReadonlyArray<readonly [string, (seed: number) => ReadonlyArray<SwapPath>]> = [
  ["Whirlpool", whirlpoolOf],
  ["Raydium CLMM", (seed) => clmmOf(seed, 0)],
  ["Raydium CLMM with the fee on token 0", (seed) => clmmOf(seed, 1)],
  ["Raydium CLMM with the fee on token 1", (seed) => clmmOf(seed, 2)]
]

for (const [name, swapPathsOf] of families) {
  describe(`an exact output from a ${name} pool`, () => {
    it.prop("costs an input that buys at least as much", [Seed], ([seed]) => {
      for (const swapPath of swapPathsOf(seed)) {
        const all = swapSteps(swapPath, MAX_U64)
        const random = randomFrom(seed)
        for (let i = 0; i < 8 && all.ending === "exhausted" && all.amountOut > 0n; i++) {
          const wanted = 1n + (randomBits(random, 64) % all.amountOut)
          const bought = swapSteps(swapPath, wanted, false)
          assert.strictEqual(bought.ending, "filled", `${wanted} of seed ${seed}`)
          assert.strictEqual(bought.amountOut, wanted)
          assert.isTrue(bought.amountIn <= all.amountIn)
          if (bought.amountIn > 0n) {
            assert.isTrue(swapSteps(swapPath, bought.amountIn).amountOut >= wanted, `${wanted} of seed ${seed}`)
          }
        }
      }
    })

    it.prop("ends exhausted where an exact input does", [Seed], ([seed]) => {
      for (const swapPath of swapPathsOf(seed)) {
        const sold = swapSteps(swapPath, MAX_U64)
        const bought = swapSteps(swapPath, PLENTY, false)
        if (sold.ending === "exhausted" && sold.amountOut < PLENTY) {
          assert.deepStrictEqual(
            [bought.ending, bought.amountIn, bought.amountOut, bought.tick, bought.liquidity],
            [sold.ending, sold.amountIn, sold.amountOut, sold.tick, sold.liquidity]
          )
        }
      }
    })
  })
}

/** Outputs from here on are large against the rounding of a pool's price. */
const COARSE = 1000n

describe("an exact output of a decoded pool", () => {
  const families = [
    ["Whirlpool", (seed: number) => whirlpoolFrom(randomPlan(seed, whirlpoolSqrtPriceAt)), whirlpool],
    ["Raydium CLMM", (seed: number) => clmmFrom(randomPlan(seed, raydiumSqrtPriceAt)), raydiumClmm]
  ] as const

  it.each(families)("of a %s costs the least exact input that pays it, from 1,000 units on", (_, from, program) => {
    let checked = 0
    for (let seed = 0; seed < 120; seed++) {
      const { accounts, pool: account } = from(seed)
      const pool = program.decode(account, accounts, derive)
      const random = randomFrom(seed)
      for (const aToB of isUnpriceable(pool) ? [] : [true, false]) {
        const wanted = COARSE + (randomBits(random, 64) % 1_000_000n)
        const swap = isUnpriceable(pool) ? undefined : pool.swapExactOut?.(aToB, wanted, clock)
        if (!isUnpriceable(pool) && swap?.ending === "filled" && swap.amountIn > 1n) {
          checked++
          assert.isTrue(pool.swap(aToB, swap.amountIn, clock).amountOut >= wanted, `${wanted} of seed ${seed}`)
          assert.isTrue(pool.swap(aToB, swap.amountIn - 1n, clock).amountOut < wanted, `${wanted} of seed ${seed}`)
        }
      }
    }
    assert.isAbove(checked, 50)
  })
})

describe("a Raydium CLMM pool asked for an exact output", () => {
  const positions = [{ lower: -640, upper: 640, liquidity: 10n ** 12n }]
  const { accounts, pool } = clmmFrom({ tickSpacing: 10, tick: 0, feeRate: 2500, positions })
  const decoded = raydiumClmm.decode(pool, accounts, derive)
  const exactOut = isUnpriceable(decoded) ? undefined : decoded.swapExactOut

  it("charges the input and the fee on top of it", () => {
    // The price falls by ceil(10^6·2^64/10^12): ceil(10^6/(1 - 10^-6)) units, and ceil(1000002·2500/997500) of fee.
    const swap = exactOut?.(true, 1_000_000n, clock)
    assert.deepStrictEqual(swap, { ending: "filled", amountIn: 1_002_509n, amountOut: 1_000_000n })
  })

  it("refuses an output of zero", () => {
    assert.strictEqual(exactOut?.(true, 0n, clock).ending, "refused")
  })
})
