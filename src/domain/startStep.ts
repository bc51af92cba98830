import { Context, Effect } from "effect"

/** Time after which a step of the start is logged where nothing else shows it. */
const NOTICE_AFTER = "2 seconds"

/** Shows the steps of a start that are under way. */
export interface StartDisplay {
  readonly begin: (message: string) => void
  readonly end: (message: string) => void
  /** The start is over. */
  readonly finish: () => void
}

/** The display of this start; null where steps are logged instead. */
export const StartDisplay = Context.Reference<StartDisplay | null>("fathom/domain/startStep/StartDisplay", {
  defaultValue: () => null
})

/** A step of the start, with its message: on the display while it lasts, or logged once when it takes longer than two seconds. */
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
