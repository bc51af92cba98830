import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import { seededRandom } from "../tape/tape.ts"
import { answersOf, failing, FIRST, process, slots, timeOf } from "./chain.ts"

const memory = Effect.map(Layer.build(Layer.fresh(TradeStore.layerMemory)), (context) =>
  Context.get(context, TradeStore)
)

const LAST = FIRST + 900

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

/** Lets repairs run; blocks go on to come. */
const repairing = (minutes: number) => Effect.repeat(TestClock.adjust("2 seconds"), { times: 30 * minutes })

describe("a process that missed blocks", () => {
  it.effect("has every answer of one that missed none, once they were read again", () =>
    Effect.gen(function* () {
      const expected = yield* undisturbed
      yield* TestClock.setTime(timeOf(FIRST))
      const store = yield* memory
      const roll = seededRandom(3)
      const lost = new Set(slots(FIRST + 2, LAST - 1).filter(() => roll() < 0.05))
      slots(FIRST + 120, FIRST + 130).forEach((slot) => lost.add(slot))
      const faults = failing(3)
      let at = FIRST
      for (const stop of [150, 15, 60]) {
        const { end, read } = yield* process(store, faults)
        yield* read(slots(at, at + 150).filter((slot) => !lost.has(slot)))
        yield* end
        at += 151 + stop
      }
      const { read, tape } = yield* process(store, faults)
      yield* read(slots(at, LAST).filter((slot) => !lost.has(slot)))
      const isSeen = tape.readFrom(timeOf(FIRST) / 1000 + 1)
      assert.strictEqual(isSeen.reason, "source_gap")
      assert.isAbove(isSeen.share ?? 0, 0.5)
      yield* repairing(10)
      assert.deepStrictEqual(tape.gaps(), [])
      assert.strictEqual(tape.readFrom(timeOf(FIRST) / 1000 + 1).reason, null)
      const answers = yield* answersOf(tape, store)
      for (const key of Object.keys(expected) as ReadonlyArray<keyof typeof expected>) {
        assert.deepStrictEqual(answers[key], expected[key], key)
      }
    })
  )
})
