import { Config, Duration } from "effect"
import { durationSetting } from "../../domain/countSetting.ts"

/** `STALE_AFTER` (10 s): quotes and prices are stale once the chain has been silent for this long. */
export const staleAfter: Config.Config<Duration.Duration> = durationSetting("STALE_AFTER").pipe(
  Config.withDefault(Duration.seconds(10))
)
