import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { productPrices, type Side } from "../../src/programs/math/constantProduct.ts"
import type { Pool } from "../../src/programs/interface/Program.ts"
import { SOL } from "../../src/domain/Address.ts"
import { compare, type Rational, reduce } from "../../src/domain/rational.ts"
import { depthOf, feeBpsOf, medianPrice, midRate, weightOf } from "../../src/tokens/poolPrice.ts"
import { at, constantProduct } from "../quotes/toyChain.ts"
import { MAX_U64 } from "../../src/domain/Amount.ts"

const TOKEN = at(10)
const clock = { slot: 1, epoch: 0, unixTimestamp: 0 }

/** x·y = k with a fee in parts per million on the input, and stated reserves. */
const withFee = (reserves: readonly [bigint, bigint], feePpm: bigint): Pool => {
  const side = (reserveIn: bigint, reserveOut: bigint): Side => ({
    reserveIn,
    reserveOut,
    roomIn: MAX_U64,
    feeOnInput: feePpm,
    feeOnOutput: 0n,
    scale: 1_000_000n
  })
  const [down, up] = [side(reserves[0], reserves[1]), side(reserves[1], reserves[0])]
  return {
    address: at(1),
    dex: "toy",
    mintA: TOKEN,
    mintB: SOL,
    slot: 1,
    reserves,
    ...productPrices(down, up)
  }
}

const Reserve = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1_000_000n, maximum: 2n ** 60n }))
const Ppm = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 100_000n }))

const within = (a: Rational, b: Rational, ppm: bigint): boolean => {
  const left = a.numerator * b.denominator
  const right = b.numerator * a.denominator
  return (left > right ? left - right : right - left) * 1_000_000n <= right * ppm
}

describe("midRate", () => {
  it("is the ratio of the reserves when there is no fee, from both sides", () => {
    const pool = constantProduct(at(1), TOKEN, SOL, [2000n, 500n])
    assert.deepStrictEqual(reduce(midRate(pool, TOKEN, clock) ?? { numerator: 0n, denominator: 1n }), {
      numerator: 1n,
      denominator: 4n
    })
    assert.deepStrictEqual(reduce(midRate(pool, SOL, clock) ?? { numerator: 0n, denominator: 1n }), {
      numerator: 4n,
      denominator: 1n
    })
  })

  it.effect.prop(
    "differs from the ratio of the reserves by at most the square of the fee",
    [Reserve, Reserve, Ppm],
    ([a, b, ppm]) =>
      Effect.sync(() => {
        const mid = midRate(withFee([a, b], ppm), TOKEN, clock)
        assert.isNotNull(mid)
        const squared = (ppm * ppm) / 1_000_000n + 1n
        assert.isTrue(mid !== null && within(mid, { numerator: b, denominator: a }, squared))
      })
  )

  it("is unknown when the pool trades one way only, or fails", () => {
    const pool = constantProduct(at(1), TOKEN, SOL, [2000n, 500n])
    const oneWay: Pool = {
      ...pool,
      marginalRate: (aToB) => (aToB ? { numerator: 0n, denominator: 1n } : { numerator: 4n, denominator: 1n })
    }
    const broken: Pool = {
      ...pool,
      marginalRate: () => {
        throw new RangeError("a bug")
      }
    }
    assert.isNull(midRate(oneWay, TOKEN, clock))
    assert.isNull(midRate(oneWay, SOL, clock))
    assert.isNull(midRate(broken, TOKEN, clock))
  })
})

describe("midRate of a pool that states its reserves", () => {
  const open = withFee([1_000_000n, 4_000_000n], 2500n)
  const refusing = (isRefused: (aToB: boolean) => boolean): Pool => ({
    ...open,
    swap: (aToB, amountIn, clock) =>
      isRefused(aToB) ? { ending: "refused", amountIn: 0n, amountOut: 0n } : open.swap(aToB, amountIn, clock)
  })

  it("is unknown before the pool opens", () => {
    assert.isNull(
      midRate(
        refusing(() => true),
        TOKEN,
        clock
      )
    )
  })

  it("is known while the pool trades at least one way", () => {
    for (const oneWay of [refusing((aToB) => aToB), refusing((aToB) => !aToB)]) {
      assert.deepStrictEqual(midRate(oneWay, TOKEN, clock), midRate(open, TOKEN, clock))
      assert.deepStrictEqual(midRate(oneWay, SOL, clock), midRate(open, SOL, clock))
    }
  })
})

describe("depthOf", () => {
  const pool = withFee([100_000_000n, 200_000_000n], 2500n)

  it("gives the amounts of swaps that move the price of the pool by 2 %", () => {
    const { purchase, sale } = depthOf(pool, TOKEN, clock)
    // 100,000,000 · (1/√0.98 - 1) before the fee, which buys 200,000,000 · (1 - √0.98).
    assert.deepStrictEqual(sale, { amountIn: 1_017_798n, amountOut: 2_010_098n, complete: true })
    // 200,000,000 · (√1.02 - 1) before the fee, which buys 100,000,000 · (1 - 1/√1.02).
    assert.deepStrictEqual(purchase, { amountIn: 1_995_085n, amountOut: 985_244n, complete: true })
  })

  it("is unknown when the pool does not state it, fails or refuses", () => {
    const { inputTo: _, ...silent } = pool
    const broken: Pool = {
      ...pool,
      inputTo: () => {
        throw new RangeError("a bug")
      }
    }
    const refusing: Pool = { ...pool, swap: () => ({ ending: "refused", amountIn: 0n, amountOut: 0n }) }
    for (const odd of [silent, broken, refusing]) {
      assert.deepStrictEqual(depthOf(odd, TOKEN, clock), { sale: null, purchase: null })
      assert.strictEqual(weightOf(depthOf(odd, TOKEN, clock)), 0n)
    }
  })

  it("weighs a pool by the smaller of its two sides", () => {
    const oneSided: Pool = {
      ...pool,
      inputTo: (aToB) => ({ amountIn: aToB ? 0n : 10_000n, complete: true })
    }
    assert.strictEqual(weightOf(depthOf(pool, TOKEN, clock)), 1_995_085n)
    assert.strictEqual(weightOf(depthOf(oneSided, TOKEN, clock)), 0n)
  })
})

const item = (price: bigint, weight: bigint) => ({ price: { numerator: price, denominator: 1n }, weight })

describe("medianPrice", () => {
  it("is the price below which half of the weight lies", () => {
    assert.strictEqual(medianPrice([item(3n, 1n), item(1n, 1n), item(2n, 1n)])?.price.numerator, 2n)
    assert.strictEqual(medianPrice([item(3n, 5n), item(1n, 1n), item(2n, 1n)])?.price.numerator, 3n)
    assert.strictEqual(medianPrice([item(9n, 4n)])?.price.numerator, 9n)
    assert.isNull(medianPrice([]))
  })

  const Item = Schema.Struct({ price: Reserve, weight: Reserve })

  it.effect.prop(
    "is not moved past the others by a pool with less than half of the money",
    [Schema.NonEmptyArray(Item), Reserve],
    ([honest, bogus]) =>
      Effect.sync(() => {
        const items = honest.map(({ price, weight }) => item(price, weight))
        const money = items.reduce((sum, { weight }) => sum + weight, 0n)
        const chosen = medianPrice([...items, item(bogus, money - 1n)])
        const prices = items.map(({ price }) => price).toSorted(compare)
        const [lowest] = prices
        const highest = prices.at(-1)
        assert.isTrue(
          chosen !== null &&
            lowest !== undefined &&
            highest !== undefined &&
            compare(chosen.price, lowest) >= 0 &&
            compare(chosen.price, highest) <= 0
        )
      })
  )
})

describe("feeBpsOf", () => {
  it.effect.prop("finds the fee again", [Reserve, Reserve, Ppm], ([a, b, ppm]) =>
    Effect.sync(() => assert.strictEqual(feeBpsOf(withFee([a, b], ppm), clock), Number(ppm) / 100))
  )

  it("is null for a pool that does not state its fee", () => {
    const { feeRate: _, ...silent } = withFee([2000n, 500n], 2500n)
    assert.isNull(feeBpsOf(silent, clock))
  })
})
