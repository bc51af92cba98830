import { Cause, Duration, Effect, Exit, Fiber, Option } from "effect"

/** Every decision about a caller is made within this time, or not in the caller's favour. */
const PATIENCE = Duration.millis(400)

/** A declared failure is an answer; anything else means that there is none. */
const settle = <A, E, E2>(exit: Exit.Exit<A, E>, unavailable: () => E2): Effect.Effect<A, E | E2> =>
  Exit.isSuccess(exit) || Option.isSome(Cause.findErrorOption(exit.cause))
    ? exit
    : Effect.andThen(Effect.logError("A store failed to decide", exit.cause), Effect.fail(unavailable()))

/**
 * Asks a store for a decision it owes at once. When it fails in a way it does not declare, or does not answer in time,
 * the decision is `unavailable()`. What it decides too late is undone by `undo`; without one the question is withdrawn.
 * An answer that needs no waiting costs no timer.
 */
export const decide = <A, E, E2>(
  question: Effect.Effect<A, E>,
  unavailable: () => E2,
  undo?: (answer: A) => Effect.Effect<unknown, unknown>
): Effect.Effect<A, E | E2> =>
  Effect.withFiber((fiber) => {
    const asked = Effect.runForkWith(fiber.context)(question)

    const letGo = () => {
      if (undo === undefined) {
        return asked.interruptUnsafe(fiber.id)
      }
      asked.addObserver((exit) => {
        if (Exit.isSuccess(exit)) {
          Effect.runForkWith(fiber.context)(Effect.ignore(undo(exit.value)))
        }
      })
    }

    const answered = asked.pollUnsafe()
    if (answered !== undefined) {
      return settle(answered, unavailable)
    }
    return Fiber.await(asked).pipe(
      Effect.timeoutOption(PATIENCE),
      Effect.onInterrupt(() => Effect.sync(letGo)),
      Effect.flatMap(
        Option.match({
          onNone: () => {
            letGo()
            return Effect.andThen(Effect.logWarning("A store did not decide in time"), Effect.fail(unavailable()))
          },
          onSome: (exit) => settle(exit, unavailable)
        })
      )
    )
  })
