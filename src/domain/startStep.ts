import { Context, Effect } from "effect"

/** Steps that take longer are logged, unless a display shows them. */
const NOTICE_AFTER = "2 seconds"

/** Shows the steps of a start as they run. */
export interface StartDisplay {
  readonly begin: (message: string) => void
  readonly end: (message: string) => void
  /** Call it when the start is over. */
  readonly finish: () => void
}

/** The display of this start; null where steps are logged instead. */
export const StartDisplay = Context.Reference<StartDisplay | null>("fathom/domain/startStep/StartDisplay", {
  defaultValue: () => null
})

/**
 * Runs a step of the start under a message. The display shows the step while it runs. Without a display, a step that
 * takes more than two seconds is logged once.
 */
export const startStep =
  (message: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(StartDisplay, (display) =>
      display === null
        ? Effect.raceFirst(effect, Effect.andThen(Effect.delay(Effect.logInfo(message), NOTICE_AFTER), Effect.never))
        : Effect.acquireUseRelease(
            Effect.sync(() => display.begin(message)),
            () => effect,
            () => Effect.sync(() => display.end(message))
          )
    )
