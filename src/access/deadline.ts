import { type Duration, Effect, Fiber } from "effect"
import { KeyStoreUnavailable } from "../domain/ApiKey.ts"

/**
 * Fails when the effect takes longer. It is told to stop, and nobody waits until it has: an interrupted query first
 * hears the server out, and a frozen server says nothing.
 */
export const within: (
  limit: Duration.Input
) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | KeyStoreUnavailable, R> = (limit) => (effect) =>
  Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) =>
    Fiber.join(fiber).pipe(
      Effect.timeoutOrElse({
        duration: limit,
        orElse: () => Effect.fail(new KeyStoreUnavailable({ cause: new Error("the database did not answer in time") }))
      }),
      Effect.onExit(() => Effect.sync(() => fiber.interruptUnsafe()))
    )
  )
