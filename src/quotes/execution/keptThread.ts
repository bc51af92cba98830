/** A thread that answers one job after the other. A thread that ends, or does not answer in time, is started again. */
import { Duration, Effect, type Scope } from "effect"
import { Worker } from "node:worker_threads"

/** First message of a thread: why it cannot work here, or null. */
export interface ThreadReady {
  readonly unavailable: string | null
}

/** Why a thread could not be started. `isLasting` is true when it cannot work on this machine. */
export interface NotStarted {
  readonly detail: string
  readonly isLasting: boolean
}

export interface ThreadSettings {
  /** The module that the thread runs. */
  readonly entry: URL
  readonly name: string
  /** How long the start may take. */
  readonly startDeadline: Duration.Duration
  /** How long each answer may take. */
  readonly deadline: Duration.Duration
  /** Limit of the thread's heap. A runtime's own memory does not count here. */
  readonly heapMb: number
}

export interface KeptThread<Job, Reply> {
  /** Sends a job and waits for its answer. `jobOf` learns whether the thread is new. Fails with the reason. */
  ask(jobOf: (isNew: boolean) => Job): Effect.Effect<Reply, string>
  /** Ends the thread. The next job starts another one. */
  readonly rest: Effect.Effect<void>
}

const ended = (worker: Worker) => Effect.promise(() => worker.terminate())

/** Waits for the next message. Fails when the thread ends first. After the deadline it ends the thread and fails. */
const nextMessage = <A>(worker: Worker, send: () => void, deadline: Duration.Duration): Effect.Effect<A, string> =>
  Effect.callback<A, string>((resume) => {
    const settle = (outcome: Effect.Effect<A, string>): void => {
      leave()
      resume(outcome)
    }
    const onMessage = (message: A): void => settle(Effect.succeed(message))
    const onError = (error: Error): void => settle(Effect.fail(error.message))
    const onExit = (code: number): void => settle(Effect.fail(`the thread ended with ${code}`))
    const leave = (): void => void worker.off("message", onMessage).off("error", onError).off("exit", onExit)
    worker.on("message", onMessage).on("error", onError).on("exit", onExit)
    send()
    // End the thread: a late message would be mistaken for the answer to the next job.
    return Effect.andThen(Effect.sync(leave), ended(worker))
  }).pipe(
    Effect.timeoutOrElse({
      duration: deadline,
      orElse: () => Effect.fail(`no answer within ${Duration.format(deadline)}`)
    })
  )

const started = Effect.fnUntraced(function* ({ entry, heapMb, name, startDeadline }: ThreadSettings) {
  const worker = new Worker(entry, { name, resourceLimits: { maxOldGenerationSizeMb: heapMb } })
  // Without a listener an error would end the process.
  worker.on("error", () => undefined)
  const ready = yield* Effect.mapError(
    nextMessage<ThreadReady>(worker, () => undefined, startDeadline),
    (detail): NotStarted => ({ detail, isLasting: false })
  )
  if (ready.unavailable !== null) {
    yield* ended(worker)
    return yield* Effect.fail<NotStarted>({ detail: ready.unavailable, isLasting: true })
  }
  return worker
})

/** Starts a thread and keeps it until the scope closes. Fails with the reason when it cannot work here. */
export const keptThread = Effect.fnUntraced(function* <Job, Reply>(
  settings: ThreadSettings
): Effect.fn.Return<KeptThread<Job, Reply>, NotStarted, Scope.Scope> {
  const threads = yield* Effect.acquireRelease(
    Effect.sync((): { current: Worker | null; isNew: boolean } => ({ current: null, isNew: true })),
    ({ current }) => (current === null ? Effect.void : ended(current))
  )
  const left = (worker: Worker) => {
    threads.current = threads.current === worker ? null : threads.current
  }
  const thread = Effect.suspend(() =>
    threads.current !== null
      ? Effect.succeed(threads.current)
      : Effect.tap(started(settings), (worker) => {
          threads.current = worker
          threads.isNew = true
          worker.once("exit", () => left(worker))
          return Effect.void
        })
  )
  yield* thread

  return {
    ask: (jobOf) =>
      Effect.flatMap(
        Effect.mapError(thread, ({ detail }) => detail),
        (worker) => {
          const job = jobOf(threads.isNew)
          threads.isNew = false
          return nextMessage<Reply>(worker, () => worker.postMessage(job, []), settings.deadline)
        }
      ),
    rest: Effect.suspend(() => {
      const { current } = threads
      threads.current = null
      return current === null ? Effect.void : ended(current)
    })
  }
})
