import { assert, describe, it } from "@effect/vitest"
import { storedOrStill } from "../../scripts/soak/stored.ts"
import { descriptorsFlat, heapFlat, medianSlope, noneLost, p99Steady } from "../../scripts/soak/verdicts.ts"

const rows = (heaps: ReadonlyArray<number>) => heaps.map((heapMb) => ({ heapMb }))
const counting = (length: number) => Array.from({ length }, (_, n) => n)

describe("the verdicts of a long run", () => {
  it("give none on a trend in a run of few rows", () => {
    const few = counting(7)
    assert.isNull(heapFlat(few.map((n) => ({ heapMb: 100 + 50 * n }))).holds)
    assert.isNull(descriptorsFlat(few.map((n) => ({ descriptors: 100 * n }))).holds)
    assert.isNull(p99Steady(few.map((n) => [n + 1])).holds)
  })

  it("find a heap that grows over the last half, and pass one that grew before", () => {
    const grew = counting(20).map((n) => 80 + Math.min(n, 9) * 10)
    assert.isTrue(heapFlat(rows(grew)).holds)
    const grows = counting(20).map((n) => 80 + Math.max(0, n - 9))
    const { figure, holds } = heapFlat(rows(grows))
    assert.isFalse(holds)
    // From 81 to 90 with a middle value of 85 MB.
    assert.closeTo(figure ?? 0, 9 / 85, 1e-9)
  })

  it("are not moved by one row", () => {
    const steady = counting(20).map((n) => (n === 19 ? 800 : 80 + (n % 2) / 10))
    assert.isTrue(heapFlat(rows(steady)).holds)
    assert.strictEqual(medianSlope([1, 2, 3, 4, 5, 1000]), 1)
  })

  it("find descriptors that are not closed", () => {
    assert.isTrue(descriptorsFlat(counting(40).map((n) => ({ descriptors: 70 + (n % 3) }))).holds)
    assert.deepStrictEqual(descriptorsFlat(counting(40).map((n) => ({ descriptors: 70 + n }))), {
      holds: false,
      figure: 30,
      bound: 5
    })
  })

  it("compare the slowest hundredth of the first and of the last quarter", () => {
    const steady = counting(8).map(() => counting(200).map((n) => n + 1))
    assert.deepStrictEqual(p99Steady(steady), { holds: true, figure: 0, bound: 0.2 })
    const slower = steady.map((samples, n) => (n < 6 ? samples : samples.map((ms) => ms * 1.5)))
    assert.deepStrictEqual(p99Steady(slower), { holds: false, figure: 0.5, bound: 0.2 })
    // Rows in which nothing was answered give no verdict, and none of success.
    assert.isNull(p99Steady(counting(8).map(() => [])).holds)
  })

  it("hold for a count of zero alone", () => {
    assert.isTrue(noneLost(0).holds)
    assert.isFalse(noneLost(1).holds)
    assert.isFalse(noneLost(null).holds)
    assert.isFalse(noneLost(Number.NaN).holds)
  })
})

describe("the wait for what is stored", () => {
  it("lasts while more is stored, however slowly, and ends with everything or with a standstill", () => {
    const slow = storedOrStill(100, 3)
    const looks = [80, 80, 80, 81, 81, 81, 100].map((slot) => slow({ gaps: 0, slot }))
    assert.deepStrictEqual(looks, [false, false, false, false, false, false, true])
    const still = storedOrStill(100, 3)
    assert.deepStrictEqual(
      [1, 1, 1, 1].map((gaps) => still({ gaps, slot: 100 })),
      [false, false, false, true]
    )
  })
})
