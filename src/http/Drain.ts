import { Context, Deferred, Effect, Layer } from "effect"

/** Whether the service is on its way out. */
export class Drain extends Context.Service<
  Drain,
  {
    /** Read on every answer, which then asks the caller to close its connection. */
    readonly begun: () => boolean
    /** Waits for shutdown to begin. Open streams race it, say goodbye and end. */
    readonly wait: Effect.Effect<void>
    /** Begins it, once and for all. */
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
