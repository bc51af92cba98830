import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { AlertStoreUnavailable, TooManyAlerts } from "../../../src/api/schemas/Alert.ts"
import { orWarn, patiently } from "../../../src/simulator/seed/patience.ts"

const attempts = <E extends { readonly _tag: string }>(error: E) => {
  const made = { count: 0 }
  const request = Effect.suspend(() => {
    made.count += 1
    return Effect.fail(error)
  })
  return { made, request: patiently(request) }
}

it.effect("repeats a request to an unavailable store for two minutes, then gives up without failing", () =>
  Effect.gen(function* () {
    const { made, request } = attempts(new AlertStoreUnavailable({ cause: "down" }))
    const fiber = yield* request.pipe(orWarn("given up"), Effect.forkChild)
    yield* TestClock.adjust("3 minutes")
    yield* Fiber.join(fiber)
    assert.strictEqual(made.count, 121)
  })
)

it.effect("does not repeat a request that the store has rejected", () =>
  Effect.gen(function* () {
    const { made, request } = attempts(new TooManyAlerts())
    yield* request.pipe(orWarn("given up"))
    assert.strictEqual(made.count, 1)
  })
)
