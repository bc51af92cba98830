/** Reads blocks in a thread of their own, so that megabytes of JSON delay nobody. */
import { Effect, type Scope } from "effect"
import { Worker } from "node:worker_threads"
import type { BlockTransaction, DecodedBlock } from "./BlockFeed.ts"
import type { BlockReply, BlockRequest, BlockWorkerSettings } from "./blockMessages.ts"
import { ChainUnavailable } from "./ChainFeed.ts"

/** Someone who waits for a block, and what has come of it. */
interface Waiting {
  readonly slot: number
  isReady: boolean
  readonly transactions: Array<BlockTransaction>
  readonly resume: (outcome: Effect.Effect<DecodedBlock, ChainUnavailable>) => void
}

const stopped = () => new ChainUnavailable({ reason: "unreachable", detail: "the thread that reads blocks has ended" })

const failureOf = ({ reason, detail, rpcCode, retryAfterMs }: Extract<BlockReply, { readonly _tag: "failure" }>) =>
  new ChainUnavailable({
    reason,
    detail,
    ...(rpcCode !== undefined && { rpcCode }),
    ...(retryAfterMs !== undefined && { retryAfterMs })
  })

/**
 * A thread with those who wait for it. Blocks are taken in one at a time, that of the lowest slot first: the others lie
 * in the thread until their turn, where they burden nobody's memory.
 */
class BlockThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #taking: number | null = null
  ended = false

  constructor(entry: URL, settings: BlockWorkerSettings) {
    this.#worker = new Worker(entry, { workerData: settings, name: "blocks" })
    this.#worker.on("message", (reply: BlockReply) => this.#take(reply))
    this.#worker.on("error", () => this.#end())
    this.#worker.on("exit", () => this.#end())
  }

  read(slot: number): Effect.Effect<DecodedBlock, ChainUnavailable> {
    return Effect.callback<DecodedBlock, ChainUnavailable>((resume) => {
      const id = ++this.#lastId
      this.#waiting.set(id, { slot, isReady: false, transactions: [], resume })
      this.#post({ _tag: "read", id, slot })
      return Effect.sync(() => {
        this.#post({ _tag: "drop", id, slot })
        this.#leave(id)
      })
    })
  }

  stop(): Promise<number> {
    return this.#worker.terminate()
  }

  #post(request: BlockRequest): void {
    // Nothing is transferred: everything is copied.
    this.#worker.postMessage(request, [])
  }

  #take(reply: BlockReply): void {
    const waiting = this.#waiting.get(reply.id)
    if (waiting === undefined) {
      return
    }
    switch (reply._tag) {
      case "ready":
        waiting.isReady = true
        return this.#takeLowest()
      case "failure":
        waiting.resume(Effect.fail(failureOf(reply)))
        return this.#leave(reply.id)
      case "part":
        waiting.transactions.push(...reply.transactions)
        if (!reply.isLast) {
          // Asked for one by one: between two parts others have their turn.
          return this.#post({ _tag: "more", id: reply.id, slot: waiting.slot })
        }
        waiting.resume(Effect.succeed({ ...reply.head, transactions: waiting.transactions }))
        return this.#leave(reply.id)
    }
  }

  #takeLowest(): void {
    if (this.#taking !== null) {
      return
    }
    const [lowest] = Array.from(this.#waiting).toSorted(([, a], [, b]) => a.slot - b.slot)
    if (lowest?.[1].isReady === true) {
      const [id, { slot }] = lowest
      this.#taking = id
      this.#post({ _tag: "more", id, slot })
    }
  }

  #leave(id: number): void {
    this.#waiting.delete(id)
    this.#taking = this.#taking === id ? null : this.#taking
    this.#takeLowest()
  }

  #end(): void {
    this.ended = true
    for (const { resume } of this.#waiting.values()) {
      resume(Effect.fail(stopped()))
    }
    this.#waiting.clear()
  }
}

/** Reads blocks in a thread that runs this entry; a thread that has ended is replaced by the next read. */
export const makeBlockReader = Effect.fnUntraced(function* (
  entry: URL,
  settings: BlockWorkerSettings
): Effect.fn.Return<(slot: number) => Effect.Effect<DecodedBlock, ChainUnavailable>, never, Scope.Scope> {
  let thread = new BlockThread(entry, settings)
  yield* Effect.addFinalizer(() => Effect.promise(() => thread.stop()))
  return (slot) =>
    Effect.suspend(() => {
      if (thread.ended) {
        thread = new BlockThread(entry, settings)
      }
      return thread.read(slot)
    })
})
