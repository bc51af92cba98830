import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { makeBatches } from "../../../src/market/tape/blockBatches.ts"
import type { BlockEvent } from "../../../src/chain/blocks/BlockFeed.ts"
import type { TradeBlock } from "../../../src/chain/decoding/TradeBlock.ts"

const block = (slot: number, blockTimeMs: number | null): BlockEvent<TradeBlock> => ({
  _tag: "Block",
  block: { slot, parentSlot: slot - 1, blockTimeMs, transactions: [], launches: [], supply: [], malformed: 0 }
})

it.effect("blocks of another fork are named by the next block", () =>
  Effect.gen(function* () {
    const events: ReadonlyArray<BlockEvent<TradeBlock>> = [
      block(1, 1000),
      block(2, 2000),
      { _tag: "Gap", from: 2, to: 3, reason: "forked" },
      block(4, 3000),
      { _tag: "Gap", from: 5, to: 5, reason: "forked" },
      block(6, 3000)
    ]
    const batches = yield* Stream.fromIterable(events).pipe(Stream.flatMap(makeBatches()), Stream.runCollect)
    assert.deepStrictEqual(
      Array.from(batches, ({ afterGap, forkedFrom, slot }) => [slot, afterGap, forkedFrom]),
      [
        [1, false, undefined],
        [2, false, undefined],
        [4, true, 2],
        // It was never emitted, so it can be read again.
        [6, true, undefined]
      ]
    )
  })
)

it.effect("a block without a time gets the time of the previous block, and a gap is reported with the next block", () =>
  Effect.gen(function* () {
    const events: ReadonlyArray<BlockEvent<TradeBlock>> = [
      block(1, null),
      block(2, 1000),
      block(3, null),
      { _tag: "Gap", from: 4, to: 6, reason: "behind" },
      block(7, 3000)
    ]
    const batches = yield* Stream.fromIterable(events).pipe(Stream.flatMap(makeBatches()), Stream.runCollect)
    assert.deepStrictEqual(
      Array.from(batches, ({ afterGap, slot, timeMs }) => [slot, timeMs, afterGap]),
      [
        [2, 1000, true],
        [3, 1000, false],
        [7, 3000, true]
      ]
    )
  })
)
