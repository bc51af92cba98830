import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BlockTimes, timeOfBlock } from "../../../src/chain/blocks/blockTime.ts"

const CLOCK = { slot: 1000, epoch: 0, unixTimestamp: 1_790_000_000 }
const head = (slot: number, blockTimeMs: number | null) => ({ slot, parentSlot: slot - 1, blockTimeMs })

describe("the time of a block", () => {
  it("is its own when the clock sysvar agrees, with more slack the further away the sysvar is", () => {
    for (const [slot, timeMs] of [
      [1000, 1_790_000_000_000],
      [1010, 1_790_000_030_000],
      [500, 1_789_999_700_000]
    ] as const) {
      assert.deepStrictEqual(timeOfBlock(head(slot, timeMs), CLOCK), { timeMs, isEstimated: false })
    }
  })

  it("is extrapolated from the sysvar when the node states 1970, another year, or nothing", () => {
    for (const own of [0, 5000, 1_690_000_000_000, 1_890_000_000_000, null]) {
      assert.deepStrictEqual(timeOfBlock(head(1010, own), CLOCK), { timeMs: 1_790_000_004_000, isEstimated: true })
    }
  })

  it("is not judged without a sysvar", () => {
    assert.deepStrictEqual(timeOfBlock(head(7, 0), null), { timeMs: 0, isEstimated: false })
    assert.deepStrictEqual(timeOfBlock(head(7, null), { ...CLOCK, unixTimestamp: 0 }), {
      timeMs: null,
      isEstimated: false
    })
  })
})

describe("the times of blocks", () => {
  it.effect("are counted when they are estimates", () =>
    Effect.gen(function* () {
      const clock = { slot: 100, epoch: 1, unixTimestamp: 1_790_000_000 }
      const times = new BlockTimes({ clock, host: "node:8899" })
      const head = { slot: 101, parentSlot: 100 }
      const kept = yield* times.timed({ ...head, blockTimeMs: 1_790_000_000_000 })
      const estimates = [
        yield* times.timed({ ...head, blockTimeMs: 0 }),
        yield* times.timed({ ...head, blockTimeMs: null })
      ]
      assert.deepStrictEqual(kept, { ...head, blockTimeMs: 1_790_000_000_000 })
      const estimate = { ...head, blockTimeMs: 1_790_000_000_400, blockTimeEstimated: true }
      assert.deepStrictEqual(estimates, [estimate, estimate])
      assert.strictEqual(times.estimated, 2)
    })
  )
})
