import { Effect } from "effect"

/** Time after which a step of the start is logged. */
const NOTICE_AFTER = "2 seconds"

/** Logs the message once when the effect takes longer than two seconds, and gives its result. */
export const slowNotice =
  (message: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.raceFirst(effect, Effect.andThen(Effect.delay(Effect.logInfo(message), NOTICE_AFTER), Effect.never))
