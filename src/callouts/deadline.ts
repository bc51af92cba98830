import { type Duration, Effect, Fiber } from "effect"
import { CalloutStoreUnavailable } from "../domain/Callout.ts"

const late = () => new CalloutStoreUnavailable({ cause: new Error("the database did not answer in time") })

/**
 * Fails when the effect takes longer. It is told to stop, and nobody waits until it has: an interrupted query first
 * hears the server out, and a frozen server says nothing.
 */
export const within: (
  limit: Duration.Input
) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | CalloutStoreUnavailable, R> =
  (limit) => (effect) =>
    Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) =>
      Fiber.join(fiber).pipe(
        Effect.timeoutOrElse({ duration: limit, orElse: () => Effect.fail(late()) }),
        Effect.onExit(() => Effect.sync(() => fiber.interruptUnsafe()))
      )
    )
