import { assert, describe, it } from "@effect/vitest"
import { suppliesBefore, type SupplyHistory } from "../../../src/market/reads/supplyHistory.ts"

/** Minted 100 in slot 1, burned 30 in slot 3 and 5 in slot 4, minted 1 in slot 9. A slot takes a second. */
const history: SupplyHistory = {
  changes: [
    { slot: 1, second: 101, change: 100n },
    { slot: 3, second: 103, change: -30n },
    { slot: 4, second: 104, change: -5n },
    { slot: 9, second: 109, change: 1n }
  ],
  from: 90,
  toSlot: 10
}

describe("the supply at the ends of bars", () => {
  it("is the observed supply less the changes since, whichever block it was observed at", () => {
    const seconds = [101, 102, 103, 104, 105, 109, 110, 200]
    const expected = [1000n, 1100n, 1100n, 1070n, 1065n, 1065n, 1066n, 1066n]
    const observed = [
      [0, 1000n],
      [2, 1100n],
      [3, 1070n],
      [8, 1065n],
      [9, 1066n]
    ] as const
    for (const [slot, units] of observed) {
      const supply = { units, fromSlot: slot, toSlot: slot }
      assert.deepStrictEqual(suppliesBefore(supply, history, seconds), expected, String(slot))
    }
  })

  it("counts a supply observed ahead of the blocks when it was the same before", () => {
    assert.deepStrictEqual(suppliesBefore({ units: 1066n, fromSlot: 9, toSlot: 14 }, history, [104, 110]), [
      1070n,
      1066n
    ])
    assert.isNull(suppliesBefore({ units: 1066n, fromSlot: 11, toSlot: 14 }, history, [104, 110]))
  })

  it("is unknown before the first block without a gap, and without bars", () => {
    const supply = { units: 1066n, fromSlot: 9, toSlot: 9 }
    assert.isNull(suppliesBefore(supply, history, [89, 110]))
    assert.isNotNull(suppliesBefore(supply, history, [90, 110]))
    assert.isNull(suppliesBefore(supply, history, []))
  })
})
