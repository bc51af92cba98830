import { Context, Deferred, Effect, Layer } from "effect"

/** Whether the service is shutting down. */
export class Drain extends Context.Service<
  Drain,
  {
    /** True once shutdown has begun; every response then carries `Connection: close`. */
    readonly begun: () => boolean
    /** Completes when shutdown begins. Open streams then send their last frame and end. */
    readonly wait: Effect.Effect<void>
    /** Begins the shutdown. Idempotent. */
    readonly begin: Effect.Effect<void>
  }
>()("fathom/http/Drain") {
  static readonly layer: Layer.Layer<Drain> = Layer.effect(
    Drain,
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      return Drain.of({
        begun: () => Deferred.isDoneUnsafe(started),
        wait: Deferred.await(started),
        begin: Effect.asVoid(Deferred.succeed(started, undefined))
      })
    })
  )
}
