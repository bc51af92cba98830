import { assert, describe, it } from "@effect/vitest"
import { makeLookAlikes } from "../../../src/market/reads/lookAlikes.ts"
import { SearchIndex } from "../../../src/market/reads/SearchIndex.ts"
import { mintOf } from "../tape/tape.ts"

describe("look-alikes", () => {
  it("compare every mint of a popular name once, however many rows have it", () => {
    const index = new SearchIndex(1000)
    const rows = 40
    for (let n = 1; n <= rows; n++) {
      index.put(mintOf(n), { symbol: `T${n}`, name: "Pepe" })
    }
    const asked: Array<string> = []
    const read: Array<string> = []
    const verdictOf = makeLookAlikes({
      alike: (skeleton) => {
        asked.push(skeleton)
        return index.alike(skeleton)
      },
      liquidityOf: (mint) => {
        read.push(mint)
        return { numerator: mint === mintOf(1) ? 100n : 1n, denominator: 1n }
      },
      refOf: (mint) => ({ chain: "solana", address: mint, symbol: null, name: null, decimals: null, imageUrl: null })
    })
    index.see(mintOf(1), 5)
    const verdicts = Array.from({ length: rows }, (_, i) => index.of(mintOf(i + 1))).flatMap((token) =>
      token === null ? [] : [verdictOf(token)]
    )
    assert.deepStrictEqual(
      verdicts.map(({ lookAlike }) => lookAlike.isLookAlike),
      [false, ...Array.from({ length: rows - 1 }, () => true)]
    )
    assert.isTrue(verdicts.every(({ behind }, place) => behind === (place === 0 ? null : mintOf(1))))
    assert.strictEqual(new Set(asked).size, asked.length)
    assert.strictEqual(new Set(read).size, read.length)
  })
})
