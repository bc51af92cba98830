/** Reads blocks in a thread of their own, so that megabytes of JSON do not block the event loop. */
import { Effect, type Scope } from "effect"
import { Worker } from "node:worker_threads"
import type { BlockReply, BlockRequest, BlockWorkerSettings } from "./blockMessages.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"

/** Resumes the fiber that waits for a block. */
type Resume<Message> = (outcome: Effect.Effect<Message, ChainUnavailable>) => void

const stopped = () => new ChainUnavailable({ reason: "unreachable", detail: "the block thread has ended" })

const failureOf = ({
  reason,
  detail,
  rpcCode,
  retryAfterMs
}: Extract<BlockReply<unknown>, { readonly _tag: "failure" }>) =>
  new ChainUnavailable({
    reason,
    detail,
    ...(rpcCode !== undefined && { rpcCode }),
    ...(retryAfterMs !== undefined && { retryAfterMs })
  })

/** Limits of the thread's heap. A block is garbage as soon as it is packed, so little memory is kept for long. */
const resourceLimits = { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 512 }

/** A thread, and the fibers that wait for its replies. */
class BlockThread<Message> {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Resume<Message>>()
  #lastId = 0
  ended = false

  constructor(entry: URL, settings: BlockWorkerSettings) {
    this.#worker = new Worker(entry, { workerData: settings, name: "blocks", resourceLimits })
    this.#worker.on("message", (reply: BlockReply<Message>) => this.#take(reply))
    this.#worker.on("error", () => this.#end())
    this.#worker.on("exit", () => this.#end())
  }

  read(slot: number, node: number): Effect.Effect<Message, ChainUnavailable> {
    return Effect.callback<Message, ChainUnavailable>((resume) => {
      const id = ++this.#lastId
      this.#waiting.set(id, resume)
      this.#post({ _tag: "read", id, slot, node })
      return Effect.sync(() => {
        this.#post({ _tag: "drop", id, slot, node })
        this.#waiting.delete(id)
      })
    })
  }

  stop(): Promise<number> {
    return this.#worker.terminate()
  }

  #post(request: BlockRequest): void {
    // Nothing is transferred; everything is copied.
    this.#worker.postMessage(request, [])
  }

  #take(reply: BlockReply<Message>): void {
    const resume = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    resume?.(reply._tag === "failure" ? Effect.fail(failureOf(reply)) : Effect.succeed(reply.message))
  }

  #end(): void {
    this.ended = true
    for (const resume of this.#waiting.values()) {
      resume(Effect.fail(stopped()))
    }
    this.#waiting.clear()
  }
}

/** Reads packed blocks in a thread that runs the module `entry`. The next read replaces a thread that has ended. */
export const makeBlockReader = Effect.fnUntraced(function* <Message>(
  entry: URL,
  settings: BlockWorkerSettings
): Effect.fn.Return<(slot: number, node: number) => Effect.Effect<Message, ChainUnavailable>, never, Scope.Scope> {
  let thread = new BlockThread<Message>(entry, settings)
  yield* Effect.addFinalizer(() => Effect.promise(() => thread.stop()))
  return (slot, node) =>
    Effect.suspend(() => {
      if (thread.ended) {
        thread = new BlockThread<Message>(entry, settings)
      }
      return thread.read(slot, node)
    })
})
