import { assert, describe, it } from "@effect/vitest"
import { zstdDecompressSync } from "node:zlib"
import { rawBlockDecoder } from "../../../src/chain/recording/rawBlock.ts"

const packed = (added: ReadonlyArray<unknown>, rest: unknown) => {
  const { add, end } = rawBlockDecoder(7)
  added.forEach(add)
  return end(rest)?.message ?? null
}

describe("rawBlockDecoder", () => {
  it("keeps the whole answer, with the transactions that came before its rest", () => {
    const rest = { blockhash: "x", parentSlot: 6, blockTime: 5, transactions: [{ n: 3 }] }
    const block = packed([{ n: 1 }, { n: 2 }], rest) ?? assert.fail("not a block")
    assert.deepInclude(block, { slot: 7, parentSlot: 6, blockTimeMs: 5000 })
    const json: unknown = JSON.parse(zstdDecompressSync(block.json).toString())
    assert.deepStrictEqual(json, { ...rest, transactions: [{ n: 1 }, { n: 2 }, { n: 3 }] })
  })

  it("is null for an answer without a list of transactions", () => {
    for (const rest of [null, [], { parentSlot: 6 }, { parentSlot: 6, transactions: null }, { transactions: [] }]) {
      assert.isNull(packed([], rest))
    }
  })
})
