import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { mayHaveOutliers, outliersOf, type Print } from "../../../src/market/model/outliers.ts"
import { seededRandom } from "../tape/tape.ts"

const print = (price: number | null, volume: bigint): Print => ({ price, volume })
const steady = (prices: ReadonlyArray<number>) => prices.map((price) => print(price, 1000n))

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))

/** Prices that wander, with spikes of any size and volume. */
const randomPrints = (seed: number): ReadonlyArray<Print> => {
  const roll = seededRandom(seed)
  return Array.from({ length: 1 + Math.floor(roll() * 40) }, () => {
    const price = (0.5 + roll()) * (roll() < 0.2 ? 10 ** (roll() * 6 - 3) : 1)
    return print(roll() < 0.1 ? null : price, BigInt(Math.floor(10 ** (roll() * 5))))
  })
}

/** The outliers by their definition, one print at a time. */
const naive = (prints: ReadonlyArray<Print>) => {
  const priced = prints.filter(({ price }) => price !== null)
  const total = Number(prints.reduce((sum, { volume }) => sum + volume, 0n))
  const kept = priced.filter(({ price, volume }, place) => {
    const near = priced
      .filter((_, other) => other !== place && Math.abs(other - place) <= 5)
      .map((each) => each.price ?? 0)
      .toSorted((a, b) => a - b)
    const half = near.length / 2
    const median = half % 1 === 0 ? ((near[half - 1] ?? 0) + (near[half] ?? 0)) / 2 : (near[half - 0.5] ?? 0)
    const far = near.length > 0 && ((price ?? 0) > 20 * median || (price ?? 0) * 20 < median)
    return !far || Number(volume) * 100 >= total
  })
  return { count: priced.length - kept.length, prices: kept.map(({ price }) => price ?? 0) }
}

describe("outliers", () => {
  it("are prints far from their neighbours with next to no volume", () => {
    const prints = [...steady([1, 1.1, 0.9]), print(30, 10n), ...steady([1, 1.2]), print(0.01, 10n), ...steady([1])]
    assert.deepStrictEqual(outliersOf(prints), { count: 2, high: 1.2, low: 0.9 })
  })

  it("are not prints with a hundredth of the volume", () => {
    assert.strictEqual(outliersOf([...steady([1, 1, 1]), print(30, 31n)]).count, 0)
    assert.strictEqual(outliersOf([...steady([1, 1, 1]), print(30, 30n)]).count, 1)
  })

  it("are not the first prints at a price that stays", () => {
    const moved = [...steady([1, 1, 1, 1, 1, 1]), print(25, 10n), ...steady([25, 25, 25, 25, 25, 25])]
    assert.strictEqual(outliersOf(moved).count, 0)
  })

  it("need other prints with a price in their bar", () => {
    assert.deepStrictEqual(outliersOf([print(3, 1n)]), { count: 0, high: 3, low: 3 })
    assert.strictEqual(outliersOf([print(3, 0n), print(null, 10n)]).count, 0)
  })

  it.prop(
    "equal their definition, and there are none when the prices of a bar are close together",
    [Seed],
    ([seed]) => {
      const prints = randomPrints(seed)
      const { count, high, low } = outliersOf(prints)
      const expected = naive(prints)
      assert.deepStrictEqual(
        [count, high, low],
        [expected.count, Math.max(...expected.prices), Math.min(...expected.prices)]
      )
      const prices = prints.flatMap(({ price }) => (price === null ? [] : [price]))
      assert.isTrue(count === 0 || mayHaveOutliers({ high: Math.max(...prices), low: Math.min(...prices) }))
    }
  )
})
