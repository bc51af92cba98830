/** The main thread's end of the thread that holds the account streams of Geysers (`accountWorker.ts`). */
import { Context, Effect, Layer } from "effect"
import { Worker } from "node:worker_threads"
import { TurnQueue } from "../../domain/loopTime.ts"
import type { AccountCommand, AccountEvent, GeyserTarget, StreamEnd } from "./geyserMessages.ts"
import { readUpdate, type StreamUpdate } from "./readUpdate.ts"
import { readBatch } from "./updateBatches.ts"

const entry = new URL("./accountWorker.ts", import.meta.url)

/** Messages are garbage as soon as they are passed on. */
const resourceLimits = { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 256 }

/** Commands for one stream. */
type StreamCommand<A = AccountCommand> = A extends { readonly stream: number } ? Omit<A, "stream"> : never

/** An open stream. Nothing arrives before its first request, and nothing after `close`. */
export interface AccountStream {
  readonly send: (command: Extract<StreamCommand, { readonly _tag: "follow" | "request" }>) => void
  readonly close: () => void
}

/** Runs synchronously, in order. Bytes of an update are views; copy them to keep them. */
export interface AccountStreamReader {
  readonly onUpdate: (update: StreamUpdate) => void
  /** The last call. What arrived before has been read. */
  readonly onEnd: (end: StreamEnd) => void
}

/** Batches of a stream, and its end as the last item. The thread pauses a stream whose batches wait. */
type Arrivals = TurnQueue<Uint8Array | StreamEnd>

/** Starts a thread at once, since loading gRPC takes a while, and another one with the next stream after a thread has ended. */
class Threads {
  #worker: Worker | null
  #streams = 0
  readonly #open = new Map<number, Arrivals>()

  constructor() {
    this.#worker = this.#started()
  }

  open(target: GeyserTarget, from: number | null, { onEnd, onUpdate }: AccountStreamReader): AccountStream {
    const stream = ++this.#streams
    const worker = (this.#worker ??= this.#started())
    const post = (command: AccountCommand) => worker.postMessage(command, [])
    const take = (arrival: Uint8Array | StreamEnd) => {
      if (arrival instanceof Uint8Array) {
        readBatch(arrival, (message) => onUpdate(readUpdate(message)))
        post({ _tag: "taken", stream, bytes: arrival.length })
      } else {
        onEnd(arrival)
      }
    }
    const arrivals: Arrivals = new TurnQueue(take, { hasLeastPart: false })
    this.#open.set(stream, arrivals)
    post({ _tag: "open", stream, target, from })
    return {
      send: (command) => post({ ...command, stream }),
      close: () => {
        this.#open.delete(stream)
        arrivals.clear()
        post({ _tag: "close", stream })
      }
    }
  }

  readonly stop: Effect.Effect<void> = Effect.promise(async () => {
    const worker = this.#worker
    this.#worker = null
    this.#open.clear()
    await worker?.terminate()
  })

  #started(): Worker {
    const worker = new Worker(entry, { name: "accounts", resourceLimits })
    worker.on("message", (event: AccountEvent) => this.#take(event))
    const lost = (detail: string) => {
      if (this.#worker === worker) {
        this.#worker = null
        Array.from(this.#open.keys()).forEach((stream) => this.#end(stream, { reason: "failure", detail }))
      }
    }
    worker.on("error", (error) => lost(`the thread ended: ${error.message}`))
    worker.on("exit", (code) => lost(`the thread ended with ${code}`))
    return worker
  }

  #take(event: AccountEvent): void {
    if (event._tag === "updates") {
      this.#open.get(event.stream)?.push(event.bytes)
    } else {
      this.#end(event.stream, event.end)
    }
  }

  /** The end is the last thing to arrive: a stream has one. */
  #end(stream: number, end: StreamEnd): void {
    this.#open.get(stream)?.push(end)
    this.#open.delete(stream)
  }
}

/** Account streams in a thread of their own. */
export class AccountThread extends Context.Service<
  AccountThread,
  { readonly open: (target: GeyserTarget, from: number | null, reader: AccountStreamReader) => AccountStream }
>()("fathom/chain/geyser/AccountThread") {
  static readonly layer = Layer.effect(
    AccountThread,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => new Threads()),
        ({ stop }) => stop
      ),
      (threads) => AccountThread.of({ open: (target, from, reader) => threads.open(target, from, reader) })
    )
  )
}
