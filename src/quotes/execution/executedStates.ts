/** How each executed venue is doing. */
import type { ExecutedVenue } from "../../api/schemas/ExecutedVenue.ts"
import type { Executor } from "./Executor.ts"
import type { ExecutedVenue as Venue } from "./executedVenues.ts"
import type { PoolCurves } from "./PoolCurves.ts"

/** Why no swap of a pool was paid; null when one was. */
const errorOf = ({ aToB, bToA }: PoolCurves): string | null =>
  aToB.error === null || bToA.error === null ? null : aToB.error

/** The state of one venue, from the samples of its pools. */
export const executedState = (
  { calls, program: { dex, programId } }: Pick<Venue, "calls" | "program">,
  executor: Pick<Executor["Service"], "peek" | "state">,
  sampled: ReadonlyArray<PoolCurves>
): ExecutedVenue => {
  const { stopped, unavailable } = executor.state()
  const errors = sampled.filter(({ pool }) => pool.program.programId === programId).map(errorOf)
  const pools = errors.filter((error) => error === null).length
  const bytes = [programId, ...calls].map(executor.peek)
  const lacking = bytes.flatMap((one) => (one?._tag === "Failed" ? [one.detail] : []))[0] ?? null
  const detail = unavailable ?? stopped.get(programId) ?? lacking ?? errors.find((error) => error !== null) ?? null
  const [own] = bytes
  const isRefused = unavailable !== null || stopped.has(programId) || lacking !== null
  return {
    dex,
    programId,
    state: isRefused ? "refused" : pools > 0 ? "executed" : errors.length > 0 ? "refused" : "waiting",
    pools,
    refusedPools: errors.length - pools,
    deployedAtSlot: own?._tag === "Loaded" ? own.program.slot : null,
    detail
  }
}
