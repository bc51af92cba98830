/** The retention of minute candles and changes of supply, in every store. */
import { Config, Duration } from "effect"
import { durationSetting } from "../../domain/countSetting.ts"
import { levels, type Resolution, widthOf } from "../model/resolutions.ts"

const [, MINUTE = 60, HOUR = 3600] = levels

/** `MINUTE_BARS_KEPT` (90 days). */
export const minuteBarsKept: Config.Config<Duration.Duration> = durationSetting("MINUTE_BARS_KEPT").pipe(
  Config.withDefault(Duration.days(90))
)

/** How many seconds the bars of a resolution are kept: seconds as long as trades, hours and days for good. */
export const keptSecondsOf =
  ({ minutes, trades }: { readonly minutes: Duration.Duration; readonly trades: Duration.Duration }) =>
  (resolution: Resolution): number => {
    const width = widthOf[resolution]
    return Duration.toSeconds(width < MINUTE ? trades : width < HOUR ? minutes : Duration.infinity)
  }
