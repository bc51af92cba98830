import { Cause, Duration, Effect, Exit, Fiber, Option } from "effect"
import { withinTurns } from "../../domain/loopTime.ts"

/**
 * How long a decision about a caller may take, not counting delays of a busy event loop. After it the request is
 * rejected.
 */
const DECISION_DEADLINE = Duration.millis(400)

type AnyFiber = Fiber.Fiber<unknown, unknown>

/** Passes on values and declared failures. Anything else is logged and becomes `unavailable()`. */
const settle = <A, E, E2>(exit: Exit.Exit<A, E>, unavailable: () => E2): Effect.Effect<A, E | E2> =>
  Exit.isSuccess(exit) || Option.isSome(Cause.findErrorOption(exit.cause))
    ? exit
    : Effect.andThen(Effect.logError("A store failed to decide", exit.cause), Effect.fail(unavailable()))

/** Undoes a decision that arrives too late, or interrupts it when there is no `undo`. */
const abandon = <A, E>(
  decision: Fiber.Fiber<A, E>,
  fiber: AnyFiber,
  undo: ((answer: A) => Effect.Effect<unknown, unknown>) | undefined
): void => {
  if (undo === undefined) {
    return decision.interruptUnsafe(fiber.id)
  }
  decision.addObserver((exit) => {
    if (Exit.isSuccess(exit)) {
      Effect.runForkWith(fiber.context)(Effect.ignore(undo(exit.value)))
    }
  })
}

/**
 * `withDecisionDeadline` for a caller that has its fiber at hand. A decision that is made already, or synchronously, is
 * returned as an `Exit`.
 */
export const withDecisionDeadlineOn = <A, E, E2>(
  fiber: AnyFiber,
  question: Effect.Effect<A, E>,
  unavailable: () => E2,
  undo?: (answer: A) => Effect.Effect<unknown, unknown>
): Effect.Effect<A, E | E2> => {
  if (Exit.isExit(question)) {
    return settle(question as Exit.Exit<A, E>, unavailable)
  }
  const decision = Effect.runForkWith(fiber.context)(question)
  const answered = decision.pollUnsafe()
  if (answered !== undefined) {
    return settle(answered, unavailable)
  }
  const giveUp = Effect.suspend(() => {
    abandon(decision, fiber, undo)
    return Effect.andThen(Effect.logWarning("A store did not decide in time"), Effect.fail(unavailable()))
  })
  return Fiber.await(decision).pipe(
    withinTurns(DECISION_DEADLINE, Effect.succeed(null)),
    Effect.onInterrupt(() => Effect.sync(() => abandon(decision, fiber, undo))),
    Effect.flatMap((exit) => (exit === null ? giveUp : settle(exit, unavailable)))
  )
}

/**
 * Runs a decision of a store with a deadline of 400 ms. Fails with `unavailable()` when the store dies or is too late.
 * A late decision is undone with `undo`, or interrupted without it. A synchronous decision starts no timer.
 */
export const withDecisionDeadline = <A, E, E2>(
  question: Effect.Effect<A, E>,
  unavailable: () => E2,
  undo?: (answer: A) => Effect.Effect<unknown, unknown>
): Effect.Effect<A, E | E2> => Effect.withFiber((fiber) => withDecisionDeadlineOn(fiber, question, unavailable, undo))
