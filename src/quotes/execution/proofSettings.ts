/** Settings of the deployment watch and of proofs. */
import { Config, Duration, Option, Schema } from "effect"
import { durationSetting } from "../../domain/countSetting.ts"
import { rpcUrlSetting } from "../../chain/rpc/rpcSettings.ts"
import { programs } from "../../programs/registry.ts"

const ENTRY = /^(?<dex>[a-z0-9-]+)@(?<slot>\d{1,9})$/u

const entriesOf = (list: string): ReadonlyArray<string> => list.split(",").flatMap((part) => part.trim() || [])

const AcceptedList = Schema.String.check(
  Schema.makeFilter(
    (list) =>
      entriesOf(list).every((entry) => {
        const dex = ENTRY.exec(entry)?.groups?.["dex"]
        return programs.some((program) => program.dex === dex)
      }) || "must be venues with the slot of a deployment, such as meteora-dlmm@312345678, with commas between"
  )
)

/** `PROGRAMS_ACCEPTED`: deployment slots that the operator accepts without a proof, by venue. */
export const accepted: Config.Config<ReadonlyMap<string, number>> = Config.schema(
  AcceptedList,
  "PROGRAMS_ACCEPTED"
).pipe(
  Config.map((list) => new Map(entriesOf(list).map((entry) => entry.split("@") as [string, string]))),
  Config.map((slots) => new Map(Array.from(slots, ([dex, slot]) => [dex, Number(slot)]))),
  Config.withDefault(new Map<string, number>())
)

/** `PROGRAM_REFRESH` (60 s, at least 1 s): how often the deployments are read. */
export const refresh: Config.Config<Duration.Duration> = durationSetting("PROGRAM_REFRESH").pipe(
  Config.withDefault(Duration.seconds(60)),
  Config.map((interval) => Duration.max(interval, Duration.seconds(1)))
)

const POLICIES = ["warn", "wrong", "changed", "proven"] as const

/** Which venues are not quoted. See `PROVE_POLICY`. */
export type Policy = (typeof POLICIES)[number]

/**
 * `PROVE_POLICY` (wrong): which venues are left out of quotes. `wrong`: those whose executed swaps differed from their
 * quotes. `changed`: also those whose program was upgraded and is not proven since. `proven`: all that are not proven.
 * `warn`: none; a wrong venue is only shown as wrong.
 */
export const policy: Config.Config<Policy> = Config.Literals(POLICIES, "PROVE_POLICY").pipe(
  Config.withDefault("wrong" as const)
)

/** `PROVE_BUDGET` (60 s): how much processor time proofs may use per hour. */
export const budget: Config.Config<Duration.Duration> = durationSetting("PROVE_BUDGET").pipe(
  Config.withDefault(Duration.seconds(60))
)

/**
 * `PROVE` (on beside a node, otherwise off): whether deployments are proven in the background. A `PROVE_BUDGET` of 0
 * also turns it off.
 */
export const isProving: Config.Config<boolean> = Config.all({
  setting: Config.option(Config.Literals(["on", "off"], "PROVE")),
  node: Config.option(rpcUrlSetting),
  budget
}).pipe(
  Config.map(({ budget, node, setting }) => {
    const isOn = Option.isSome(setting) ? setting.value === "on" : Option.isSome(node)
    return isOn && Duration.toMillis(budget) > 0
  })
)
