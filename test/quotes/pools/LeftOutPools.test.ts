import { assert, describe, it } from "@effect/vitest"
import { addressFromBytes } from "../../../src/domain/Address.ts"
import { LeftOutPools } from "../../../src/quotes/pools/LeftOutPools.ts"
import { at, toyProgram } from "../toyChain.ts"

const pools = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    program: toyProgram,
    address: addressFromBytes(new Uint8Array(32).fill(n & 255, 0, 1).fill(n >> 8, 1, 2)),
    account: null,
    foundBy: undefined
  }))

describe("LeftOutPools", () => {
  it("are due ten minutes after the first of a mint was left out, whatever is recorded meanwhile", () => {
    let nowMs = 0
    const leftOut = new LeftOutPools(() => nowMs)
    leftOut.note(at(1), pools(2))
    nowMs = 599_000
    leftOut.note(at(1), pools(3))
    assert.strictEqual(leftOut.of(at(1)).size, 3)
    nowMs = 600_000
    assert.strictEqual(leftOut.of(at(1)).size, 0)
    leftOut.note(at(1), pools(2))
    nowMs = 1_199_000
    assert.strictEqual(leftOut.of(at(1)).size, 2)
    leftOut.note(at(1), [])
    assert.strictEqual(leftOut.of(at(1)).size, 0)
  })

  it("are at most 100,000, from the mints that were recorded last", () => {
    const leftOut = new LeftOutPools(() => 0)
    const many = pools(1000)
    Array.from({ length: 100 }, (_, n) => leftOut.note(at(n), many))
    assert.strictEqual(leftOut.of(at(0)).size, 1000)
    leftOut.note(at(100), many.slice(0, 1))
    assert.deepStrictEqual([leftOut.of(at(0)).size, leftOut.of(at(1)).size, leftOut.of(at(100)).size], [0, 1000, 1])
  })
})
