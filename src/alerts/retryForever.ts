import { Effect, Schedule } from "effect"
import type { AlertStoreUnavailable } from "../domain/wallets/Alert.ts"
import { noteFailure } from "../health/SourceMonitor.ts"

/** Retries every second, so that a crossing that could not be stored yet is kept. */
export const retryForever = <A>(effect: Effect.Effect<A, AlertStoreUnavailable>): Effect.Effect<A> =>
  effect.pipe(
    Effect.tapError(({ cause }) =>
      Effect.andThen(
        Effect.logWarning("The alert store is unavailable: alerts wait", cause),
        noteFailure("alerts", cause)
      )
    ),
    Effect.retry(Schedule.spaced("1 second")),
    Effect.orDie
  )
