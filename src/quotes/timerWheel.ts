/** Lets many streams share timers: one fiber for each slot of a few milliseconds. */
import { Clock, Effect, Fiber, type Scope } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"

/** Due times in the same slot of this many milliseconds share one timer. */
const SLOT_MS = 5
/** The event loop gets a turn after this many actions of a slot. */
const BATCH = 64

export interface TimerWheel {
  /**
   * Runs `action` at `dueMs` or up to 5 ms later. Actions of one slot run in the order they were added. It must not
   * throw.
   */
  readonly at: (dueMs: number, action: () => void) => void
}

/** Makes an empty wheel. Actions that are not due when the scope closes never run. */
export const makeTimerWheel: Effect.Effect<TimerWheel, never, Scope.Scope> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const fork = Effect.runForkWith(yield* Effect.context())
  const slots = new Map<number, Array<() => void>>()

  const fire = Effect.fnUntraced(function* (slot: number) {
    yield* Effect.sleep(Math.ceil(slot * SLOT_MS - monotonicMs(clock)))
    const actions = slots.get(slot) ?? []
    slots.delete(slot)
    for (const [i, action] of actions.entries()) {
      action()
      if (i % BATCH === BATCH - 1) {
        yield* Effect.yieldNow
      }
    }
  })

  return {
    at: (dueMs, action) => {
      const slot = Math.ceil(dueMs / SLOT_MS)
      const actions = slots.get(slot)
      if (actions === undefined) {
        slots.set(slot, [action])
        Fiber.runIn(fork(fire(slot)), scope)
      } else {
        actions.push(action)
      }
    }
  }
})
