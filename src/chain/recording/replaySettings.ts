/** Settings of a replay. */
import { Config, Option, Schema } from "effect"
import { countSetting } from "../../domain/countSetting.ts"

/** `REPLAY` (off): `on` plays a recording instead of following a node. */
export const isReplaying: Config.Config<boolean> = Config.Literals(["on", "off"], "REPLAY").pipe(
  Config.withDefault("off" as const),
  Config.map((value) => value === "on")
)

const Speed = Schema.String.check(
  Schema.makeFilter(
    (text) =>
      text === "max" ||
      text === "step" ||
      (/^\d{1,3}$/u.test(text) && Number(text) >= 1 && Number(text) <= 100) ||
      "must be 1 to 100, max or step"
  )
)

const slotSetting = (name: string) =>
  Config.option(countSetting(name, 0)).pipe(Config.map(Option.filter((slot) => slot > 0)))

/** `REPLAY_FROM` and `REPLAY_TO` (the first and last slot that is known) and `REPLAY_SPEED` (1). */
export const replaySettings = Config.all({
  from: slotSetting("REPLAY_FROM"),
  to: slotSetting("REPLAY_TO"),
  /** `speed`: recorded milliseconds that pass in one; null for as fast as readers take them. */
  pace: Config.schema(Speed, "REPLAY_SPEED").pipe(
    Config.withDefault("1"),
    Config.map((text) => ({
      speed: text === "max" || text === "step" ? null : Number(text),
      isStepping: text === "step"
    }))
  )
})
