/** Settings of quotes by execution. */
import { Config, Duration, Option } from "effect"
import { durationSetting } from "../../domain/countSetting.ts"
import { rpcUrlSetting } from "../../chain/rpc/rpcSettings.ts"

const BESIDE_A_NODE = Duration.millis(200)

/**
 * `EXECUTE_BUDGET` (200 ms beside a node, otherwise 0): how much processor time per second may go into quotes by
 * execution. 0 quotes no venue that way.
 */
export const executeBudget: Config.Config<Duration.Duration> = Config.all({
  budget: Config.option(durationSetting("EXECUTE_BUDGET")),
  node: Config.option(rpcUrlSetting)
}).pipe(
  Config.map(({ budget, node }) =>
    Option.getOrElse(budget, () => (Option.isSome(node) ? BESIDE_A_NODE : Duration.zero))
  )
)

/** True when some venues are quoted by executing their programs. */
export const isExecuting: Config.Config<boolean> = Config.map(executeBudget, (budget) => Duration.toMillis(budget) > 0)
