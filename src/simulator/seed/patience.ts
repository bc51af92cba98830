import { Effect, Schedule } from "effect"

/** Attempts of at least two minutes. A store that does not answer also uses up its own deadline each time. */
const again = Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 120 }))

/** Repeats a request while its store is unavailable. Finally fails with the last attempt's error. */
export const patiently = <A, E extends { readonly _tag: string }, R>(request: Effect.Effect<A, E, R>) =>
  Effect.retry(request, { schedule: again, while: ({ _tag }) => _tag.endsWith("Unavailable") })

/** Logs a warning instead of failing, because missing demo data must not stop the service. */
export const orWarn =
  (message: string) =>
  <R>(write: Effect.Effect<unknown, unknown, R>): Effect.Effect<void, never, R> =>
    write.pipe(
      Effect.asVoid,
      Effect.catch((error) => Effect.logWarning(message, error))
    )
