/** Executes proofs in their own thread. Only that thread loads LiteSVM. */
import { Duration, Effect, Layer, Result } from "effect"
import { Worker } from "node:worker_threads"
import type { ProverReady, ProverReply } from "./proofWorker.ts"
import { Prover, type ProofJob, ProofFailed, ProverUnavailable } from "./Prover.ts"

/** Deadline for starting the thread, and for the swaps on one pool. */
const DEADLINE = Duration.minutes(2)
/** Enough for the program and the accounts of one pool. The runtime's own memory does not count here. */
const resourceLimits = { maxOldGenerationSizeMb: 256 }

/**
 * Waits for the next message of a thread. Fails when the thread ends first. When no message arrives in time, ends the
 * thread and fails.
 */
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
    // End the thread: a late message would be mistaken for the answer to the next job.
    return Effect.andThen(Effect.sync(leave), ended(worker))
  }).pipe(
    Effect.timeoutOrElse({
      duration: DEADLINE,
      orElse: () => Effect.fail(failed(`no answer within ${Duration.format(DEADLINE)}`))
    })
  )

const ended = (worker: Worker) => Effect.promise(() => worker.terminate())

const unavailable = (detail: string) => new ProverUnavailable({ detail })

const started = Effect.fnUntraced(function* (entry: URL) {
  const worker = new Worker(entry, { name: "proofs", resourceLimits })
  // Without a listener an error would end the process.
  worker.on("error", () => undefined)
  const ready = yield* nextMessage<ProverReady, ProverUnavailable>(worker, () => undefined, unavailable)
  if (ready.unavailable !== null) {
    yield* ended(worker)
    return yield* unavailable(ready.unavailable)
  }
  return worker
})

/** Keeps a thread until the scope closes. If the thread ends or does not answer, the next job starts another one. */
const open = Effect.fnUntraced(function* (entry: URL) {
  const threads = yield* Effect.acquireRelease(
    Effect.sync((): { current: Worker | null } => ({ current: null })),
    ({ current }) => (current === null ? Effect.void : ended(current))
  )
  const left = (worker: Worker) =>
    Effect.sync(() => {
      threads.current = threads.current === worker ? null : threads.current
    })
  const thread = Effect.suspend(() => {
    const { current } = threads
    if (current !== null) {
      return Effect.succeed(current)
    }
    return Effect.tap(started(entry), (worker) => {
      threads.current = worker
      worker.once("exit", () => void Effect.runSync(left(worker)))
      return Effect.void
    })
  })
  yield* thread

  const prove = Effect.fnUntraced(function* (job: ProofJob) {
    const [took, reply] = yield* Effect.timed(
      Effect.result(
        Effect.flatMap(
          Effect.mapError(thread, ({ detail }) => detail),
          (worker) =>
            nextMessage<ProverReply, string>(
              worker,
              () => worker.postMessage(job, []),
              (detail) => detail
            )
        )
      )
    )
    if (Result.isFailure(reply)) {
      // The thread did not report its processor time. The elapsed time is an upper bound.
      return yield* new ProofFailed({ detail: reply.failure, cpuMs: Duration.toMillis(took) })
    }
    const { success } = reply
    return "failure" in success ? yield* new ProofFailed({ detail: success.failure, cpuMs: success.cpuMs }) : success
  })
  const rest = Effect.suspend(() => {
    const { current } = threads
    return current === null ? Effect.void : Effect.andThen(left(current), ended(current))
  })
  return { prove, rest }
})

/** Runs each session in a thread whose entry is this module. */
export const layerOf = (entry: URL): Layer.Layer<Prover> => Layer.succeed(Prover, Prover.of({ open: open(entry) }))

/** Runs each session in a thread with LiteSVM. */
export const layer: Layer.Layer<Prover> = layerOf(new URL("./proofWorker.ts", import.meta.url))
