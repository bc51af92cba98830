import { assert, describe, it } from "@effect/vitest"
import type { Pool, Rate, Unpriceable } from "../../../src/programs/interface/Program.ts"
import { isUnpriceable } from "../../../src/programs/interface/Program.ts"
import { productInputFor, productInputTo, pathInputTo, sqrtPriceTo } from "../../../src/programs/math/priceMove.ts"
import { swapSteps } from "../../../src/programs/math/swapSteps.ts"
import { isFailure } from "../../../src/programs/layout/unpriceable.ts"
import { dlmmWith } from "../meteora/meteoraPools.ts"
import { meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import { whirlpoolSwapPaths } from "../../../src/programs/orca/whirlpool.ts"
import { whirlpoolSqrtPriceAt } from "../../../src/programs/orca/whirlpoolTicks.ts"
import { clmmSwapPaths } from "../../../src/programs/raydium/clmm.ts"
import { raydiumSqrtPriceAt } from "../../../src/programs/raydium/clmmTicks.ts"
import { clmmFrom, clock, derive, randomPlan, whirlpoolFrom } from "../syntheticPools.ts"

const SHARE: Rate = { numerator: 98n, denominator: 100n }

const pathsOf = (seed: number) => {
  const whirlpool = whirlpoolFrom(randomPlan(seed, whirlpoolSqrtPriceAt))
  const clmm = clmmFrom(randomPlan(seed, raydiumSqrtPriceAt))
  return [
    whirlpoolSwapPaths(whirlpool.pool, whirlpool.accounts, derive),
    clmmSwapPaths(clmm.pool, clmm.accounts, derive)
  ].flatMap((paths) => {
    const at = isFailure(paths) ? null : paths.at(clock)
    return at === null ? [] : [at.down, at.up]
  })
}

describe("the input that moves a concentrated pool by 2 %", () => {
  it("ends at the price and not beyond it; a little more goes beyond", () => {
    let moved = 0
    for (let seed = 1; seed <= 150; seed++) {
      for (const swapPath of pathsOf(seed)) {
        const target = sqrtPriceTo(swapPath.sqrtPrice, swapPath.down, SHARE)
        const { amountIn, complete } = pathInputTo(swapPath, SHARE)
        if (!complete || amountIn === 0n) {
          continue
        }
        const reached = swapSteps(swapPath, amountIn)
        if (reached.ending === "refused") {
          continue
        }
        const beyond = (sqrtPrice: bigint) => (swapPath.down ? sqrtPrice < target : sqrtPrice > target)
        assert.isFalse(beyond(reached.sqrtPrice), `seed ${seed}`)
        const more = swapSteps(swapPath, amountIn + amountIn / 1000n + 1000n)
        if (more.ending === "filled" && more.sqrtPrice !== reached.sqrtPrice) {
          assert.isTrue(beyond(more.sqrtPrice), `seed ${seed}`)
          moved++
        }
      }
    }
    assert.isAbove(moved, 100)
  })
})

describe("the input that moves a constant product", () => {
  it("keeps at least the share of the price; one unit more does not", () => {
    const [reserveIn, reserveOut] = [1_000_000_000n, 7_000_000_000n]
    const price = (net: bigint) => reserveIn * reserveIn * 100n - (reserveIn + net) * (reserveIn + net) * 98n
    const net = productInputTo(reserveIn, SHARE)
    assert.isTrue(price(net) >= 0n && price(net + 1n) < 0n)
    const most = productInputFor(3_000_000_000n, reserveIn, reserveOut)
    assert.isTrue((reserveOut * most) / (reserveIn + most) <= 3_000_000_000n)
  })
})

const pairOf = (bins: Parameters<typeof dlmmWith>[0]): Pool => {
  const { accounts, pool } = dlmmWith(bins)
  const decoded: Pool | Unpriceable = meteoraDlmm.decode(pool, accounts, derive)
  return isUnpriceable(decoded) ? assert.fail(decoded.detail) : decoded
}

describe("the input that moves a DLMM pair", () => {
  it("empties the bins within 2 %, and is complete when no others lie beyond", () => {
    const pair = pairOf([
      { id: 0, y: 1_000_000n },
      { id: -1, y: 2_000_000n },
      { id: -2000, y: 4_000_000n }
    ])
    const move = pair.inputTo?.(true, SHARE, clock)
    assert.isTrue(move?.complete)
    const paid = pair.swap(true, move?.amountIn ?? 0n, clock)
    assert.strictEqual(paid.amountOut, 3_000_000n)
    assert.deepStrictEqual(pairOf([{ id: 0, y: 5n }]).inputTo?.(false, SHARE, clock), { amountIn: 0n, complete: true })
  })
})
