import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { BAR, REVISION } from "../../src/market/model/bar.ts"
import type { Market } from "../../src/market/tape/Market.ts"
import { secondsOf } from "../../src/market/model/windows.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { layerPg, memory, storesOf } from "../support/marketStores.ts"
import { seededRandom } from "../market/tape/tape.ts"
import { bareViews } from "../market/reads/bareViews.ts"
import { answersOf, failing, FIRST, process, repaired, repairing, slots, timeOf } from "../market/tape/chain.ts"

const LAST = FIRST + 560

/** The answers of a process that read every block in order. */
const undisturbed = Effect.gen(function* () {
  yield* TestClock.setTime(timeOf(FIRST))
  const store = yield* memory
  const { end, read, tape } = yield* process(store)
  yield* read(slots(FIRST, LAST))
  const answers = yield* answersOf(tape, store)
  yield* end
  return answers
})

/** A node that only has the blocks from a slot on. */
const pruned = (slot: number) => (slot < FIRST + 60 ? ("cleaned_up" as const) : null)

describe("a process that missed blocks", () => {
  it.effect("has every answer of a process that missed none, once they were read again", () =>
    Effect.gen(function* () {
      const expected = yield* undisturbed
      yield* TestClock.setTime(timeOf(FIRST))
      const store = yield* memory
      const roll = seededRandom(3)
      const lost = new Set(slots(FIRST + 2, LAST - 1).filter(() => roll() < 0.05))
      // A stretch of truncated answers.
      slots(FIRST + 50, FIRST + 60).forEach((slot) => lost.add(slot))
      const faults = failing(3)
      let at = FIRST
      for (const stop of [75, 15, 150]) {
        const { end, read } = yield* process(store, faults)
        yield* read(slots(at, at + 80).filter((slot) => !lost.has(slot)))
        yield* end
        at += 81 + stop
      }
      // So slow that the last stop is still being read again when the newest block arrives.
      const { read, tape } = yield* process(store, faults, { REPAIR_RATE: "1" })
      yield* read(slots(at, LAST).filter((slot) => !lost.has(slot)))
      const isSeen = tape.readFrom(timeOf(FIRST) / 1000 + 1)
      assert.strictEqual(isSeen.reason, "source_gap")
      assert.isAbove(isSeen.share ?? 0, 0.5)
      // Meanwhile every window has a value as long as more than half of it was seen.
      const shares: Array<number> = []
      yield* repaired(tape, () => {
        const { complete, share = 0 } = tape.readFrom(timeOf(FIRST) / 1000 + 1)
        shares.push(complete ? 1 : share)
      })
      assert.isAbove(Math.min(...shares), 0.5)
      assert.strictEqual(shares.at(-1), 1)
      assert.deepStrictEqual(tape.gaps(), [])
      assert.strictEqual(tape.readFrom(timeOf(FIRST) / 1000 + 1).reason, null)
      const answers = yield* answersOf(tape, store)
      for (const key of Object.keys(expected) as ReadonlyArray<keyof typeof expected>) {
        assert.deepStrictEqual(answers[key], expected[key], key)
      }
    })
  )

  it.effect("loses and doubles nothing when it stops while it reads blocks again", () =>
    Effect.gen(function* () {
      const expected = yield* undisturbed
      yield* TestClock.setTime(timeOf(FIRST))
      const store = yield* memory
      const settings = { HISTORY: "2 hours", REPAIR_RATE: "1" }
      const first = yield* process(store, failing(2), settings)
      yield* first.read(slots(FIRST + 300, FIRST + 302))
      yield* first.end
      let unfinished = { gaps: 0, history: 0 }
      for (let life = 0; life < 8; life++) {
        const { end, read } = yield* process(store, failing(2), settings)
        yield* read([FIRST + 500 + life])
        yield* Effect.repeat(TestClock.adjust("1 second"), { times: 6 })
        yield* end
        const progress = yield* store.blocks.progress
        unfinished = {
          gaps: unfinished.gaps + Math.sign(progress?.gaps.length ?? 0),
          history: unfinished.history + ((progress?.readFrom ?? 0) > timeOf(FIRST + 10) / 1000 ? 1 : 0)
        }
      }
      assert.deepStrictEqual(unfinished, { gaps: 8, history: 8 })
      const { read, tape } = yield* process(store, (slot) => (slot < FIRST ? "cleaned_up" : null), {
        ...settings,
        REPAIR_RATE: "10"
      })
      yield* read(slots(FIRST + 510, LAST))
      yield* repaired(tape)
      assert.deepStrictEqual(tape.gaps(), [])
      assert.isTrue(tape.readFrom(timeOf(FIRST) / 1000 + 1).complete)
      const answers = yield* answersOf(tape, store)
      for (const key of Object.keys(expected) as ReadonlyArray<keyof typeof expected>) {
        assert.deepStrictEqual(answers[key], expected[key], key)
      }
    })
  )

  it.effect("meanwhile shows every window of an hour or more of which half was seen", () =>
    Effect.gen(function* () {
      // A day and an hour, in blocks of seven and a half minutes.
      const [pace, last] = [450, FIRST + 200]
      yield* TestClock.setTime(timeOf(FIRST, pace))
      const store = yield* memory
      const roll = seededRandom(5)
      const lost = new Set(slots(FIRST + 2, last).filter(() => roll() < 0.05))
      slots(FIRST + 80, FIRST + 81).forEach((slot) => lost.add(slot))
      const seen = { "1h": 0, "6h": 0, "24h": 0 }
      const missing: Array<string> = []
      const look = Effect.fnUntraced(function* (tape: Market["Service"], { views }: ReturnType<typeof bareViews>) {
        const nowMs = yield* Clock.currentTimeMillis
        for (const window of ["1h", "6h", "24h"] as const) {
          const begun = (nowMs - timeOf(FIRST, pace)) / 1000
          const { data, coverage } = views.overview(window, nowMs)
          if (begun >= 0.55 * secondsOf(window) && !tape.isRestoring()) {
            seen[window] += coverage.complete ? 0 : 1
            if (data.activity.trades.value === null || data.breadth.advancing.value === null) {
              missing.push(`${window} after ${begun} s: ${coverage.reason}`)
            }
          }
        }
      })
      let at = FIRST
      // A stop is one slot, as long as the longest stop of a service that is deployed again.
      for (const until of [FIRST + 50, FIRST + 100, FIRST + 150, last]) {
        const { end, read, tape } = yield* process(store, failing(3), { REPAIR_RATE: "1" }, Effect.void, pace)
        const seenBy = bareViews(tape)
        for (const slot of slots(at, until).filter((each) => !lost.has(each))) {
          yield* read([slot])
          yield* look(tape, seenBy)
          yield* Effect.repeat(Effect.andThen(TestClock.adjust("5 seconds"), look(tape, seenBy)), { times: 2 })
        }
        yield* end
        at = until + 2
      }
      assert.deepStrictEqual(missing, [])
      // Every window missed blocks at some time.
      assert.isAbove(Math.min(...Object.values(seen)), 10)
    })
  )

  it.effect("gives up blocks that the node no longer has, and keeps what it has of the others", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const store = yield* memory
      const { asked, read, tape } = yield* process(store, pruned, { HISTORY: "1 hour" })
      yield* read(slots(FIRST, FIRST + 20))
      yield* read(slots(FIRST + 100, FIRST + 110))
      yield* repairing(3)
      assert.lengthOf(tape.gaps(), 1)
      assert.deepInclude(tape.gaps()[0], { state: "unavailable", fromSlot: FIRST + 21, toSlot: FIRST + 59 })
      assert.isTrue(tape.readFrom(timeOf(FIRST + 60) / 1000 + 1).complete)
      const before = asked.length
      yield* repairing(3)
      assert.strictEqual(asked.length, before)
    })
  )

  it.effect("closes a gap when the node has none of its blocks", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const { read, tape } = yield* process(yield* memory, (slot) => (slot < FIRST + 102 ? "cleaned_up" : null))
      yield* read(slots(FIRST, FIRST + 20))
      yield* read(slots(FIRST + 102, FIRST + 110))
      yield* repairing(3)
      assert.deepStrictEqual(
        tape.gaps().map(({ fromSlot, state, toSlot }) => [fromSlot, toSlot, state]),
        [[FIRST + 21, FIRST + 101, "unavailable"]]
      )
    })
  )
})

const without = (cells: Float64Array) => cells.map((value, at) => (at % BAR === REVISION ? 0 : value))

/** Answers without revisions of candles, because the revisions of repaired candles differ. */
const unrevised = ({ bars, stored, ...answers }: Effect.Success<ReturnType<typeof answersOf>>) => {
  return {
    ...answers,
    bars: bars.map((each) => each.map((page) => page?.bars.map((bar) => ({ ...bar, revision: 0 })))),
    stored: stored.map((each) => each.map((found) => ({ ...found, cells: without(found.cells) })))
  }
}

describe.runIf(TestDatabase.isAvailable)("a process on a database", () => {
  it.effect(
    "has the answers of a process that missed nothing, including trades after the missing blocks",
    () =>
      Effect.gen(function* () {
        const pause = TestClock.withLive(Effect.sleep("15 millis"))
        const end = FIRST + 110
        const fails = failing(2)
        const faults = (slot: number) => (slot < FIRST ? "cleaned_up" : fails(slot))
        const answers = Effect.fnUntraced(function* (parts: ReadonlyArray<ReadonlyArray<number>>) {
          yield* TestClock.setTime(timeOf(FIRST))
          const store = yield* storesOf(layerPg)
          for (const [life, part] of parts.entries()) {
            const { end: stop, read, tape } = yield* process(store, faults, { HISTORY: "1 hour" }, pause)
            yield* read(part)
            if (life === parts.length - 1) {
              const step = Effect.andThen(TestClock.adjust("500 millis"), pause)
              yield* Effect.repeat(step, {
                until: () => tape.gaps().length === 0 && tape.firstRead() * 1000 <= timeOf(FIRST) + 1000,
                times: 2000
              })
              // The last candles are closed.
              yield* Effect.repeat(step, { times: 20 })
              const found = unrevised(yield* answersOf(tape, store))
              yield* stop
              return found
            }
            yield* stop
          }
          return yield* Effect.die(new Error("no process"))
        }, Effect.scoped)
        const expected = yield* answers([slots(FIRST, end)])
        const found = yield* answers([slots(FIRST + 40, FIRST + 50), slots(FIRST + 80, end)])
        for (const key of Object.keys(expected) as ReadonlyArray<keyof typeof expected>) {
          assert.deepStrictEqual(found[key], expected[key], key)
        }
      }),
    120_000
  )
})
