import { assert, describe, it } from "@effect/vitest"
import type { WalletPosition } from "../../src/api/schemas/WalletPositions.ts"
import {
  allPositions,
  type PositionPlace,
  positionsPage,
  type PositionsRequest
} from "../../src/wallets/positionPages.ts"
import { emptyPosition } from "../../src/wallets/ledger.ts"
import { walletPosition } from "../../src/wallets/walletPositions.ts"
import { walletOf } from "./trades.ts"

const figures: ReadonlyArray<Partial<WalletPosition>> = [
  { total: "-2.5", valueUsd: "9", lastAtMs: 5 },
  { total: null, valueUsd: null, lastAtMs: 9 },
  { total: "10", valueUsd: "10", lastAtMs: 7 },
  { total: "-10", valueUsd: "0.5", lastAtMs: 7 },
  { total: null, valueUsd: null, lastAtMs: 1 },
  { total: "9", valueUsd: "0", lastAtMs: null, open: false }
]
const positions = figures.map((own, n) => ({
  ...walletPosition({ ...emptyPosition(walletOf(n)), held: 1n }, null, null),
  ...own
}))

const numbersOf = (request: Partial<PositionsRequest>, after: PositionPlace | null = null) => {
  const page = positionsPage(positions, { ...allPositions(100), ...request, after })
  return { ...page, numbers: page.positions.map(({ mint }) => positions.findIndex((each) => each.mint === mint)) }
}

/** The positions of all pages, each of so many rows. */
const overPages = (request: Partial<PositionsRequest>): ReadonlyArray<number> => {
  const found: Array<number> = []
  let after: PositionPlace | null = null
  do {
    const { next, numbers } = numbersOf(request, after)
    found.push(...numbers)
    after = next
  } while (after !== null)
  return found
}

describe("a page of positions", () => {
  it("is ordered by numbers and not by texts, with unknown figures last in both directions", () => {
    assert.deepStrictEqual(numbersOf({ sort: "total" }).numbers, [2, 5, 0, 3, 1, 4])
    assert.deepStrictEqual(numbersOf({ sort: "total", order: "asc" }).numbers, [3, 0, 5, 2, 1, 4])
    assert.deepStrictEqual(numbersOf({}).numbers, [1, 2, 3, 0, 4, 5])
  })

  it.each([1, 2, 3, 4, 5, 6])("of %i leads to each position once", (limit) => {
    for (const sort of ["lastTrade", "firstTrade", "value", "total"] as const) {
      for (const order of ["asc", "desc"] as const) {
        assert.deepStrictEqual(
          overPages({ sort, order, limit }),
          numbersOf({ sort, order }).numbers,
          `${sort} ${order}`
        )
      }
    }
  })

  it("goes on where it was when the position of its cursor is gone", () => {
    assert.deepStrictEqual(numbersOf({ sort: "total" }, { value: "9.5", mint: walletOf(99) }).numbers, [5, 0, 3, 1, 4])
  })

  it("leaves unknown values out of a range of values, and counts them", () => {
    const { matching, numbers, unknownValue } = numbersOf({
      minValueUsd: { numerator: 1n, denominator: 2n },
      sort: "value"
    })
    assert.deepStrictEqual({ matching, numbers, unknownValue }, { matching: 3, numbers: [2, 0, 3], unknownValue: 2 })
    assert.deepStrictEqual(numbersOf({ open: false }).numbers, [5])
  })
})
