import { Cause, Duration, Effect, Exit, Fiber, Option } from "effect"

/** Every decision about a caller is made within this time, or not in the caller's favour. */
const PATIENCE = Duration.millis(400)

type AnyFiber = Fiber.Fiber<unknown, unknown>

/** A declared failure is an answer; anything else means that there is none. */
const settle = <A, E, E2>(exit: Exit.Exit<A, E>, unavailable: () => E2): Effect.Effect<A, E | E2> =>
  Exit.isSuccess(exit) || Option.isSome(Cause.findErrorOption(exit.cause))
    ? exit
    : Effect.andThen(Effect.logError("A store failed to decide", exit.cause), Effect.fail(unavailable()))

/** Undoes what is decided too late, or withdraws the question where nothing needs to be undone. */
const letGo = <A, E>(
  asked: Fiber.Fiber<A, E>,
  fiber: AnyFiber,
  undo: ((answer: A) => Effect.Effect<unknown, unknown>) | undefined
): void => {
  if (undo === undefined) {
    return asked.interruptUnsafe(fiber.id)
  }
  asked.addObserver((exit) => {
    if (Exit.isSuccess(exit)) {
      Effect.runForkWith(fiber.context)(Effect.ignore(undo(exit.value)))
    }
  })
}

/** `decide` for a caller that knows its fiber: an answer that is there at once is returned as an `Exit`. */
export const decideOn = <A, E, E2>(
  fiber: AnyFiber,
  question: Effect.Effect<A, E>,
  unavailable: () => E2,
  undo?: (answer: A) => Effect.Effect<unknown, unknown>
): Effect.Effect<A, E | E2> => {
  const asked = Effect.runForkWith(fiber.context)(question)
  const answered = asked.pollUnsafe()
  if (answered !== undefined) {
    return settle(answered, unavailable)
  }
  const giveUp = Effect.suspend(() => {
    letGo(asked, fiber, undo)
    return Effect.andThen(Effect.logWarning("A store did not decide in time"), Effect.fail(unavailable()))
  })
  return Fiber.await(asked).pipe(
    Effect.timeoutOption(PATIENCE),
    Effect.onInterrupt(() => Effect.sync(() => letGo(asked, fiber, undo))),
    Effect.flatMap(Option.match({ onNone: () => giveUp, onSome: (exit) => settle(exit, unavailable) }))
  )
}

/**
 * Asks a store for a decision it owes at once. When it fails in a way it does not declare, or does not answer in time,
 * the decision is `unavailable()`. What it decides too late is undone by `undo`; without one the question is withdrawn.
 * An answer that needs no waiting costs no timer.
 */
export const decide = <A, E, E2>(
  question: Effect.Effect<A, E>,
  unavailable: () => E2,
  undo?: (answer: A) => Effect.Effect<unknown, unknown>
): Effect.Effect<A, E | E2> => Effect.withFiber((fiber) => decideOn(fiber, question, unavailable, undo))
