/** Reads blocks to import in threads of their own, so that megabytes of JSON do not block the event loop. */
import { Effect, Queue, Stream } from "effect"
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { ImportedBlock, ImportReply, ImportRequest } from "./importMessages.ts"
import { ImportRefused, isAfter } from "./importSource.ts"

/** Decoded blocks that the threads together may be ahead. */
const AHEAD = 24
/** The most threads that decode files. One thread keeps up with a node or a portal. */
const MOST_THREADS = 4
const importWorker = new URL("./importWorker.ts", import.meta.url)
/**
 * Limits of a thread's heap. A block is garbage as soon as it is packed; a young generation that holds it whole saves a
 * fifth of the processor time. The old one has room for the largest block that is read.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 192, maxOldGenerationSizeMb: 1024 }

type Failure = ChainUnavailable | ImportRefused
type Failed = Exclude<ImportReply, { readonly _tag: "block" | "none" | "end" }>

const failureOf = (reply: Failed): Failure =>
  reply._tag === "refused"
    ? new ImportRefused({ detail: reply.detail })
    : new ChainUnavailable({
        reason: reply.reason,
        detail: reply.detail,
        ...(reply.retryAfterMs !== undefined && { retryAfterMs: reply.retryAfterMs })
      })

const ENDED: Failed = {
  _tag: "failure",
  reason: "unreachable",
  detail: "the import thread has ended",
  retryAfterMs: undefined
}

/** Reading the block again would end the same way. */
const TOO_LARGE: Failed = {
  _tag: "refused",
  detail: `a block needs more than ${resourceLimits.maxOldGenerationSizeMb} MiB of memory`
}

/** Starts a thread. Returns an effect that takes its next reply. */
const startThread = Effect.fnUntraced(function* (request: ImportRequest, ahead: number) {
  const replies = yield* Queue.unbounded<ImportReply>()
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => new Worker(importWorker, { workerData: request, name: "import", resourceLimits })),
    (started) => Effect.promise(() => started.terminate())
  )
  worker.on("message", (reply: ImportReply) => Queue.offerUnsafe(replies, reply))
  worker.on("error", (error: NodeJS.ErrnoException) =>
    Queue.offerUnsafe(replies, error.code === "ERR_WORKER_OUT_OF_MEMORY" ? TOO_LARGE : ENDED)
  )
  worker.on("exit", () => Queue.offerUnsafe(replies, ENDED))
  worker.postMessage(ahead, [])
  return Effect.tap(Queue.take(replies), () => Effect.sync(() => worker.postMessage(1, [])))
})

const isBlock = (reply: ImportReply): reply is Extract<ImportReply, { readonly _tag: "block" }> =>
  reply._tag === "block"

/**
 * The blocks of a range in the order of the chain. Blocks before and after it may come too. Fails as `ChainUnavailable`
 * when the source does not answer now, and as `ImportRefused` when it never will. The threads end with the stream.
 *
 * Several threads read the same files, and each decodes every n-th block. They reply in turns, so the order stays.
 */
export const readImport = (
  request: Pick<ImportRequest, "place" | "range">,
  threads = availableParallelism()
): Stream.Stream<ImportedBlock, Failure> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const parts = request.place._tag === "file" ? Math.max(1, Math.min(MOST_THREADS, threads)) : 1
      const started = yield* Effect.forEach(Array.from({ length: parts }).keys(), (part) =>
        startThread({ ...request, share: { part, parts } }, Math.ceil(AHEAD / parts))
      )
      let turn = 0
      const next = Effect.suspend(() => started[turn++ % parts] ?? Effect.never)
      return Stream.fromEffectRepeat(next).pipe(
        // No thread has a later block than the one that first has no more.
        Stream.takeWhile((reply) => reply._tag !== "end"),
        Stream.tap((reply) =>
          reply._tag === "refused" || reply._tag === "failure" ? Effect.fail(failureOf(reply)) : Effect.void
        ),
        Stream.filter(isBlock),
        Stream.map(({ imported }) => imported),
        // Other threads are past the range when the first block after it comes.
        Stream.takeUntil(({ block: { head } }) => isAfter(request.range, head.slot, head.blockTimeMs))
      )
    })
  )
