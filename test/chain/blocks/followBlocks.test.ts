import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { BlockEvent, BlockHead } from "../../../src/chain/blocks/BlockFeed.ts"
import { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import type { SlotRange } from "../../../src/chain/blocks/SlotStream.ts"
import {
  BlockProgress,
  type BlockSettings,
  type BlockSource,
  followBlocks,
  eventsOf
} from "../../../src/chain/blocks/followBlocks.ts"

const settings: BlockSettings = { concurrency: 4, catchUp: 50, poll: Duration.millis(400), tries: 5 }

const blockAt = (slot: number, parentSlot = slot - 1): BlockHead => ({
  slot,
  parentSlot,
  blockTimeMs: slot * 400
})

const down = (reason: ChainUnavailable["reason"] = "unreachable") =>
  new ChainUnavailable({ reason, detail: "scripted" })
const coded = (rpcCode: number) => new ChainUnavailable({ reason: "invalid", detail: "scripted", rpcCode })

type Answer = BlockHead | ChainUnavailable

/** A node whose head advances with the clock by one slot every 400 ms, and that answers by a script. */
const scripted = (first: number, script: (slot: number, times: number) => Answer | null = () => null) => {
  const asked: Array<number> = []
  let [inFlight, mostInFlight] = [0, 0]
  const state = { head: first, alive: true, asked, most: () => mostInFlight }
  const source = {
    newest: Effect.suspend(() => (state.alive ? Effect.succeed(state.head) : Effect.fail(down()))),
    list: (_from: number, _limit: number): Effect.Effect<ReadonlyArray<number>, ChainUnavailable> =>
      Effect.fail(coded(-32601)),
    firstAvailable: Effect.succeed(0),
    read: (slot: number) =>
      Effect.gen(function* () {
        const times = asked.filter((one) => one === slot).length
        asked.push(slot)
        inFlight += 1
        mostInFlight = Math.max(mostInFlight, inFlight)
        // Later slots answer sooner, so the order is no coincidence.
        yield* Effect.sleep(Duration.millis(100 - (slot % 10) * 10))
        inFlight -= 1
        const answer = state.alive ? (script(slot, times) ?? blockAt(slot)) : down()
        return yield* answer instanceof ChainUnavailable ? Effect.fail(answer) : Effect.succeed(answer)
      })
  }
  return { state, source }
}

const spelled = (event: BlockEvent<BlockHead>): string =>
  event._tag === "Block" ? String(event.block.slot) : `${event.from}-${event.to} ${event.reason}`

/** The first events. Time passes as fast as it is waited for. */
const firstEvents = (source: BlockSource<BlockHead>, after: number | null, count: number) =>
  Effect.gen(function* () {
    const fiber = yield* followBlocks(source, new BlockProgress(), settings, after).pipe(
      Stream.take(count),
      Stream.runCollect,
      Effect.forkChild
    )
    yield* TestClock.adjust("5 minutes")
    return Array.from(yield* Fiber.join(fiber), spelled)
  })

describe("followBlocks", () => {
  it.effect(
    "emits blocks in order whichever arrives first, with a bounded number of reads, each slot requested once",
    () =>
      Effect.gen(function* () {
        const { source, state } = scripted(120)
        assert.deepStrictEqual(
          yield* firstEvents(source, 100, 20),
          Array.from({ length: 20 }, (_, i) => String(101 + i))
        )
        assert.strictEqual(state.most(), settings.concurrency)
        assert.strictEqual(new Set(state.asked).size, state.asked.length)
      })
  )

  it.effect("begins at the newest slot when nothing is known, then waits for later slots", () =>
    Effect.gen(function* () {
      const { source, state } = scripted(500)
      const emitted: Array<string> = []
      yield* followBlocks(source, new BlockProgress(), settings, null).pipe(
        Stream.runForEach((event) => Effect.sync(() => emitted.push(spelled(event)))),
        Effect.forkChild
      )
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(emitted, ["500"])
      state.head = 502
      yield* TestClock.adjust("2 seconds")
      state.head = 499
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(emitted, ["500", "501", "502"])
    })
  )

  it.effect("leaves out skipped slots, for either error code", () =>
    Effect.gen(function* () {
      const { source } = scripted(110, (slot) =>
        slot === 103 ? coded(-32007) : slot === 104 ? coded(-32009) : slot === 105 ? blockAt(105, 102) : null
      )
      assert.deepStrictEqual(yield* firstEvents(source, 101, 3), ["102", "105", "106"])
    })
  )

  it.effect("reports a slot as missing that the node called skipped, when a block was built on it", () =>
    Effect.gen(function* () {
      const { source } = scripted(110, (slot) =>
        slot === 103 || slot === 104 ? coded(-32007) : slot === 105 ? blockAt(105, 103) : null
      )
      assert.deepStrictEqual(yield* firstEvents(source, 101, 3), ["102", "103-103 missing", "105"])
    })
  )

  it.effect("reports emitted blocks as a gap once they turn out to be of another fork", () =>
    Effect.gen(function* () {
      const { source } = scripted(110)
      // It is known with the third block, which is of the fork too, as is the fourth.
      const answers = [null, null, { from: 101, to: 104 }]
      const forked = () => answers.shift() ?? null
      assert.deepStrictEqual(yield* firstEvents({ ...source, forked }, 100, 5), [
        "101",
        "102",
        "101-104 forked",
        "105",
        "106"
      ])
      assert.isEmpty(answers)
    })
  )

  it.effect(
    "reports a fork that ends with the newest block together with the next block, however late that comes",
    () =>
      Effect.gen(function* () {
        const { source, state } = scripted(103)
        const forks = new Array<SlotRange>()
        const emitted: Array<string> = []
        yield* followBlocks(
          { ...source, forked: () => forks.shift() ?? null },
          new BlockProgress(),
          settings,
          100
        ).pipe(
          Stream.runForEach((event) => Effect.sync(() => emitted.push(spelled(event)))),
          Effect.forkChild
        )
        yield* TestClock.adjust("1 minute")
        forks.push({ from: 102, to: 103 })
        yield* TestClock.adjust("1 minute")
        state.head = 104
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(emitted, ["101", "102", "103", "102-103 forked", "104"])
      })
  )

  it.effect("emits one gap for the slots that the node has cleaned up, and then goes on", () =>
    Effect.gen(function* () {
      const { source } = scripted(120, (slot) => (slot < 110 ? coded(-32001) : null))
      assert.deepStrictEqual(yield* firstEvents(source, 100, 2), ["101-109 cleaned_up", "110"])
    })
  )

  it.effect("catches up with a bounded number of slots, and emits the rest as a gap", () =>
    Effect.gen(function* () {
      const { source } = scripted(1_000)
      const events = yield* firstEvents(source, 100, 3)
      assert.deepStrictEqual(events, ["101-950 behind", "951", "952"])
    })
  )

  it.effect("reports no gap before the first block ever read", () =>
    Effect.gen(function* () {
      const { source } = scripted(1_000, (slot) => (slot < 955 ? coded(-32001) : null))
      assert.deepStrictEqual(yield* firstEvents(source, 0, 2), ["955", "956"])
    })
  )

  it.effect("retries a block that is not there yet, takes too long or is requested too often", () =>
    Effect.gen(function* () {
      const { source, state } = scripted(110, (slot, times) => {
        if (times > 2) {
          return null
        }
        return slot === 102 ? down("timeout") : slot === 103 ? down("rate_limited") : slot === 104 ? down() : null
      })
      assert.deepStrictEqual(yield* firstEvents(source, 101, 4), ["102", "103", "104", "105"])
      assert.strictEqual(state.asked.filter((slot) => slot === 103).length, 4)
    })
  )

  it.effect("waits as long as the node asks before it retries", () =>
    Effect.gen(function* () {
      const resting = new ChainUnavailable({ reason: "rate_limited", detail: "scripted", retryAfterMs: 30_000 })
      const { source, state } = scripted(102, (_, times) => (times === 0 ? resting : null))
      const progress = new BlockProgress()
      const fiber = yield* followBlocks(source, progress, settings, 101).pipe(
        Stream.take(1),
        Stream.runCollect,
        Effect.forkChild
      )
      yield* TestClock.adjust("29 seconds")
      assert.lengthOf(state.asked, 1)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(Array.from(yield* Fiber.join(fiber), spelled), ["102"])
    })
  )

  it.effect("gives up one block while the others arrive, and states the reason", () =>
    Effect.gen(function* () {
      const { source } = scripted(110, (slot) => (slot === 103 ? down("timeout") : slot === 105 ? coded(-32602) : null))
      assert.deepStrictEqual(yield* firstEvents(source, 101, 5), [
        "102",
        "103-103 unavailable",
        "104",
        "105-105 unreadable",
        "106"
      ])
    })
  )

  it.effect("loses nothing while the node is away, however long that is", () =>
    Effect.gen(function* () {
      const { source, state } = scripted(105)
      const progress = new BlockProgress()
      const emitted: Array<string> = []
      yield* followBlocks(source, progress, settings, 101).pipe(
        Stream.runForEach((event) => Effect.sync(() => emitted.push(spelled(event)))),
        Effect.forkChild
      )
      assert.strictEqual(progress.freshness().state, "down")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(emitted, ["102", "103", "104", "105"])
      assert.deepInclude(progress.freshness(), { state: "live", slot: 105 })
      state.alive = false
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(progress.freshness().state, "down")
      state.alive = true
      state.head = 108
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(emitted.slice(4), ["106", "107", "108"])
      assert.strictEqual(progress.freshness().state, "live")
    })
  )

  it.effect("is loading while it is far behind, and requests no more than its reader takes", () =>
    Effect.gen(function* () {
      const { source, state } = scripted(150)
      const progress = new BlockProgress()
      yield* followBlocks(source, progress, settings, 101).pipe(
        Stream.runForEach(() => Effect.sleep("1 minute")),
        Effect.forkChild
      )
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(progress.freshness().state, "loading")
      assert.isAtMost(state.asked.length, 4 * settings.concurrency)
    })
  )
})

/** A node that has a block in every tenth slot and lists them. */
const sparse = (head: number, first = 0) => {
  const lists: Array<number> = []
  const { source, state } = scripted(head, (slot) =>
    slot < first ? coded(-32001) : slot % 10 === 0 ? blockAt(slot, slot - 10) : coded(-32007)
  )
  const list = (from: number, limit: number) =>
    Effect.sync(() => {
      lists.push(from)
      const slots = Array.from({ length: state.head + 1 }, (_, slot) => slot)
      return slots.filter((slot) => slot % 10 === 0 && slot >= Math.max(from, first)).slice(0, limit)
    })
  return { state, lists, source: { ...source, list, firstAvailable: Effect.succeed(first) } }
}
const tens = (from: number, count: number) => Array.from({ length: count }, (_, i) => String(from + 10 * i))

const HOUR = 3_600_000
const timed = (slot: number, blockTimeMs: number) => ({ slot, parentSlot: slot - 1, blockTimeMs })

describe("the progress of reading old blocks", () => {
  it("is the finished part and the time that the rest takes at the pace so far, and ends at the head", () => {
    const progress = new BlockProgress()
    progress.reach(1000)
    progress.emit(timed(1, 0), 10 * HOUR)
    assert.strictEqual(progress.source(10 * HOUR).share, 0)
    assert.isUndefined(progress.source(10 * HOUR).leftMs)
    // Six of ten hours were read in one hour, during which the chain went on by one: five of them count.
    progress.emit(timed(600, 6 * HOUR), 11 * HOUR)
    const { leftMs, reason, share } = progress.source(11 * HOUR)
    assert.deepStrictEqual({ leftMs, reason, share }, { leftMs: HOUR, reason: "backfill_running", share: 0.5 })
    progress.emit(timed(1000, 12 * HOUR), 12 * HOUR)
    assert.notProperty(progress.source(12 * HOUR), "share")
  })
})

describe("followBlocks far behind", () => {
  it.effect("only requests the slots that have a block", () =>
    Effect.gen(function* () {
      const { lists, source, state } = sparse(1_000)
      assert.deepStrictEqual(yield* firstEvents(source, 955, 5), tens(960, 5))
      assert.deepStrictEqual(state.asked, [960, 970, 980, 990, 1_000])
      assert.deepStrictEqual(lists, [956])
    })
  )

  it.effect("requests slot by slot again once it is near the head", () =>
    Effect.gen(function* () {
      const { lists, source, state } = sparse(1_000)
      const emitted: Array<string> = []
      yield* followBlocks(source, new BlockProgress(), settings, 955).pipe(
        Stream.runForEach((event) => Effect.sync(() => emitted.push(spelled(event)))),
        Effect.forkChild
      )
      yield* TestClock.adjust("10 seconds")
      state.head = 1_004
      yield* TestClock.adjust("10 seconds")
      state.head = 1_010
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(emitted, tens(960, 6))
      assert.deepStrictEqual(lists, [956])
      assert.deepStrictEqual(
        state.asked.slice(5),
        Array.from({ length: 10 }, (_, i) => 1_001 + i)
      )
    })
  )

  it.effect("distinguishes skipped slots from slots that the node has cleaned up", () =>
    Effect.gen(function* () {
      const { source } = sparse(1_000, 975)
      assert.deepStrictEqual(yield* firstEvents(source, 955, 3), ["956-974 cleaned_up", "980", "990"])
    })
  )

  it.effect("reports a slot as missing that was on no list, when a block was built on it", () =>
    Effect.gen(function* () {
      const { source } = sparse(1_000)
      const without980 = (from: number, limit: number) =>
        Effect.map(source.list(from, limit), (slots) => slots.filter((slot) => slot !== 980))
      assert.deepStrictEqual(yield* firstEvents({ ...source, list: without980 }, 955, 4), [
        "960",
        "970",
        "971-980 missing",
        "990"
      ])
    })
  )

  it.effect("requests slot by slot when the node lists nothing, or cannot list", () =>
    Effect.gen(function* () {
      for (const list of [() => Effect.succeed([]), () => Effect.fail(down())]) {
        const { source, state } = sparse(1_000)
        assert.deepStrictEqual(yield* firstEvents({ ...source, list }, 955, 5), tens(960, 5))
        assert.lengthOf(state.asked, 45)
      }
    })
  )
})

const gap = (from: number, to: number, reason: "behind" | "cleaned_up") => ({
  _tag: "Gap" as const,
  from,
  to,
  reason
})

describe("eventsOf", () => {
  it("emits no slot twice", () => {
    const emitted = { last: 10, missing: null }
    assert.deepStrictEqual(eventsOf(emitted, { _tag: "Block", block: blockAt(10) }), [emitted, []])
  })

  it("keeps gaps of different reasons apart", () => {
    const [first] = eventsOf({ last: null, missing: null }, gap(1, 5, "behind"))
    const [second, emitted] = eventsOf(first, gap(6, 6, "cleaned_up"))
    const [, last] = eventsOf(second, { _tag: "Block", block: blockAt(7) })
    assert.deepStrictEqual([...emitted, ...last].map(spelled), ["1-5 behind", "6-6 cleaned_up", "7"])
  })
})
