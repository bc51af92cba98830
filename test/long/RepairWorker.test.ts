/** The pace of repairs and of rebuilds, and what is left to read. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { historyShare } from "../../src/market/tape/RepairWorker.ts"
import type { ReadBack } from "../../src/market/tape/readBack.ts"
import { lacksRepairs } from "../../src/market/tape/rebuildTape.ts"
import { lacksHistory, nextJob, pauseMs, repairOf } from "../../src/market/tape/repairPlan.ts"
import type { TradeProgress } from "../../src/market/model/TradeProgress.ts"
import { gapBetween, type MissingBlocks } from "../../src/market/model/Gaps.ts"
import { movable } from "../support/clock.ts"
import { blockOf, type Faults, FIRST, hasBlock, process, repairing, slots, timeOf } from "../market/tape/chain.ts"
import { memory, replaced } from "../support/marketStores.ts"

const gapOf = (fromSlot: number, toSlot: number, more: Partial<MissingBlocks> = {}): MissingBlocks => ({
  ...(gapBetween({ slot: fromSlot - 1, timeMs: 0 }, { slot: toSlot + 1, timeMs: 9000 }) ?? assert.fail("no gap")),
  ...more
})

const progressOf = (more: Partial<TradeProgress> = {}): TradeProgress => ({
  slot: 100,
  timeMs: 100_000,
  firstSlot: 5,
  readFrom: 50,
  gaps: [],
  repairs: 0,
  ...more
})

describe("lacksRepairs", () => {
  const stored = progressOf({ gaps: [gapOf(20, 29)], repairs: 3 })

  it("is true when the store counts other repairs", () => {
    assert.isFalse(lacksRepairs({ gaps: stored.gaps, repairs: 3 }, stored))
    assert.isTrue(lacksRepairs({ gaps: stored.gaps, repairs: 2 }, stored))
    assert.isTrue(lacksRepairs({ gaps: stored.gaps, repairs: 4 }, stored))
  })

  it("is true when the store has settled a gap that is open in memory, except after its newest block", () => {
    assert.isTrue(lacksRepairs({ gaps: [gapOf(10, 12), ...stored.gaps], repairs: 3 }, stored))
    assert.isTrue(
      lacksRepairs({ gaps: stored.gaps, repairs: 3 }, { ...stored, gaps: [gapOf(20, 29, { state: "unavailable" })] })
    )
    // Still partly open; settled in memory too; later than what is stored.
    assert.isFalse(lacksRepairs({ gaps: [gapOf(18, 22)], repairs: 3 }, stored))
    assert.isFalse(lacksRepairs({ gaps: [gapOf(10, 12, { state: "unavailable" })], repairs: 3 }, stored))
    assert.isFalse(lacksRepairs({ gaps: [gapOf(100, 104)], repairs: 3 }, stored))
  })
})

/** A gap after some failed attempts, the last one at time 0. */
const triedAtZero = (fromSlot: number, tries: number) =>
  gapOf(fromSlot, fromSlot + 1, { tries, nextTryAtMs: pauseMs(tries - 1) })

describe("the blocks that are left to read", () => {
  const none = { fromMs: null, firstSlot: 0, isDue: true }

  it("are the blocks of the newest gap that is due, even after the clock was set back", () => {
    const gaps = [triedAtZero(10, 1), triedAtZero(20, 5)]
    const dueAt = (nowMs: number) => {
      const job = nextJob(progressOf({ gaps }), nowMs, none)
      return job?._tag === "Gap" ? job.gap.fromSlot : null
    }
    assert.deepStrictEqual([0, 1000, 15_999, 16_000].map(dueAt), [null, 10, 10, 20])
    // No attempt waits longer than twice its pause.
    assert.deepStrictEqual([-3_600_000, -17_000, -16_000].map(dueAt), [20, 20, 10])
  })

  it("are tried again at once when they failed before the node answered again, as if for the first time", () => {
    const gaps = [triedAtZero(10, 9), triedAtZero(20, 9), gapOf(30, 31, { tries: 9, state: "unavailable" })]
    const jobAt = (nowMs: number, returnedAtMs: number) => nextJob(progressOf({ gaps }), nowMs, none, returnedAtMs)
    assert.isNull(jobAt(5000, 0))
    assert.deepStrictEqual(jobAt(5000, 1), { _tag: "Gap", gap: { ...triedAtZero(20, 9), tries: 0 } })
  })

  it("reach back to the beginning of the history, and to block 0 on a younger chain", () => {
    const history = { fromMs: 40_000, firstSlot: 0, isDue: true }
    assert.deepStrictEqual(nextJob(progressOf(), 0, history), { _tag: "History", slot: 5, second: 50 })
    assert.isNull(nextJob(progressOf(), 0, { ...history, isDue: false }))
    for (const [left, more] of [
      [true, {}],
      [false, { readFrom: 40 }],
      [false, { firstSlot: 0 }]
    ] as const) {
      const progress = progressOf(more)
      assert.strictEqual(lacksHistory(progress, history), left)
      assert.strictEqual(nextJob(progress, 0, history) !== null, left)
      assert.strictEqual(historyShare(progress, history, 100_000) < 1, left)
    }
    assert.isFalse(lacksHistory(progressOf(), none))
  })
})

describe("repairOf", () => {
  const blocks = [21, 22, 23, 26, 27, 28, 29].map((slot) => ({ ...blockOf(slot), timeMs: 4000 }))
  const none = { batches: [], repriced: [] }
  const leftOf = (tries: number, read: Pick<ReadBack, "blocks" | "holes" | "end">) =>
    repairOf({ _tag: "Gap", gap: gapOf(20, 29, { tries }) }, { ...read, reads: 10 }, none, 7000).gap?.left

  it("tries what is left again after one second when blocks were read, however often the gap failed before", () => {
    for (const tries of [0, 3, 9]) {
      assert.deepStrictEqual(leftOf(tries, { blocks, holes: [gapOf(24, 25)], end: "failed" }), [
        gapOf(20, 20, { toSecond: 4, tries: 1, nextTryAtMs: 8000 }),
        gapOf(24, 25, { tries: 1, nextTryAtMs: 8000 })
      ])
    }
  })

  it("doubles the pause when nothing was read", () => {
    for (const [tries, pause] of [
      [0, 1000],
      [3, 8000],
      [9, 512_000],
      [15, 600_000]
    ] as const) {
      assert.deepStrictEqual(leftOf(tries, { blocks: [], holes: [], end: "failed" }), [
        gapOf(20, 29, { tries: tries + 1, nextTryAtMs: 7000 + pause })
      ])
    }
  })
})

describe("a process whose store counts repairs by another process", () => {
  const scene = Effect.gen(function* () {
    yield* TestClock.setTime(timeOf(FIRST))
    const store = yield* memory
    const counts = { others: 0, rebuilds: 0 }
    const through = replaced(store, {
      blocks: {
        progress: Effect.map(
          store.blocks.progress,
          (found) => found && { ...found, repairs: found.repairs + counts.others }
        )
      },
      candles: {
        revised: (second) => {
          counts.rebuilds++
          return store.candles.revised(second)
        }
      }
    })
    const clock = yield* movable
    const life = yield* Effect.provideService(process(through), Clock.Clock, clock)
    yield* life.read(slots(FIRST, FIRST + 9))
    const other = Effect.sync(() => void counts.others++)
    const others = (seconds: number) =>
      Effect.repeat(Effect.andThen(other, TestClock.adjust("2 seconds")), { times: seconds / 2 - 1 })
    return { ...life, clock, counts, others }
  })

  it.effect("rebuilds memory for them at most every 30 s", () =>
    Effect.gen(function* () {
      const { counts, end, others } = yield* scene
      assert.strictEqual(counts.rebuilds, 0)
      yield* others(60)
      assert.isAtLeast(counts.rebuilds, 2)
      assert.isAtMost(counts.rebuilds, 3)
      yield* others(240)
      assert.isAtLeast(counts.rebuilds, 8)
      assert.isAtMost(counts.rebuilds, 11)
      yield* end
    })
  )

  it.effect("rebuilds at once after its own last repair, then at the same pace", () =>
    Effect.gen(function* () {
      const { asked, counts, end, others, read, tape } = yield* scene
      yield* others(20)
      assert.strictEqual(counts.rebuilds, 1)
      yield* read(slots(FIRST + 12, FIRST + 18))
      assert.isNotEmpty(asked)
      assert.lengthOf(tape.gaps(), 0)
      assert.isAbove(counts.rebuilds, 1)
      const before = counts.rebuilds
      yield* others(60)
      assert.isAtMost(counts.rebuilds - before, 2)
      yield* end
    })
  )

  it.effect("keeps that pace when the clock is set back by an hour", () =>
    Effect.gen(function* () {
      const { clock, counts, end, others } = yield* scene
      yield* others(60)
      const before = counts.rebuilds
      clock.shift(-Duration.toMillis(Duration.hours(1)))
      yield* others(120)
      assert.isAtLeast(counts.rebuilds - before, 3)
      yield* end
    })
  )
})

describe("a process whose store has lost blocks", () => {
  const scene = Effect.gen(function* () {
    yield* TestClock.setTime(timeOf(FIRST))
    const store = yield* memory
    const state = { change: {} as Partial<TradeProgress>, repairs: 0, rebuilds: 0 }
    const through = replaced(store, {
      blocks: {
        progress: Effect.map(
          store.blocks.progress,
          (found) => found && { ...found, ...state.change, repairs: found.repairs + state.repairs }
        ),
        // The node has none of the blocks yet.
        repair: () => Effect.void
      },
      candles: {
        revised: (second) => {
          state.rebuilds++
          return store.candles.revised(second)
        }
      }
    })
    const life = yield* process(through, () => "unreadable")
    yield* life.read(slots(FIRST, FIRST + 39))
    return { ...life, state }
  })
  const lost = gapOf(FIRST + 10, FIRST + 19, {
    fromSecond: timeOf(FIRST + 10) / 1000,
    toSecond: timeOf(FIRST + 19) / 1000
  })

  it.effect("says that they are missing, and keeps them until they are stored again", () =>
    Effect.gen(function* () {
      const { end, state, tape } = yield* scene
      const isComplete = () => tape.recordedFrom(timeOf(FIRST) / 1000 + 1).complete
      assert.deepStrictEqual([isComplete(), tape.gaps().length], [true, 0])
      state.change = { gaps: [lost] }
      yield* repairing(1)
      assert.deepStrictEqual([isComplete(), state.rebuilds], [false, 0])
      // A part of them is stored again.
      state.change = { gaps: [{ ...lost, toSlot: FIRST + 14 }] }
      state.repairs = 1
      yield* repairing(2)
      assert.deepStrictEqual([isComplete(), state.rebuilds], [false, 0])
      state.change = {}
      state.repairs = 2
      yield* repairing(1)
      assert.deepStrictEqual([isComplete(), state.rebuilds], [true, 1])
      yield* end
    })
  )

  it.effect("does not wait for them once the node has failed to give them several times", () =>
    Effect.gen(function* () {
      const { end, state } = yield* scene
      state.change = { gaps: [{ ...lost, tries: 5, nextTryAtMs: timeOf(FIRST + 3600) }] }
      state.repairs = 1
      yield* repairing(1)
      assert.strictEqual(state.rebuilds, 1)
      yield* end
    })
  )

  it.effect("is not rebuilt while the store ends before what memory has", () =>
    Effect.gen(function* () {
      const { end, state } = yield* scene
      state.change = { slot: FIRST + 30 }
      state.repairs = 1
      yield* repairing(2)
      assert.strictEqual(state.rebuilds, 0)
      state.change = {}
      yield* repairing(1)
      assert.strictEqual(state.rebuilds, 1)
      yield* end
    })
  )
})

describe("a process that reads the history", () => {
  const before = timeOf(FIRST) / 1000 - 600
  const begun = Effect.fnUntraced(function* (change: Partial<TradeProgress> = {}) {
    yield* TestClock.setTime(timeOf(FIRST))
    const store = yield* memory
    const through = replaced(store, {
      blocks: { progress: Effect.map(store.blocks.progress, (found) => found && { ...found, ...change }) }
    })
    const clock = yield* movable
    const life = yield* process(through, () => "unreadable", { HISTORY: "1 hour" }).pipe(
      Effect.provideService(Clock.Clock, clock)
    )
    yield* life.read(slots(FIRST, FIRST + 9))
    return { ...life, clock }
  })

  it.effect("tries again after a failure, even when the clock is set back by an hour", () =>
    Effect.gen(function* () {
      const { asked, clock, end } = yield* begun()
      yield* TestClock.adjust("1 minute")
      const tried = asked.length
      assert.isAbove(tried, 1)
      clock.shift(-Duration.toMillis(Duration.hours(1)))
      yield* TestClock.adjust("10 minutes")
      assert.isAbove(asked.length, tried + 1)
      yield* end
    })
  )

  it.effect("gives the reason backfill_running until it ends, as when it loses the lead", () =>
    Effect.gen(function* () {
      const { end, tape } = yield* begun()
      assert.strictEqual(tape.recordedFrom(before).reason, "backfill_running")
      yield* end
      assert.strictEqual(tape.recordedFrom(before).reason, "not_captured")
    })
  )

  it.effect("gives another reason, and requests nothing, once it has block 0", () =>
    Effect.gen(function* () {
      const { asked, end, tape } = yield* begun({ firstSlot: 0 })
      yield* TestClock.adjust("1 minute")
      assert.isEmpty(asked)
      assert.strictEqual(tape.recordedFrom(before).reason, "not_captured")
      yield* end
    })
  )
})

describe("a process whose node fails for each block a few times", () => {
  const [above, flaky] = [FIRST + 20, [FIRST + 8, FIRST + 13, FIRST + 14, FIRST + 17]]
  /** Pauses of 1, 2, 4 ... 32 seconds before the block above the gap can be read. */
  const ABOVE_FAILS = 6
  const ABOVE_SECONDS = 63

  it.effect.each(["2", "5", "20", "60"])("has read a gap soon after its first block, at %s blocks a second", (rate) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const asked = new Map<number, number>()
      const faults: Faults = (slot) => {
        const times = (asked.get(slot) ?? 0) + 1
        asked.set(slot, times)
        const fails = slot === above ? ABOVE_FAILS : flaky.includes(slot) ? 3 : 0
        return times <= fails ? "unreadable" : null
      }
      const store = yield* memory
      const gaps = Effect.map(store.blocks.progress, (progress) => progress?.gaps)
      const { end, read } = yield* process(store, faults, { REPAIR_RATE: rate })
      yield* read([...slots(FIRST, FIRST + 5), ...slots(above, above + 5)])
      const isAboveRead = () => (asked.get(above) ?? 0) > ABOVE_FAILS
      yield* Effect.repeat(TestClock.adjust("1 second"), { until: isAboveRead, times: ABOVE_SECONDS })
      assert.isNotEmpty(yield* gaps)
      // What failed is read at the fourth attempt, after pauses of 1, 2 and 4 seconds. The rest is for the pace.
      yield* Effect.repeat(TestClock.adjust("1 second"), { times: 7 + 20 })
      assert.deepStrictEqual(yield* gaps, [])
      for (const slot of flaky) {
        assert.strictEqual(asked.get(slot), 4)
      }
      // A block that was read is kept. It is read again only where it proves what is below.
      assert.strictEqual(asked.get(FIRST + 10), 1)
      yield* end
    })
  )
})

describe("a process whose node cannot serve a block", () => {
  const dead = FIRST + 13
  const HALF_HOUR = 30
  /** Pauses of 1, 2, 4 ... 512 seconds, then ten minutes. */
  const MOST_TRIES = 13

  it.effect.each<readonly [string, Faults, number, Record<string, string>]>([
    ["of a gap", (slot) => (slot === dead ? "unreadable" : null), dead, {}],
    ["after a gap, which proves the gap's blocks", (slot) => (slot >= dead ? "unreadable" : null), FIRST + 20, {}],
    ["of the history", () => "unreadable", FIRST, { HISTORY: "1 day" }]
  ])("requests a block %s ever more rarely", ([, faults, counted, settings]) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const { asked, end, read } = yield* process(yield* memory, faults, settings)
      const tries = () => asked.filter((slot) => slot === counted).length
      const hasGap = Object.keys(settings).length === 0
      yield* read(hasGap ? [...slots(FIRST, FIRST + 5), ...slots(FIRST + 20, FIRST + 25)] : slots(FIRST, FIRST + 25))
      yield* repairing(HALF_HOUR)
      assert.isAbove(tries(), 5)
      assert.isAtMost(tries(), MOST_TRIES)
      const before = tries()
      yield* repairing(2 * HALF_HOUR)
      // Pauses are ten minutes at most.
      assert.isAtLeast(tries() - before, 5)
      assert.isAtMost(tries() - before, 7)
      yield* end
    })
  )
})

describe("a process whose node is away for an hour", () => {
  const gap = slots(FIRST + 6, FIRST + 19)
  const around = [...slots(FIRST, FIRST + 5), ...slots(FIRST + 20, FIRST + 25)]

  it.effect("reads what is missing within seconds once blocks arrive again", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const [store, node] = [yield* memory, { isAway: true }]
      const faults: Faults = () => (node.isAway ? "unreadable" : null)
      const { asked, end, read } = yield* process(store, faults, { HISTORY: "2 hours" })
      yield* read(around)
      yield* repairing(60)
      node.isAway = false
      yield* TestClock.adjust("5 seconds")
      asked.length = 0
      yield* read(slots(FIRST + 26, FIRST + 30))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual((yield* store.blocks.progress)?.gaps, [])
      assert.includeMembers(asked, [...gap.filter(hasBlock), FIRST - 1])
      yield* end
    })
  )

  it.effect("asks no sooner for what the node lacks while blocks keep arriving", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const dead = FIRST + 13
      const { asked, end, read } = yield* process(yield* memory, (slot) => (slot === dead ? "unreadable" : null))
      yield* read(around)
      yield* read(slots(FIRST + 26, FIRST + 326))
      // Ten minutes: pauses of 1, 2, 4 ... 256 seconds.
      assert.isAtMost(asked.filter((slot) => slot === dead).length, 10)
      yield* end
    })
  )
})
