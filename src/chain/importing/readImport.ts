/** Reads blocks to import in a thread of its own, so that megabytes of JSON do not block the event loop. */
import { Cause, Effect, Queue, Stream } from "effect"
import { Worker } from "node:worker_threads"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { ImportedBlock, ImportReply, ImportRequest } from "./importMessages.ts"
import { ImportRefused } from "./importSource.ts"

/** Decoded blocks that the thread may be ahead. */
const AHEAD = 24
const importWorker = new URL("./importWorker.ts", import.meta.url)
/** Limits of the thread's heap. A block is garbage as soon as it is packed. */
const resourceLimits = { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 1024 }

type Failure = ChainUnavailable | ImportRefused

/** Reading the block again would end the same way. */
const tooLarge = new ImportRefused({
  detail: `a block needs more than ${resourceLimits.maxOldGenerationSizeMb} MiB of memory`
})

const failureOf = (reply: Exclude<ImportReply, { readonly _tag: "block" | "end" }>): Failure =>
  reply._tag === "refused"
    ? new ImportRefused({ detail: reply.detail })
    : new ChainUnavailable({
        reason: reply.reason,
        detail: reply.detail,
        ...(reply.retryAfterMs !== undefined && { retryAfterMs: reply.retryAfterMs })
      })

/**
 * The blocks of a range in the order of the chain. Blocks before and after it may come too. Fails as `ChainUnavailable`
 * when the source does not answer now, and as `ImportRefused` when it never will. The thread ends with the stream.
 */
export const readImport = (request: ImportRequest): Stream.Stream<ImportedBlock, Failure> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const queue = yield* Queue.unbounded<ImportedBlock, Failure | Cause.Done>()
      const worker = yield* Effect.acquireRelease(
        Effect.sync(() => new Worker(importWorker, { workerData: request, name: "import", resourceLimits })),
        (started) => Effect.promise(() => started.terminate())
      )
      worker.on("message", (reply: ImportReply) => {
        if (reply._tag === "block") {
          Queue.offerUnsafe(queue, reply.imported)
        } else if (reply._tag === "end") {
          Queue.endUnsafe(queue)
        } else {
          Queue.failCauseUnsafe(queue, Cause.fail(failureOf(reply)))
        }
      })
      const end = (failure: Failure) => Queue.failCauseUnsafe(queue, Cause.fail(failure))
      const ended = () => end(new ChainUnavailable({ reason: "unreachable", detail: "the import thread has ended" }))
      worker.on("error", (error: NodeJS.ErrnoException) =>
        error.code === "ERR_WORKER_OUT_OF_MEMORY" ? end(tooLarge) : ended()
      )
      worker.on("exit", ended)
      worker.postMessage(AHEAD, [])
      return Stream.fromQueue(queue).pipe(
        Stream.rechunk(1),
        Stream.tap(() => Effect.sync(() => worker.postMessage(1, [])))
      )
    })
  )
