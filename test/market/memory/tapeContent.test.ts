import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { StoredBatch } from "../../../src/market/model/StoredBatch.ts"
import { captureOf } from "../../../src/market/memory/tapeContent.ts"
import { addBlock, emptyChain } from "../../../src/market/memory/TapedChain.ts"
import { MONDAY, trade } from "../tape/tape.ts"

const blockAt = (slot: number, launches: StoredBatch["launches"] = []): StoredBatch => {
  const timeMs = (MONDAY + slot) * 1000
  return { slot, timeMs, trades: [trade({ slot, timeMs })], launches, afterGap: false }
}

describe("the capture of a tape", () => {
  it.effect("returns null once only part of a block was added, even after later blocks", () =>
    Effect.gen(function* () {
      const chain = emptyChain({ tokens: 10, bars: 100, trades: 100, traders: 10 })
      const read = (block: StoredBatch) => {
        chain.continuity.read(block)
        addBlock(chain, block, block.timeMs)
      }
      read(blockAt(1))
      assert.strictEqual(yield* captureOf(chain, ({ slot }) => Effect.succeed(slot)), 1)
      // Its trades are added before its launch is looked at.
      const launch = { event: "created", launchpad: "pump-fun", pool: null } as const
      const broken = Object.defineProperty({ ...launch, mint: trade().mint }, "mint", {
        get: () => {
          throw new Error("broken")
        }
      })
      assert.throws(() => read(blockAt(2, [broken])), "broken")
      read(blockAt(3))
      assert.isNull(yield* captureOf(chain, ({ slot }) => Effect.succeed(slot)))
    })
  )
})
