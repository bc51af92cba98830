import { assert, describe, it } from "@effect/vitest"
import { type MoneySwap, MOST_MONEY_SWAPS, SwapLog } from "../../../src/market/model/SwapLog.ts"
import { mintOf, seededRandom } from "../tape/tape.ts"

const MAX_U64 = 2n ** 64n - 1n

const swapAt = (order: number, units: bigint = BigInt(order)): MoneySwap => ({
  order,
  timeMs: 1_791_158_400_000 + order,
  units,
  money: MAX_U64 - units,
  isSol: order % 2 === 0
})

describe("the swaps of tokens", () => {
  it("are the newest of each token in the order of the chain, whatever was added and deleted in between", () => {
    const random = seededRandom(7)
    const below = (n: number) => Math.floor(random() * n)
    const log = new SwapLog()
    const expected = new Map<number, ReadonlyArray<MoneySwap>>()
    for (let step = 0; step < 40_000; step++) {
      // More tokens than a page holds.
      const token = below(700)
      if (below(40) === 0) {
        log.delete(mintOf(token))
        expected.delete(token)
      } else {
        const swap = swapAt(below(300))
        log.add(mintOf(token), swap)
        const known = expected.get(token) ?? []
        const all = known.some(({ order }) => order === swap.order) ? known : [...known, swap]
        expected.set(token, all.toSorted((a, b) => a.order - b.order).slice(-MOST_MONEY_SWAPS))
      }
    }
    for (let token = 0; token < 700; token++) {
      const swaps = expected.get(token) ?? []
      assert.deepStrictEqual(log.of(mintOf(token)), swaps)
      assert.strictEqual(log.newestMs(mintOf(token)), swaps.at(-1)?.timeMs)
    }
    assert.strictEqual(Array.from(log.tokens).length, expected.size)
  })

  it("are none for a token that takes the place of a forgotten one", () => {
    const log = new SwapLog()
    log.add(mintOf(1), swapAt(1))
    log.delete(mintOf(1))
    log.add(mintOf(2), swapAt(2))
    assert.deepStrictEqual([log.of(mintOf(1)), log.of(mintOf(2))], [[], [swapAt(2)]])
  })
})
