/** Blocks of a Geyser. A thread of their own reads, assembles and decodes them. */
import { Clock, Duration, Effect, Option, type Scope } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import { Worker } from "node:worker_threads"
import { noteFailure } from "../../operations/SourceMonitor.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import type { SlotStream } from "../blocks/SlotStream.ts"
import type { GeyserCommand, GeyserEvent, GeyserWorkerSettings } from "./geyserMessages.ts"
import { type GeyserEndpoint, targetOf } from "./geyserSettings.ts"
import { StreamedSlots } from "./StreamedSlots.ts"

/** Settings of a stream of blocks. */
export interface GeyserSlotsOptions {
  /** The module that the thread runs. It calls `serveGeyser` with a decoder. */
  readonly worker: URL
  readonly endpoints: ReadonlyArray<GeyserEndpoint>
  /** The number of the commitment of slots and blocks. */
  readonly commitment: number
  /** How long a slot may take to become whole, and the stream may be silent, before a node is asked. */
  readonly patience: Duration.Duration
  /** The longest wait for a newer slot. */
  readonly poll: Duration.Duration
}

/** Slots are requested in order, a few at a time. A slot this far below a requested one has been answered. */
const REQUESTED_AHEAD = 16
/** An endpoint this many slots behind a node is left, unless it catches up. */
const MOST_LAG = 64
/** A thread that has ended is started again, but not more often than this. */
const THREAD_PAUSE_MS = 1_000

/**
 * On a busy chain a slot stays in memory until it is whole. With half of this young generation, collecting garbage
 * takes a sixth more processor time.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 512 }

const skipped = (slot: number) =>
  new ChainUnavailable({ reason: "invalid", detail: `slot ${slot} has no block`, rpcCode: -32007 })

/** The main thread's end of the thread that reads the stream. */
class GeyserThread<Message> {
  readonly buffer = new StreamedSlots<Message>()
  /** When the newest event arrived by the monotonic clock; before the first, when the stream began. */
  heardAtMs = Number.NEGATIVE_INFINITY
  host: string | null = null
  readonly #options: { readonly worker: URL; readonly settings: GeyserWorkerSettings }
  readonly #nowMs: () => number
  readonly #onEnd: (host: string, detail: string) => void
  readonly #waiting = new Set<() => void>()
  #worker: Worker | null = null
  #startedAtMs = Number.NEGATIVE_INFINITY
  #run = 0
  #below: number | null = null

  constructor(
    options: { readonly worker: URL; readonly settings: GeyserWorkerSettings },
    nowMs: () => number,
    onEnd: (host: string, detail: string) => void
  ) {
    this.#options = options
    this.#nowMs = nowMs
    this.#onEnd = onEnd
  }

  /** Forgets what was streamed, and begins after a slot. */
  begin(after: number | null): void {
    this.buffer.clear()
    this.host = null
    this.heardAtMs = this.#nowMs()
    this.#below = after === null || after === 0 ? null : after + 1
    this.#follow()
  }

  /** Starts the thread again if it has ended. */
  revive(): void {
    if (this.#worker === null && this.#nowMs() - this.#startedAtMs >= THREAD_PAUSE_MS) {
      this.#follow()
    }
  }

  /** A slot is requested. Slots far below it are no longer wanted. */
  request(slot: number): void {
    const below = slot - REQUESTED_AHEAD
    if (below > (this.#below ?? 0)) {
      this.#below = below
      this.buffer.forgetBefore(below)
      this.#post({ _tag: "taken", below })
    }
  }

  leave(): void {
    this.#post({ _tag: "leave" })
  }

  /** Returns at the next event. */
  readonly changed: Effect.Effect<void> = Effect.callback((resume) => {
    const wake = () => resume(Effect.void)
    this.#waiting.add(wake)
    return Effect.sync(() => this.#waiting.delete(wake))
  })

  readonly stop: Effect.Effect<void> = Effect.promise(async () => {
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  })

  #follow(): void {
    this.#run += 1
    this.#worker ??= this.#started()
    this.#post({ _tag: "follow", run: this.#run, from: this.#below })
  }

  #started(): Worker {
    const { settings, worker: entry } = this.#options
    const worker = new Worker(entry, { workerData: settings, name: "geyser", resourceLimits })
    this.#startedAtMs = this.#nowMs()
    const end = (detail: string) => {
      if (this.#worker === worker) {
        this.#worker = null
        this.host = null
        this.#onEnd("thread", detail)
      }
    }
    worker.on("message", (event: GeyserEvent<Message>) => this.#take(event))
    worker.on("error", (error) => end(error.message))
    worker.on("exit", (code) => end(`ended with ${code}`))
    return worker
  }

  #post(command: GeyserCommand): void {
    this.#worker?.postMessage(command, [])
  }

  #take(event: GeyserEvent<Message>): void {
    if (event.run !== this.#run) {
      return
    }
    if (event._tag === "ended") {
      this.host = null
      this.#onEnd(event.host, event.detail)
      return
    }
    this.heardAtMs = this.#nowMs()
    switch (event._tag) {
      case "began":
        this.host = event.host
        this.buffer.begin(event.from)
        break
      case "slot":
        this.buffer.link(event.slot, event.parentSlot)
        break
      case "block":
        this.buffer.put(event.slot, event.message)
        break
      case "unreadable":
        this.buffer.fail(event.slot)
        break
    }
    // A waiter that is resumed may wait again at once.
    const waiting = Array.from(this.#waiting)
    this.#waiting.clear()
    waiting.forEach((wake) => wake())
  }
}

const settingsOf = ({ commitment, endpoints, patience }: GeyserSlotsOptions): GeyserWorkerSettings => ({
  targets: endpoints.map(targetOf),
  silenceMs: 2 * Duration.toMillis(patience),
  commitment
})

/** A stream of the blocks at these endpoints, until the scope closes. Connects to none before `begin`. */
export const makeGeyserSlots = Effect.fnUntraced(function* <Message>(
  options: GeyserSlotsOptions
): Effect.fn.Return<SlotStream<Message>, never, Scope.Scope> {
  const { patience, poll } = options
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const nowMs = () => monotonicMs(clock)
  let last = ""
  const report = (host: string, detail: string) => {
    const failure = `${host}: ${detail}`
    // An endpoint that stays away fails every few seconds with the same message.
    const log = failure === last ? Effect.logDebug : Effect.logWarning
    last = failure
    Effect.runForkWith(context)(
      Effect.andThen(
        log("The stream of blocks ended: opening another one", { host, detail }),
        noteFailure("block_feed", failure)
      )
    )
  }
  const thread = new GeyserThread<Message>({ worker: options.worker, settings: settingsOf(options) }, nowMs, report)
  yield* Effect.addFinalizer(() => thread.stop)
  const { buffer } = thread
  const isSilent = () => nowMs() - thread.heardAtMs > Duration.toMillis(patience)
  let reported = -1
  let lag = 0

  const newest = Effect.fnUntraced(function* (node: Effect.Effect<number, ChainUnavailable>) {
    thread.revive()
    if (!isSilent() && buffer.head <= reported) {
      yield* Effect.timeoutOption(thread.changed, poll)
    }
    while (!isSilent() && buffer.head < 0) {
      yield* Effect.timeoutOption(thread.changed, poll)
    }
    if (isSilent()) {
      return yield* Effect.delay(node, poll)
    }
    reported = buffer.head
    return buffer.head
  })

  const awaited = Effect.fnUntraced(function* (slot: number) {
    while (!isSilent() && buffer.stateOf(slot) === "coming") {
      yield* thread.changed
    }
  })

  const read = Effect.fnUntraced(function* (slot: number) {
    thread.request(slot)
    yield* Effect.timeoutOption(awaited(slot), patience)
    if (buffer.stateOf(slot) === "skipped") {
      return yield* skipped(slot)
    }
    return Option.fromUndefinedOr(buffer.take(slot))
  })

  const compare = Effect.fnUntraced(function* (slot: number) {
    const before = lag
    lag = isSilent() ? 0 : slot - buffer.head
    if (before > MOST_LAG && lag >= before && options.endpoints.length > 1) {
      lag = 0
      yield* Effect.logWarning("The endpoint falls behind: going on with the next one", {
        host: thread.host,
        slots: before
      })
      thread.leave()
    }
  })

  return {
    begin: (after) =>
      Effect.sync(() => {
        reported = -1
        lag = 0
        thread.begin(after)
      }),
    newest,
    // The stream knows which slots were skipped, so the list need not leave them out.
    list: (from, limit) =>
      buffer.covers(from)
        ? Option.some(Array.from({ length: Math.min(limit, buffer.head - from + 1) }, (_, i) => from + i))
        : Option.none(),
    read,
    compare,
    host: () => (isSilent() ? null : thread.host)
  }
})
