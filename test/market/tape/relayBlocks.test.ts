import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Continuity } from "../../../src/market/model/Continuity.ts"
import { ForkLog } from "../../../src/market/model/Gaps.ts"
import type { PricedBatch, TradeBatch } from "../../../src/market/model/TradeBatch.ts"
import { keepTrying } from "../../../src/operations/keepRunning.ts"
import { followChain } from "../../../src/market/tape/followTape.ts"
import { relayBlocks } from "../../../src/market/tape/leadTape.ts"
import { defaultLimits } from "../../../src/market/tape/makeMarket.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { makeHalves } from "../../../src/market/tape/tapeParts.ts"
import { type Blocks, makeMemoryBlocks } from "../../../src/storage/bus/BlockBus.ts"
import { AppendRefused, BusUnavailable } from "../../../src/storage/bus/busLog.ts"
import { memory } from "../../support/marketStores.ts"

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

const busOf = (mostBytes: number) => makeMemoryBlocks<PricedBatch>({ keptMs: 3_600_000, mostBytes }, () => 1)

const lineOf = (bus: Blocks<PricedBatch>) => ({
  bus,
  encode: (each: PricedBatch) => each,
  decode: (each: PricedBatch) => each,
  isShared: true
})

interface Faults {
  /** A block that cannot be priced. */
  readonly price?: number
  /** A block whose append dies once. */
  readonly append?: number
  /** Fails the first append of the block in slot 14. */
  readonly fails?: (append: Effect.Effect<unknown>) => Effect.Effect<void, AppendRefused | BusUnavailable>
  /** The node does not have the block in slot 14 any more, once it is asked again. */
  readonly loses14?: boolean
}

/** Leads until the block in a slot is on the bus. Only the first stream of the feed reports the fork, as a race does. */
const lead = Effect.fnUntraced(function* (
  bus: Blocks<PricedBatch>,
  forks: ForkLog,
  { fails, loses14 = false, ...faults }: Faults = {},
  blocks: ReadonlyArray<TradeBatch> = batches
) {
  const failing: { append?: number | undefined; fails?: Faults["fails"] | undefined } = { append: faults.append, fails }
  const line = lineOf({
    ...bus,
    append: (chain, block) =>
      Effect.suspend(() => {
        if (block.slot === failing.append) {
          delete failing.append
          return Effect.die(new Error("scripted"))
        }
        const append = bus.append(chain, block)
        if (block.slot === 14 && failing.fails !== undefined) {
          const failed = failing.fails(Effect.ignore(append))
          delete failing.fails
          return failed
        }
        return append
      })
  })
  let streams = 0
  const relay = Effect.gen(function* () {
    const after = (yield* bus.newest("a")) ?? (blocks[0]?.slot ?? 1) - 1
    yield* relayBlocks(
      {
        chain: Effect.never,
        batches: (from) =>
          Stream.suspend(() => {
            const isFirst = streams++ === 0
            const after = blocks.filter(({ slot }) => slot > from && (isFirst || !loses14 || slot !== 14))
            return Stream.fromIterable(isFirst ? after : after.map(({ slot }) => batch(slot)))
          }),
        again: () => Effect.never,
        list: () => Effect.succeed([])
      },
      line,
      { name: "a", after, forks },
      {
        price: (each) =>
          each.slot === faults.price ? Effect.die(new Error("scripted")) : Effect.succeed({ ...each, trades: [] }),
        recall: () => {},
        changed: () => Effect.succeed([]),
        revalued: (trades) => trades,
        newest: () => 0
      },
      () => Effect.void
    )
  })
  yield* Effect.forkChild(keepTrying("Leading")(relay), { startImmediately: true })
  yield* TestClock.adjust("1 minute")
})

/** The gaps of a follower that has read every block up to a slot, and then follows the bus up to another one. */
const gapsAt = Effect.fnUntraced(function* (bus: Blocks<PricedBatch>, read: number, until: number) {
  const continuity = new Continuity()
  for (let slot = 9; slot <= read; slot++) {
    continuity.read(batch(slot))
  }
  yield* bus.follow("a", read).pipe(
    Stream.takeUntil(({ slot }) => slot === until),
    Stream.runForEach(({ body, isAfterGap }) =>
      Effect.sync(() => continuity.read({ ...body, afterGap: body.afterGap || isAfterGap }))
    )
  )
  return continuity.gaps.map(({ fromSlot, state, toSlot }) => [fromSlot, toSlot, state])
})

/** Relays the blocks over a bus that keeps a few of them. Returns the gaps of a follower that has read up to a slot. */
const gapsOf = Effect.fnUntraced(function* (read: number, kept: number, faults: Faults) {
  const bus = busOf(kept)
  yield* lead(bus, new ForkLog(), faults)
  return yield* gapsAt(bus, read, 17)
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

const lostAnswer = new BusUnavailable({ cause: "scripted" })

it.effect.each([
  ["the bus did not take it", () => Effect.fail(lostAnswer)],
  ["the answer of the bus was lost", (append) => Effect.andThen(append, Effect.fail(lostAnswer))],
  ["the bus refused it", () => Effect.fail(new AppendRefused({ newest: 13 }))]
] satisfies ReadonlyArray<readonly [string, NonNullable<Faults["fails"]>]>)(
  "the report of a fork survives when %s",
  ([, fails]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* gapsOf(13, 100, { fails }), [[12, 13, "unavailable"]])
    })
)

it.effect("the next block has the report of a fork whose own block is not there any more after a failed append", () =>
  Effect.gen(function* () {
    const faults = { fails: () => Effect.fail(lostAnswer), loses14: true }
    assert.deepStrictEqual(yield* gapsOf(13, 100, faults), [
      [12, 13, "unavailable"],
      [14, 14, "open"]
    ])
  })
)

/** Blocks that a later leader appends. It has seen no fork. */
const later = [18, 19, 20].map((slot) => batch(slot))

it.effect("a new leader repeats what the newest block of the bus tells of forks", () =>
  Effect.gen(function* () {
    const bus = busOf(2)
    yield* lead(bus, new ForkLog())
    yield* lead(bus, new ForkLog(), {}, later)
    assert.deepStrictEqual(yield* gapsAt(bus, 13, 20), [
      [12, 13, "unavailable"],
      [14, 18, "open"]
    ])
  })
)

it.effect("a new leader repeats the forks that it followed, although the bus has lost all blocks", () =>
  Effect.gen(function* () {
    const bus = busOf(100)
    const halves = yield* makeHalves
    const tape = Context.get(yield* Layer.build(Market.layerManual()), Tape)
    const parts = { stores: yield* memory, tape }
    yield* Effect.forkScoped(followChain(parts, lineOf(bus), { name: "a", begun: null }, defaultLimits, halves), {
      startImmediately: true
    })
    yield* lead(bus, new ForkLog())
    yield* halves.applied.reached(17)
    const anew = busOf(2)
    yield* lead(anew, halves.forks, {}, later)
    assert.deepStrictEqual(yield* gapsAt(anew, 13, 20), [
      [12, 13, "unavailable"],
      [14, 18, "open"]
    ])
  }).pipe(Effect.scoped)
)
