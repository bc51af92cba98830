import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Pool } from "../../src/programs/interface/Program.ts"
import { SOL } from "../../src/domain/Address.ts"
import { bestDirect, impactPct } from "../../src/quotes/bestDirect.ts"
import { at, constantProduct } from "./toyChain.ts"

const TOKEN = at(10)
const clock = { slot: 1, epoch: 0, unixTimestamp: 0 }
const sell = { inputMint: TOKEN, amount: 1000n }

const pool = (n: number, reserves: [bigint, bigint], most?: bigint): Pool =>
  constantProduct(at(n), TOKEN, SOL, reserves, most === undefined ? {} : { most })

const broken: Pool = {
  ...pool(9, [1n, 1n]),
  swap: () => {
    throw new RangeError("division by zero")
  }
}

describe("bestDirect", () => {
  it("takes the pool that pays most", () => {
    const best = bestDirect([pool(1, [1000n, 500n]), pool(2, [1000n, 900n]), pool(3, [1000n, 600n])], sell, clock)
    assert.strictEqual(best?.pool.address, at(2))
    assert.strictEqual(best?.swap.amountOut, 450n)
  })

  it("prefers a pool that fills to one that pays more and runs out", () => {
    const best = bestDirect([pool(1, [1000n, 10_000n], 900n), pool(2, [1000n, 10n])], sell, clock)
    assert.strictEqual(best?.pool.address, at(2))
  })

  it("takes the largest output among pools that run out when none fills", () => {
    const best = bestDirect([pool(1, [1000n, 100n], 500n), pool(2, [1000n, 100n], 800n)], sell, clock)
    assert.strictEqual(best?.pool.address, at(2))
    assert.strictEqual(best?.swap.ending, "exhausted")
  })

  it("gives equal outputs to the lowest address, whatever the order", () => {
    const twins = [pool(2, [1000n, 900n]), pool(1, [1000n, 900n])]
    assert.strictEqual(bestDirect(twins, sell, clock)?.pool.address, at(1))
    assert.strictEqual(bestDirect(twins.toReversed(), sell, clock)?.pool.address, at(1))
  })

  it("finds nothing when every pool refuses, fails or pays nothing", () => {
    assert.isNull(bestDirect([], sell, clock))
    assert.isNull(bestDirect([broken, pool(1, [10n ** 12n, 1n])], sell, clock))
  })

  it("skips a pool whose arithmetic fails", () => {
    assert.strictEqual(bestDirect([broken, pool(1, [1000n, 900n])], sell, clock)?.pool.address, at(1))
  })

  it("takes the direction from the input mint", () => {
    const best = bestDirect([pool(1, [1000n, 500n])], { inputMint: SOL, amount: 500n }, clock)
    assert.strictEqual(best?.swap.amountOut, 500n)
  })

  const Reserve = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 10n ** 18n }))
  it.prop(
    "is never beaten by a candidate that fills",
    [Schema.Array(Schema.Tuple([Reserve, Reserve])), Reserve],
    ([reserves, amount]) => {
      const pools = reserves.map(([a, b], i) => pool((i % 100) + 1, [a, b]))
      const out = bestDirect(pools, { inputMint: TOKEN, amount }, clock)?.swap.amountOut ?? 0n
      assert.isTrue(pools.every((candidate) => candidate.swap(true, amount, clock).amountOut <= out))
    }
  )
})

const impactOf = (candidate: Pool, amount: bigint) => {
  const best = bestDirect([candidate], { inputMint: TOKEN, amount }, clock)
  assert.isNotNull(best)
  return best && impactPct(best, TOKEN, clock)
}

describe("impactPct", () => {
  it("measures the swap against the marginal rate, in percentage points", () => {
    // Selling a quarter of the reserve: out/in is 0.8 of the marginal rate.
    assert.strictEqual(impactOf(pool(1, [4_000_000n, 4_000_000n]), 1_000_000n), 20)
    assert.strictEqual(impactOf(pool(1, [3_000_000n, 3_000_000n]), 1_000_000n), 25)
  })

  it("is measurable from 0.1 percent on, and not below", () => {
    assert.isNull(impactOf(pool(1, [1_000_000_000n, 10n ** 18n]), 1_000_000n))
    assert.strictEqual(impactOf(pool(1, [999_000_000n, 999_000_000_000n]), 1_000_000n), 0.1)
  })

  it("is unknown when the amount was not filled", () => {
    assert.isNull(impactOf(pool(1, [1000n, 1000n], 500n), 1000n))
  })

  it("is unknown when the pool has no rate", () => {
    const silent: Pool = {
      ...pool(1, [1000n, 1000n]),
      marginalRate: () => {
        throw new RangeError("no rate")
      }
    }
    assert.isNull(impactOf(silent, 1000n))
    assert.isNull(impactOf({ ...silent, marginalRate: () => ({ numerator: 0n, denominator: 1n }) }, 1000n))
  })
})
