import { Effect, Schedule } from "effect"

/** Two minutes at least: each attempt at a store that does not answer takes its deadline besides. */
const again = Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 120 }))

/** Repeats a store's request while the store is unavailable; fails like the last attempt. */
export const patiently = <A, E extends { readonly _tag: string }, R>(request: Effect.Effect<A, E, R>) =>
  Effect.retry(request, { schedule: again, while: ({ _tag }) => _tag.endsWith("Unavailable") })

/** Logs a warning in place of failing: demo data is no reason to end. */
export const orWarn =
  (message: string) =>
  <R>(write: Effect.Effect<unknown, unknown, R>): Effect.Effect<void, never, R> =>
    write.pipe(
      Effect.asVoid,
      Effect.catch((error) => Effect.logWarning(message, error))
    )
