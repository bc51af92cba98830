/** Settings of quotes by execution. */
import { Config, Duration, Option, Schema } from "effect"
import { type Address, addressOf } from "../../domain/Address.ts"
import { executedPrograms, swapDecoders } from "../../programs/registry.ts"
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

const listed = (list: string): ReadonlyArray<string> => list.split(",").flatMap((part) => part.trim() || [])

const ProgramList = Schema.String.check(
  Schema.makeFilter(
    (list) =>
      ["on", "off"].includes(list) ||
      listed(list).every((part) => addressOf(part) !== undefined) ||
      "must be on, off, or addresses of programs with commas between"
  )
)

/** Programs whose swaps are decoded and which nothing here prices. */
const charted = swapDecoders.flatMap(({ programId, quotable }) =>
  quotable === false && !executedPrograms.some((program) => program.programId === programId) ? programId : []
)

/**
 * `LEARN_VENUES` (off): programs whose swaps are learned from real ones, and quoted once that is proven. `on`: those whose
 * swaps are decoded and that nothing here prices.
 */
export const learnVenues: Config.Config<ReadonlyArray<Address>> = Config.schema(ProgramList, "LEARN_VENUES").pipe(
  Config.map((list) =>
    list === "off" ? [] : list === "on" ? charted : listed(list).flatMap((part) => addressOf(part) ?? [])
  ),
  Config.withDefault<ReadonlyArray<Address>>([])
)

/** True when some venues are quoted by executing their programs. */
export const isExecuting: Config.Config<boolean> = Config.map(executeBudget, (budget) => Duration.toMillis(budget) > 0)
