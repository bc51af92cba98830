import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { unpackBlock } from "../../../src/chain/decoding/PackedTransactions.ts"
import type { TradeBlock } from "../../../src/chain/decoding/TradeBlock.ts"
import { makePast } from "../../../src/simulator/past/makePast.ts"
import { readPast, writePast } from "../../../src/simulator/past/pastFile.ts"
import { recordedPast } from "../../../src/simulator/past/recordedPast.ts"
import { startOf } from "../../../src/simulator/traders/startChain.ts"

const settings = { seed: "recorded", hardships: true, history: 0.5, retailWallets: 20, swapsPerSecond: 0.5 }
const BUILT_MS = startOf(1_790_000_001_234)
/** Some days later, at another second of the minute. */
const STARTED_MS = startOf(BUILT_MS + 300_000_000 + 17_777)

const spelled = ({ transactions, ...head }: TradeBlock) => ({
  ...head,
  transactions: Array.from(transactions, ({ changes, index, legs, moves, nets, signature, transfers, unresolved }) => ({
    changes,
    index,
    legs,
    moves,
    nets,
    signature,
    transfers,
    unresolved
  }))
})

describe("a recorded past", () => {
  it("is, block for block, the past that a chain of its seed makes at another time", () => {
    const own = makePast(settings, STARTED_MS)
    const moved = recordedPast(makePast(settings, BUILT_MS), own.live)
    const [first] = own.blocks
    const slots = own.blocks.map(({ head }) => head.slot)
    assert.isAbove(slots.length, 300)
    assert.deepStrictEqual(moved.list(0, 10_000), slots)
    assert.deepStrictEqual([moved.first, moved.last], [slots[0], slots.at(-1)])
    for (const block of own.blocks) {
      const expected = spelled(unpackBlock(block))
      // The first block names itself as its parent, so that a reader does not look for an earlier one.
      const parentSlot = block === first ? block.head.slot : block.head.parentSlot
      assert.deepStrictEqual(Option.map(moved.read(block.head.slot), spelled), Option.some({ ...expected, parentSlot }))
    }
    assert.deepStrictEqual(moved.read((slots[1] ?? 0) + 1), Option.none())
    assert.deepStrictEqual(moved.list((slots[2] ?? 0) - 1, 2), slots.slice(2, 4))
  })

  it.effect("is read back from its file only by a chain with the same settings", () =>
    Effect.gen(function* () {
      const past = makePast({ ...settings, history: 0.05 }, BUILT_MS)
      const bytes = Buffer.from(writePast(past))
      const read = yield* Effect.promise(() => readPast(bytes, past.settings))
      assert.deepStrictEqual(read, past)
      assert.isNull(yield* Effect.promise(() => readPast(bytes, { ...past.settings, seed: "other" })))
      const cut = yield* Effect.exit(Effect.tryPromise(() => readPast(bytes.subarray(0, -100), past.settings)))
      assert.strictEqual(cut._tag, "Failure")
    })
  )
})
