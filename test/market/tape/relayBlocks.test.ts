import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Continuity } from "../../../src/market/model/Continuity.ts"
import type { PricedBatch, TradeBatch } from "../../../src/market/model/TradeBatch.ts"
import { relayBlocks } from "../../../src/market/tape/leadTape.ts"
import { makeMemoryBlocks } from "../../../src/storage/bus/BlockBus.ts"

const batch = (slot: number, given: Partial<TradeBatch> = {}): TradeBatch => ({
  slot,
  timeMs: slot * 1000,
  transactions: [],
  launches: [],
  afterGap: false,
  ...given
})

/** From slot 10 on. The block in 14 reports that 12 and 13 are of another fork. */
const batches = [10, 11, 12, 13, 14, 15, 16, 17].map((slot) =>
  batch(slot, slot === 14 ? { afterGap: true, forkedFrom: 12 } : {})
)

/** Relays the blocks over a bus that keeps a few of them. Returns the gaps of a follower that has read up to a slot. */
const gapsOf = Effect.fnUntraced(function* (read: number, kept: number, faults: { price?: number; append?: number }) {
  const bus = makeMemoryBlocks<PricedBatch>({ keptMs: 3_600_000, mostBytes: kept }, () => 1)
  const failing = { ...faults }
  const relay = relayBlocks(
    {
      chain: Effect.never,
      batches: (after) => Stream.fromIterable(batches.filter(({ slot }) => slot > after)),
      again: () => Effect.never,
      list: () => Effect.succeed([])
    },
    {
      bus: {
        ...bus,
        append: (chain, block) =>
          Effect.suspend(() => {
            if (block.slot === failing.append) {
              delete failing.append
              return Effect.die(new Error("scripted"))
            }
            return bus.append(chain, block)
          })
      },
      encode: (each) => each,
      decode: (each) => each,
      isShared: true
    },
    { name: "a", after: 9 },
    {
      price: (each) =>
        each.slot === failing.price ? Effect.die(new Error("scripted")) : Effect.succeed({ ...each, trades: [] }),
      recall: () => {},
      changed: () => Effect.succeed([]),
      revalued: (trades) => trades,
      newest: () => 0
    },
    () => Effect.void
  )
  yield* Effect.forkChild(relay, { startImmediately: true })
  yield* TestClock.adjust("1 minute")
  const continuity = new Continuity()
  for (let slot = 9; slot <= read; slot++) {
    continuity.read(batch(slot))
  }
  yield* bus.follow("a", read).pipe(
    Stream.takeUntil(({ slot }) => slot === 17),
    Stream.runForEach(({ body, isAfterGap }) =>
      Effect.sync(() => continuity.read({ ...body, afterGap: body.afterGap || isAfterGap }))
    )
  )
  return continuity.gaps.map(({ fromSlot, state, toSlot }) => [fromSlot, toSlot, state])
})

it.effect("a reader whose next blocks the bus has dropped still learns that its newest ones are of another fork", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* gapsOf(13, 2, {}), [
      [12, 13, "unavailable"],
      [14, 15, "open"]
    ])
    // It has read none of the fork.
    assert.deepStrictEqual(yield* gapsOf(10, 2, {}), [[11, 15, "open"]])
    // It has read the report.
    assert.deepStrictEqual(yield* gapsOf(14, 2, {}), [[15, 15, "open"]])
  })
)

it.effect("the report of a fork survives a block that cannot be priced, or whose append dies", () =>
  Effect.gen(function* () {
    for (const faults of [{ price: 14 }, { append: 14 }]) {
      assert.deepStrictEqual(yield* gapsOf(13, 100, faults), [
        [12, 13, "unavailable"],
        [14, 14, "open"]
      ])
    }
  })
)
