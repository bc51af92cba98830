import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import { batchLimitsOf, WalletBatch } from "../../src/access/WalletBatch.ts"

const usual = batchLimitsOf(DEFAULT_PLAN)

const once = (batch: WalletBatch["Service"], caller = "a") => Effect.scoped(batch.enter(caller, usual))

/** Limits of any layer, which is built for each test and begins empty. */
export const walletBatchContract = <E>(name: string, layer: Layer.Layer<WalletBatch, E>) => {
  const withBatch = <A, E2>(use: (batch: WalletBatch["Service"]) => Effect.Effect<A, E2, Scope.Scope>) =>
    WalletBatch.use(use).pipe(Effect.scoped, Effect.provide(layer))

  describe(`${name}`, () => {
    it.effect("lets a caller run two at the same time, and others two of their own", () =>
      withBatch((batch) =>
        Effect.gen(function* () {
          const first = yield* Scope.make()
          yield* Scope.provide(batch.enter("a", usual), first)
          yield* batch.enter("a", usual)
          assert.deepInclude(yield* Effect.flip(once(batch)), { limit: "concurrent", retryAfterMs: null })
          yield* once(batch, "b")
          yield* Scope.close(first, yield* Effect.exit(Effect.void))
          yield* once(batch)
        })
      )
    )

    it.effect("lets a caller start sixty in any minute, and gives the time when the next one fits", () =>
      withBatch((batch) =>
        Effect.gen(function* () {
          yield* once(batch)
          yield* TestClock.adjust(10_000)
          yield* Effect.repeat(once(batch), { times: 58 })
          assert.deepInclude(yield* Effect.flip(once(batch)), { limit: "starts", retryAfterMs: 50_000 })
          yield* once(batch, "b")
          yield* TestClock.adjust(50_000)
          yield* once(batch)
          assert.deepInclude(yield* Effect.flip(once(batch)), { limit: "starts", retryAfterMs: 10_000 })
        })
      )
    )

    it.effect("lets the callers of a larger plan run and start more", () =>
      withBatch((batch) =>
        Effect.gen(function* () {
          const large = batchLimitsOf({ rest: 20_000, windowSeconds: 60 })
          assert.deepStrictEqual(large, { concurrent: 16, starts: 10_000 })
          const running = yield* Scope.make()
          yield* Scope.provide(Effect.repeat(batch.enter("a", large), { times: 15 }), running)
          assert.deepInclude(yield* Effect.flip(Effect.scoped(batch.enter("a", large))), { limit: "concurrent" })
          yield* Scope.close(running, yield* Effect.exit(Effect.void))
          yield* Effect.repeat(Effect.scoped(batch.enter("a", large)), { times: 60 })
          assert.deepInclude(yield* Effect.flip(once(batch)), { limit: "starts" })
        })
      )
    )

    it.effect("counts no start for a caller that is refused", () =>
      withBatch((batch) =>
        Effect.gen(function* () {
          const running = yield* Scope.make()
          yield* Scope.provide(Effect.andThen(batch.enter("a", usual), batch.enter("a", usual)), running)
          yield* Effect.repeat(Effect.flip(once(batch)), { times: 99 })
          yield* Scope.close(running, yield* Effect.exit(Effect.void))
          yield* Effect.repeat(once(batch), { times: 57 })
          assert.deepInclude(yield* Effect.flip(once(batch)), { limit: "starts" })
        })
      )
    )

    it.effect("gives a place back when its work fails or is interrupted", () =>
      withBatch((batch) =>
        Effect.gen(function* () {
          yield* Effect.repeat(
            Effect.exit(Effect.scoped(Effect.andThen(batch.enter("a", usual), Effect.die(new Error("a bug"))))),
            { times: 4 }
          )
          const interrupted = Effect.gen(function* () {
            const held = Effect.scoped(Effect.andThen(batch.enter("a", usual), Effect.never))
            const fiber = yield* Effect.forkChild(Effect.timeoutOption(held, 0), { startImmediately: true })
            yield* TestClock.adjust(1)
            yield* Fiber.join(fiber)
          })
          yield* Effect.repeat(interrupted, { times: 4 })
          yield* once(batch)
        })
      )
    )
  })
}
