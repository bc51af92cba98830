/** Entry of the proof thread: executes swaps in LiteSVM and compares them with their quotes. */
import { parentPort } from "node:worker_threads"
import { lowerThreadPriority } from "../../chain/blocks/threadPriority.ts"
import { makeCpuMs } from "./cpuTime.ts"
import type { ThreadReady } from "./keptThread.ts"
import type { PoolOutcome, ProofJob } from "./Prover.ts"
import { obstacle, provePool, seededRandom } from "./provePool.ts"
import { loadRuntime, type Runtime } from "./programRuntime.ts"
import { venues } from "./swapVenues.ts"

/** Answer to a job. */
export type ProverReply = PoolOutcome | { readonly failure: string; readonly cpuMs: number }

const NONE = { executed: 0, exact: 0, refused: 0, wrong: 0, fixture: null }

const serve = (makeRuntime: () => Runtime) => {
  const cpuMs = makeCpuMs()
  let deployed: { readonly sha256: string; readonly runtime: Runtime } | null = null

  const runtimeOf = ({ elf, programId, sha256 }: ProofJob): Runtime => {
    if (deployed?.sha256 !== sha256) {
      const runtime = makeRuntime()
      runtime.deploy(programId, elf)
      deployed = { sha256, runtime }
    }
    return deployed.runtime
  }

  return (job: ProofJob): ProverReply => {
    try {
      const venue = venues.find(({ program }) => program.programId === job.programId)
      if (venue === undefined) {
        return { failure: "it is not a quoted program", cpuMs: cpuMs() }
      }
      const reason = obstacle(venue, job.snapshot)
      if (reason !== null) {
        return { ...NONE, obstacle: reason, cpuMs: cpuMs() }
      }
      const options = { count: job.swaps, random: seededRandom(job.seed) }
      const { tally, wrong } = provePool(runtimeOf(job), venue, job.snapshot, options)
      return {
        executed: tally.exact + tally.refused + tally.wrong,
        exact: tally.exact,
        refused: tally.refused + tally.errorsRefused,
        wrong: tally.wrong + tally.errorsWrong,
        fixture: wrong,
        obstacle: null,
        cpuMs: cpuMs()
      }
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error), cpuMs: cpuMs() }
    }
  }
}

lowerThreadPriority()
const makeRuntime = loadRuntime()
const ready: ThreadReady = { unavailable: typeof makeRuntime === "function" ? null : makeRuntime.reason }
parentPort?.postMessage(ready, [])
if (typeof makeRuntime === "function") {
  const answer = serve(makeRuntime)
  parentPort?.on("message", (job: ProofJob) => parentPort?.postMessage(answer(job), []))
}
