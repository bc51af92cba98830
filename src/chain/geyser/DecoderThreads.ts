/** Threads that decode slots. One thread decodes the whole of a slot. `serveDecoder.ts` runs in them. */
import { Worker } from "node:worker_threads"
import type { DecoderCommand, DecoderReply } from "./geyserMessages.ts"
import type { Decoders, OpenDecoding, TakePacked } from "./slotDecoding.ts"
import { MessageBatch } from "./updateBatches.ts"

/** A thread that has ended is started again, but not more often than this. */
export const THREAD_PAUSE_MS = 1_000

/**
 * On a busy chain a slot stays in memory until it is whole. With half of this young generation, collecting garbage
 * takes a sixth more processor time.
 */
export const decodingLimits = { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 512 }

/** A batch of transactions is sent with this many bytes at the latest. */
const BATCH_BYTES = 64 * 1024
/**
 * A thread that owes a reply and gives none for this many calls of `endSilent` is ended. A batch takes milliseconds,
 * loading sixteen decoders some seconds.
 */
const MOST_SILENT = 30

/** What happens in the threads. */
export interface DecoderEvents {
  /** There are fewer unread bytes. */
  readonly read: () => void
  /** A thread has ended. Its slots cannot be decoded. */
  readonly lost: (detail: string) => void
}

/** A thread and the slots that are in it. */
class DecoderThread<Message> {
  readonly #entry: URL
  readonly #events: DecoderEvents
  readonly #nowMs: () => number
  /** Open slots. The value is null until the packed slot is asked for. */
  readonly #open = new Map<number, TakePacked<Message> | null>()
  #worker: Worker | null = null
  #startedAtMs = Number.NEGATIVE_INFINITY
  #opened = 0
  #unread = 0
  /** Replies that are still to come. */
  #owed = 0
  /** Calls of `endSilent` since the last reply, while one is owed. */
  #silent = 0

  constructor(entry: URL, events: DecoderEvents, nowMs: () => number) {
    this.#entry = entry
    this.#events = events
    this.#nowMs = nowMs
  }

  get unread(): number {
    return this.#unread
  }

  /** Starts the thread, unless it was started a moment ago and has ended. True when it runs. */
  revive(): boolean {
    const nowMs = this.#nowMs()
    if (this.#worker === null && nowMs - this.#startedAtMs >= THREAD_PAUSE_MS) {
      this.#startedAtMs = nowMs
      this.#worker = this.#started()
    }
    return this.#worker !== null
  }

  open(slot: number, take: TakePacked<Message>): OpenDecoding {
    const decoding = ++this.#opened
    let indexes: Array<number> = []
    const batch = new MessageBatch(BATCH_BYTES, (bytes) => {
      // The thread may have been started again. It does not have the first part of the slot then.
      if (this.#open.has(decoding)) {
        this.#unread += bytes.length
        this.#ask({ _tag: "decode", decoding, slot, indexes, bytes }, [bytes.buffer])
      }
      indexes = []
    })
    this.#open.set(decoding, null)
    return {
      decode: (index, info) => {
        indexes.push(index)
        batch.add(info)
      },
      pack: (whole) => {
        batch.send()
        if (this.#open.has(decoding)) {
          this.#open.set(decoding, take)
          this.#ask({ _tag: "pack", decoding, whole })
        } else {
          take(null)
        }
      },
      drop: () => {
        batch.clear()
        if (this.#open.delete(decoding)) {
          this.#post({ _tag: "drop", decoding })
        }
      }
    }
  }

  /** Ends the thread when it does not reply. */
  endSilent(): void {
    this.#silent = this.#owed > 0 ? this.#silent + 1 : 0
    if (this.#silent > MOST_SILENT) {
      void this.#worker?.terminate()
    }
  }

  #ask(command: DecoderCommand, transfer: Array<ArrayBuffer> = []): void {
    this.#owed += 1
    this.#post(command, transfer)
  }

  #post(command: DecoderCommand, transfer: Array<ArrayBuffer> = []): void {
    this.#worker?.postMessage(command, transfer)
  }

  #started(): Worker {
    const worker = new Worker(this.#entry, { name: "decoder", resourceLimits: decodingLimits })
    const end = (detail: string) => {
      if (this.#worker === worker) {
        this.#end(detail)
      }
    }
    worker.on("message", (reply: DecoderReply<Message>) => {
      // Replies of a thread that failed may come after its error.
      if (this.#worker === worker) {
        this.#take(reply)
      }
    })
    worker.on("error", (error) => end(error.message))
    worker.on("messageerror", (error) => {
      end(error.message)
      void worker.terminate()
    })
    worker.on("exit", (code) => end(`ended with ${code}`))
    return worker
  }

  #take(reply: DecoderReply<Message>): void {
    this.#silent = 0
    this.#owed -= 1
    if (reply._tag === "read") {
      this.#unread -= reply.bytes
      this.#events.read()
      return
    }
    const take = this.#open.get(reply.decoding)
    this.#open.delete(reply.decoding)
    take?.(reply.packed)
  }

  /** A slot that is asked for later gets null then. */
  #end(detail: string): void {
    const asked = Array.from(this.#open.values())
    this.#open.clear()
    this.#worker = null
    this.#unread = 0
    this.#owed = 0
    this.#silent = 0
    this.#events.lost(detail)
    asked.forEach((take) => take?.(null))
    this.#events.read()
  }
}

/**
 * Decodes in this many threads, which run the module `entry`. They end with the thread that started them. `nowMs` is a
 * monotonic clock.
 */
export class DecoderThreads<Message> implements Decoders<Message> {
  #threads: ReadonlyArray<DecoderThread<Message>>

  constructor(entry: URL, count: number, events: DecoderEvents, nowMs = () => performance.now()) {
    this.#threads = Array.from({ length: count }, () => new DecoderThread<Message>(entry, events, nowMs))
    // Loading the decoder takes a while.
    this.#threads.forEach((thread) => thread.revive())
  }

  get unread(): number {
    return this.#threads.reduce((sum, { unread }) => sum + unread, 0)
  }

  /** Opens the slot in the thread that has the least to do. While no thread runs, the slot cannot be decoded. */
  open(slot: number, take: TakePacked<Message>): OpenDecoding {
    const running = this.#threads.filter((thread) => thread.revive())
    const [first, ...others] = running
    if (first === undefined) {
      return { decode: () => undefined, pack: () => take(null), drop: () => undefined }
    }
    const chosen = others.reduce((least, thread) => (thread.unread < least.unread ? thread : least), first)
    // Threads that have equally much to do take turns.
    this.#threads = [...this.#threads.filter((thread) => thread !== chosen), chosen]
    return chosen.open(slot, take)
  }

  /**
   * Ends threads that do not reply, so that their slots are read from a node. Call it once a second. It counts calls
   * and no time: after the process stood still, replies are read before the next call.
   */
  endSilent(): void {
    this.#threads.forEach((thread) => thread.endSilent())
  }
}
