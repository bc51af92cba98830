/** The retention of minute candles and changes of supply, in every store. */
import { Config, Duration } from "effect"
import { durationSetting } from "../../domain/countSetting.ts"

/** `MINUTE_BARS_KEPT` (90 days). */
export const minuteBarsKept: Config.Config<Duration.Duration> = durationSetting("MINUTE_BARS_KEPT").pipe(
  Config.withDefault(Duration.days(90))
)
