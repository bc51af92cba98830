/** Executes proofs in their own thread. Only that thread loads LiteSVM. */
import { Duration, Effect, Layer, Result } from "effect"
import { keptThread } from "./keptThread.ts"
import type { ProverReply } from "./proofWorker.ts"
import { Prover, type ProofJob, ProofFailed, ProverUnavailable } from "./Prover.ts"

/** Deadline for starting the thread, and for the swaps on one pool. */
const DEADLINE = Duration.minutes(2)
/** Enough for the program and the accounts of one pool. */
const HEAP_MB = 256

const open = Effect.fnUntraced(function* (entry: URL) {
  const settings = { entry, name: "proofs", startDeadline: DEADLINE, deadline: DEADLINE, heapMb: HEAP_MB }
  const { ask, rest } = yield* Effect.mapError(
    keptThread<ProofJob, ProverReply>(settings),
    ({ detail }) => new ProverUnavailable({ detail })
  )
  const prove = Effect.fnUntraced(function* (job: ProofJob) {
    const [took, reply] = yield* Effect.timed(Effect.result(ask(() => job)))
    if (Result.isFailure(reply)) {
      // The thread did not report its processor time. The elapsed time is an upper bound.
      return yield* new ProofFailed({ detail: reply.failure, cpuMs: Duration.toMillis(took) })
    }
    const { success } = reply
    return "failure" in success ? yield* new ProofFailed({ detail: success.failure, cpuMs: success.cpuMs }) : success
  })
  return { prove, rest }
})

/** Runs each session in a thread whose entry is this module. */
export const layerOf = (entry: URL): Layer.Layer<Prover> => Layer.succeed(Prover, Prover.of({ open: open(entry) }))

/** Runs each session in a thread with LiteSVM. */
export const layer: Layer.Layer<Prover> = layerOf(new URL("./proofWorker.ts", import.meta.url))
