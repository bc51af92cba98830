import { Config, Duration } from "effect"

/** `STALE_AFTER` (10 s): quotes and prices are stale once the chain has been silent for this long. */
export const staleAfter: Config.Config<Duration.Duration> = Config.Duration("STALE_AFTER").pipe(
  Config.withDefault(Duration.seconds(10))
)
