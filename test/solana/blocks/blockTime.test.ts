import { assert, describe, it } from "@effect/vitest"
import { timeOfBlock } from "../../../src/solana/blocks/blockTime.ts"

const CLOCK = { slot: 1000, epoch: 0, unixTimestamp: 1_790_000_000 }
const head = (slot: number, blockTimeMs: number | null) => ({ slot, parentSlot: slot - 1, blockTimeMs })

describe("the time of a block", () => {
  it("is its own where the clock sysvar agrees, the more loosely the further away it is", () => {
    for (const [slot, timeMs] of [
      [1000, 1_790_000_000_000],
      [1010, 1_790_000_030_000],
      [500, 1_789_999_700_000]
    ] as const) {
      assert.deepStrictEqual(timeOfBlock(head(slot, timeMs), CLOCK), { timeMs, isEstimated: false })
    }
  })

  it("is extrapolated from the sysvar where the node gives 1970, another year, or nothing", () => {
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
