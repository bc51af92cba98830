/** Lets many streams share timers: one fiber for each stretch of time. */
import { Clock, Effect, Fiber, type Scope } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"

/** Times within this many milliseconds share one timer. */
const SLOT_MS = 5
/** After this many actions of a slot the event loop gets a turn. */
const BATCH = 64

export interface TimerWheel {
  /**
   * Runs `action` at `dueMs` or up to 5 ms later. Actions of one slot run in the order they were added. It must not
   * throw.
   */
  readonly at: (dueMs: number, action: () => void) => void
}

/** A wheel without actions. Actions that are not due when the scope closes never run. */
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
