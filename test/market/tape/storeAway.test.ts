/** Repairs beside a store that fails for a while. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import type { Repair } from "../../../src/market/model/TradeProgress.ts"
import { answersOf, FIRST, process, repaired, repairing, slots, timeOf } from "./chain.ts"
import { type MarketStores } from "../../../src/market/model/MarketStores.ts"
import { memory, replaced } from "../../support/marketStores.ts"

describe("a process whose store does not answer", () => {
  const gone = Effect.fail(new TradeStoreUnavailable({ cause: new Error("away") }))

  it.effect("reads no missing blocks while it could not store them", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const store = yield* memory
      const state = { isAway: true }
      const repairable = Effect.suspend(() => (state.isAway ? gone : Effect.void))
      const { asked, read, tape } = yield* process(replaced(store, { blocks: { repairable } }))
      yield* read([...slots(FIRST, FIRST + 5), ...slots(FIRST + 20, FIRST + 25)])
      yield* repairing(1)
      assert.isEmpty(asked)
      state.isAway = false
      yield* repaired(tape)
      assert.isNotEmpty(asked)
    })
  )

  /** A store that notes a repair and then fails, as when its database is lost at that moment. */
  const noting = (store: MarketStores) => {
    const state: { isAway: boolean; noted: Repair | null } = { isAway: true, noted: null }
    const repairable = Effect.suspend(() => (state.noted === null ? Effect.void : gone))
    const repair: typeof store.blocks.repair = (given) =>
      Effect.suspend(() => {
        state.noted = state.isAway ? given : null
        return state.isAway ? gone : store.blocks.repair(given)
      })
    const carryOut = Effect.suspend(() => {
      const { noted } = state
      state.noted = null
      state.isAway = false
      return noted === null ? Effect.die(new Error("nothing was repaired")) : Effect.orDie(store.blocks.repair(noted))
    })
    return { carryOut, through: replaced(store, { blocks: { repairable, repair } }) }
  }

  it.effect("gets the blocks of a repair that failed at first and was carried out later", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const { carryOut, through } = noting(yield* memory)
      const { read, tape } = yield* process(through)
      yield* read([...slots(FIRST, FIRST + 5), ...slots(FIRST + 20, FIRST + 25)])
      yield* repairing(1)
      assert.lengthOf(tape.gaps(), 1)
      yield* carryOut
      yield* repairing(1)
      assert.isEmpty(tape.gaps())
      assert.isTrue(tape.readFrom(timeOf(FIRST) / 1000 + 1).complete)
    })
  )

  it.effect("gets the blocks of a repair that is carried out after its snapshot was loaded", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const whole = yield* memory
      const undisturbedLife = yield* process(whole)
      yield* undisturbedLife.read(slots(FIRST, FIRST + 25))
      const expected = yield* answersOf(undisturbedLife.tape, whole)
      yield* undisturbedLife.end
      yield* TestClock.setTime(timeOf(FIRST))
      const settings = { SNAPSHOT_EVERY: "1 minute" }
      const store = yield* memory
      const { carryOut, through } = noting(store)
      const before = yield* process(through, () => null, settings)
      yield* before.read([...slots(FIRST, FIRST + 5), ...slots(FIRST + 20, FIRST + 25)])
      yield* repairing(1)
      yield* before.end
      assert.strictEqual((yield* store.snapshots.newest)?.repairs, 0)
      let isCarriedOut = false
      const since: typeof store.blocks.since = (request) =>
        Stream.unwrap(
          Effect.suspend(() => {
            const first = !isCarriedOut
            isCarriedOut = true
            return Effect.as(first ? carryOut : Effect.void, store.blocks.since(request))
          })
        )
      const { tape } = yield* process(replaced(store, { blocks: { since } }), () => null, settings)
      // The parts of the snapshot are decompressed in threads.
      const isWhole = () => isCarriedOut && tape.gaps().length === 0
      yield* Effect.repeat(TestClock.adjust("1 second"), { until: isWhole, times: 2000 })
      assert.isTrue(isWhole())
      const answers = yield* answersOf(tape, store)
      for (const key of Object.keys(expected) as ReadonlyArray<keyof typeof expected>) {
        assert.deepStrictEqual(answers[key], expected[key], key)
      }
    })
  )

  it.effect("prices and shows new blocks after a start, and gets the swaps before them once the store answers", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(timeOf(FIRST))
      const store = yield* memory
      const before = yield* process(store)
      yield* before.read(slots(FIRST, FIRST + 20))
      yield* before.end
      const state = { isAway: true, answers: 0 }
      const solSwaps: MarketStores["trades"]["solSwaps"] = (slot, most) =>
        Effect.suspend(() =>
          state.isAway ? gone : Effect.tap(store.trades.solSwaps(slot, most), () => Effect.sync(() => state.answers++))
        )
      const { read, tape } = yield* process(replaced(store, { trades: { solSwaps } }))
      yield* read(slots(FIRST + 21, FIRST + 40))
      assert.strictEqual(tape.newestSlot(), FIRST + 40)
      assert.strictEqual(state.answers, 0)
      state.isAway = false
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(state.answers, 1)
    })
  )
})
