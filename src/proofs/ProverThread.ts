/** Executes proofs in a thread of their own, with LiteSVM, which only that thread loads. */
import { Duration, Effect, Layer } from "effect"
import { Worker } from "node:worker_threads"
import type { ProverReady, ProverReply } from "./execution/proofWorker.ts"
import { Prover, type ProofJob, ProofFailed, ProverUnavailable } from "./Prover.ts"

/** Time for the start of the thread, and for the swaps on one pool. */
const DEADLINE = Duration.minutes(2)
/** The accounts of one pool and the program; the runtime's own memory is outside of it. */
const resourceLimits = { maxOldGenerationSizeMb: 256 }

const entry = new URL("./execution/proofWorker.ts", import.meta.url)

/** The next message of the thread. Fails when it ends before, or sends none in time. */
const nextMessage = <A, E>(worker: Worker, send: () => void, failed: (detail: string) => E): Effect.Effect<A, E> =>
  Effect.callback<A, E>((resume) => {
    const settle = (outcome: Effect.Effect<A, E>): void => {
      leave()
      resume(outcome)
    }
    const onMessage = (message: A): void => settle(Effect.succeed(message))
    const onError = (error: Error): void => settle(Effect.fail(failed(error.message)))
    const onExit = (code: number): void => settle(Effect.fail(failed(`the thread ended with ${code}`)))
    const leave = (): void => void worker.off("message", onMessage).off("error", onError).off("exit", onExit)
    worker.on("message", onMessage).on("error", onError).on("exit", onExit)
    send()
    return Effect.sync(leave)
  }).pipe(
    Effect.timeoutOrElse({
      duration: DEADLINE,
      orElse: () => Effect.fail(failed(`no answer within ${Duration.format(DEADLINE)}`))
    })
  )

const unavailable = (detail: string) => new ProverUnavailable({ detail })

const open = Effect.gen(function* () {
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => new Worker(entry, { name: "proofs", resourceLimits })),
    (thread) => Effect.promise(() => thread.terminate())
  )
  // An error without a listener would end the process.
  worker.on("error", () => undefined)
  const ready = yield* nextMessage<ProverReady, ProverUnavailable>(worker, () => undefined, unavailable)
  if (ready.unavailable !== null) {
    return yield* unavailable(ready.unavailable)
  }
  return {
    prove: (job: ProofJob) =>
      Effect.flatMap(
        nextMessage<ProverReply, ProofFailed>(
          worker,
          () => worker.postMessage(job, []),
          (detail) => new ProofFailed({ detail })
        ),
        (reply) =>
          "failure" in reply
            ? Effect.fail(new ProofFailed({ detail: reply.failure, cpuMs: reply.cpuMs }))
            : Effect.succeed(reply)
      )
  }
})

/** A thread for each session. */
export const layer: Layer.Layer<Prover> = Layer.succeed(Prover, Prover.of({ open }))
