import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { HeardSlots } from "../../../src/chain/accounts/HeardSlots.ts"
import { movable } from "../../support/clock.ts"

const heard = Effect.gen(function* () {
  const clock = yield* movable
  const slots = new HeardSlots(clock)
  slots.take(1)
  const silentMs = () => clock.currentTimeMillisUnsafe() - (slots.onWallClock(slots.complete.atMs) ?? Number.NaN)
  return { clock, slots, silentMs }
})

describe("the silence of a chain", () => {
  it.effect("goes on while the wall clock is set back", () =>
    Effect.gen(function* () {
      const { clock, silentMs, slots } = yield* heard
      clock.forward(Duration.seconds(4))
      clock.shift(-60_000)
      clock.forward(Duration.seconds(3))
      assert.strictEqual(silentMs(), 7000)
      slots.take(2)
      clock.forward(Duration.seconds(1))
      assert.strictEqual(silentMs(), 1000)
    })
  )

  it.effect("counts the time that the machine slept, which only the wall clock knows", () =>
    Effect.gen(function* () {
      const { clock, silentMs } = yield* heard
      clock.shift(60_000)
      assert.strictEqual(silentMs(), 60_000)
    })
  )
})
