/** Blocks of Geysers. A thread for each endpoint that streams reads, assembles and decodes them. */
import { Clock, Duration, Effect, Option, Scope } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import { Worker } from "node:worker_threads"
import { Readings } from "../../operations/Readings.ts"
import { noteFailure, SourceMonitor, type SourceState } from "../../operations/SourceMonitor.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import { SLOT_SKIPPED } from "../blocks/followBlocks.ts"
import type { HashOf, SlotStream } from "../blocks/SlotStream.ts"
import { decodingLimits, THREAD_PAUSE_MS } from "./DecoderThreads.ts"
import type { GeyserCommand, GeyserEvent, GeyserWorkerSettings } from "./geyserMessages.ts"
import { type GeyserEndpoint, targetOf } from "./geyserSettings.ts"
import { type Dispute, RacedSlots } from "./RacedSlots.ts"
import type { StreamedSlots } from "./StreamedSlots.ts"

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
  /** How many endpoints stream at once. */
  readonly race: number
  /** How many threads decode the slots of one endpoint. With one, it also reads them. */
  readonly decoders: number
}

/** Slots are requested in order, a few at a time. A slot this far below a requested one has been answered. */
const REQUESTED_AHEAD = 16
/** An endpoint this many slots behind a node is left, unless it catches up. */
const MOST_LAG = 64
/** A raced endpoint this many slots behind the fastest one lags. */
const RACE_LAG = 8
/** A node that cannot say which endpoint is right is asked again after this long. */
const SETTLED_EVERY = "1 second"

const skipped = (slot: number) =>
  new ChainUnavailable({ reason: "invalid", detail: `slot ${slot} has no block`, rpcCode: SLOT_SKIPPED })

const isSkipped = ({ rpcCode }: ChainUnavailable): boolean => rpcCode === SLOT_SKIPPED

/** The main thread's end of the thread that reads the stream. */
class GeyserThread<Message> {
  readonly buffer: StreamedSlots<Message>
  /** When the newest event arrived by the monotonic clock; before the first, when the stream began. */
  heardAtMs = Number.NEGATIVE_INFINITY
  host: string | null = null
  readonly #options: { readonly worker: URL; readonly settings: GeyserWorkerSettings }
  readonly #nowMs: () => number
  readonly #onEnd: (host: string, detail: string) => void
  readonly #onLost: (detail: string) => void
  readonly #onEvent: (slot: number | null) => void
  #worker: Worker | null = null
  #startedAtMs = Number.NEGATIVE_INFINITY
  #run = 0
  #below: number | null = null

  constructor(
    options: { readonly worker: URL; readonly settings: GeyserWorkerSettings },
    buffer: StreamedSlots<Message>,
    nowMs: () => number,
    on: {
      readonly end: (host: string, detail: string) => void
      /** After the end of a decoder thread. */
      readonly lost: (detail: string) => void
      /** After each event, with the slot whose head has arrived. */
      readonly event: (slot: number | null) => void
    }
  ) {
    this.#options = options
    this.buffer = buffer
    this.#nowMs = nowMs
    this.#onEnd = on.end
    this.#onLost = on.lost
    this.#onEvent = on.event
  }

  /** Begins after a slot. What was streamed must have been forgotten. */
  begin(after: number | null): void {
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
      this.#post({ _tag: "taken", below })
    }
  }

  leave(): void {
    this.#post({ _tag: "leave" })
  }

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
    const worker = new Worker(entry, { workerData: settings, name: "geyser", resourceLimits: decodingLimits })
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
    if (event._tag === "lost") {
      this.#onLost(event.detail)
      return
    }
    this.heardAtMs = this.#nowMs()
    switch (event._tag) {
      case "began":
        this.host = event.host
        this.buffer.begin(event.from, event.packing)
        break
      case "slot":
        this.buffer.link(event.slot, event.parentSlot, event.blockhash)
        break
      case "block":
        this.buffer.put(event.slot, event.message)
        break
      case "unreadable":
        this.buffer.fail(event.slot)
        break
    }
    this.#onEvent(event._tag === "slot" && event.blockhash !== null ? event.slot : null)
  }
}

/** Fibers that wait for the next event. */
class Waiting {
  readonly #waiting = new Set<() => void>()

  readonly next: Effect.Effect<void> = Effect.callback((resume) => {
    const wake = () => resume(Effect.void)
    this.#waiting.add(wake)
    return Effect.sync(() => this.#waiting.delete(wake))
  })

  wake(): void {
    // A waiter that is resumed may wait again at once.
    const waiting = Array.from(this.#waiting)
    this.#waiting.clear()
    waiting.forEach((wake) => wake())
  }
}

/** The settings of one thread of the race. Each endpoint belongs to one thread. */
const settingsOf = (
  { commitment, decoders, endpoints, patience, race }: GeyserSlotsOptions,
  place: number
): GeyserWorkerSettings => ({
  targets: endpoints.filter((_, index) => index % race === place).map(targetOf),
  silenceMs: 2 * Duration.toMillis(patience),
  commitment,
  decoders
})

/** The name of the source of a raced endpoint. */
const sourceOf = (place: number) => `geyser_${place + 1}`

/**
 * A stream of the blocks at these endpoints, until the scope closes. With a race, several of them stream at once and
 * the first whole slot wins. Connects to none before `begin`.
 */
export const makeGeyserSlots = Effect.fnUntraced(function* <Message>({
  race: wanted,
  ...given
}: GeyserSlotsOptions): Effect.fn.Return<SlotStream<Message>, never, Scope.Scope> {
  const options = { ...given, race: Math.max(1, Math.min(wanted, given.endpoints.length)) }
  const { patience, poll } = options
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const nowMs = () => monotonicMs(clock)
  const waiting = new Waiting()
  const threads: Array<GeyserThread<Message>> = []
  const slots = new RacedSlots<Message>(options.race, (place) => threads[place]?.host != null)
  const reporter = (place: number) => {
    let last = ""
    return (message: string, host: string, detail: string) => {
      const failure = `${host}: ${detail}`
      // An endpoint that stays away fails every few seconds with the same message.
      const log = failure === last ? Effect.logDebug : Effect.logWarning
      last = failure
      Effect.runForkWith(context)(
        Effect.andThen(
          log(message, { host, detail }),
          noteFailure(options.race === 1 ? "block_feed" : sourceOf(place), failure)
        )
      )
    }
  }
  slots.buffers.forEach((buffer, place) => {
    const [report, reportDecoder] = [reporter(place), reporter(place)]
    threads.push(
      new GeyserThread<Message>({ worker: options.worker, settings: settingsOf(options, place) }, buffer, nowMs, {
        end: (host, detail) => report("The stream of blocks ended: opening another one", host, detail),
        lost: (detail) => reportDecoder("A decoder thread ended: its slots are read from a node", "decoder", detail),
        event: (slot) => {
          if (slot !== null) {
            slots.compare(slot)
          }
          waiting.wake()
        }
      })
    )
  })
  yield* Effect.addFinalizer(() => Effect.forEach(threads, ({ stop }) => stop, { discard: true }))
  const isQuiet = (thread: GeyserThread<Message>) => nowMs() - thread.heardAtMs > Duration.toMillis(patience)
  const isSilent = () => threads.every((thread, place) => slots.isAside(place) || isQuiet(thread))
  let reported = -1
  const lags = threads.map(() => 0)

  const stateOf = (thread: GeyserThread<Message>, place: number, wallMs: number): SourceState => {
    const observedAtMs = thread.buffer.head < 0 ? null : wallMs - (nowMs() - thread.heardAtMs)
    const isLate = isQuiet(thread) || slots.isAside(place) || slots.head - thread.buffer.head > RACE_LAG
    return {
      observedAtMs,
      status: observedAtMs === null ? "unavailable" : isLate ? "stale" : "known",
      node: thread.host ?? options.endpoints[place]?.host,
      ...(thread.buffer.head >= 0 && { slot: thread.buffer.head })
    }
  }
  const reportRace = Effect.gen(function* () {
    const monitor = yield* SourceMonitor
    for (const [place, thread] of threads.entries()) {
      yield* monitor.report(sourceOf(place), (wallMs) => stateOf(thread, place, wallMs))
    }
    yield* (yield* Readings).report(
      {
        name: "fathom_geyser_slots_won_total",
        help: "Slots that a raced Geyser endpoint had whole before the others.",
        kind: "counter"
      },
      () => slots.won.map((value, place) => ({ value, labels: { source: sourceOf(place) } }))
    )
  })
  // A process that only follows the bus never begins, and does not have these sources.
  const scope = yield* Effect.scope
  const begun = yield* Effect.cached(options.race === 1 ? Effect.void : Scope.provide(reportRace, scope))

  const newest = Effect.fnUntraced(function* (node: Effect.Effect<number, ChainUnavailable>) {
    threads.forEach((thread) => thread.revive())
    if (!isSilent() && slots.head <= reported) {
      yield* Effect.timeoutOption(waiting.next, poll)
    }
    while (!isSilent() && slots.head < 0) {
      yield* Effect.timeoutOption(waiting.next, poll)
    }
    if (isSilent()) {
      return yield* Effect.delay(node, poll)
    }
    reported = slots.head
    return slots.head
  })

  const awaited = Effect.fnUntraced(function* (slot: number) {
    while (!isSilent() && slots.stateOf(slot) === "coming") {
      yield* waiting.next
    }
  })

  const read = Effect.fnUntraced(function* (slot: number) {
    slots.forgetBefore(slot - REQUESTED_AHEAD)
    threads.forEach((thread) => thread.request(slot))
    yield* Effect.timeoutOption(awaited(slot), patience)
    if (slots.stateOf(slot) === "skipped") {
      return yield* skipped(slot)
    }
    return Option.fromUndefinedOr(slots.take(slot))
  })

  const compareLag = Effect.fnUntraced(function* (thread: GeyserThread<Message>, place: number, slot: number) {
    const before = lags[place] ?? 0
    const lag = isQuiet(thread) ? 0 : slot - thread.buffer.head
    lags[place] = lag
    if (before > MOST_LAG && lag >= before && settingsOf(options, place).targets.length > 1) {
      lags[place] = 0
      yield* Effect.logWarning("The endpoint falls behind: going on with the next one", {
        host: thread.host,
        slots: before
      })
      thread.leave()
    }
  })

  /** Asks the node which endpoint is right. */
  const settle = Effect.fnUntraced(function* ({ hashes, slot }: Dispute, hashOf: HashOf) {
    // Where the node has no block, every endpoint with one is wrong.
    const hash = yield* Effect.catchIf(hashOf(slot), isSkipped, () => Effect.succeed(""))
    const hostOf = (place: number) => threads[place]?.host ?? "endpoint"
    const aside = threads.map((_, place) => slots.isAside(place))
    for (const place of slots.settle(slot, hash)) {
      const host = hostOf(place)
      yield* Effect.logError("A Geyser streams another block than the node, and is not followed", {
        host,
        slot,
        hashes
      })
      yield* noteFailure(sourceOf(place), `${host}: another block in slot ${slot} than the node has`)
    }
    for (const [place, wasAside] of aside.entries()) {
      if (wasAside && !slots.isAside(place)) {
        yield* Effect.logInfo("A Geyser has the node's blocks, and is followed again", { host: hostOf(place), slot })
      }
    }
    waiting.wake()
  })

  return {
    begin: (after) =>
      Effect.andThen(
        begun,
        Effect.sync(() => {
          reported = -1
          lags.fill(0)
          slots.clear()
          threads.forEach((thread) => thread.begin(after))
        })
      ),
    newest,
    // The stream knows which slots were skipped, so the list need not leave them out.
    list: (from, limit) =>
      slots.covers(from)
        ? Option.some(Array.from({ length: Math.min(limit, slots.head - from + 1) }, (_, i) => from + i))
        : Option.none(),
    read,
    compare: (slot) => Effect.forEach(threads, (thread, place) => compareLag(thread, place, slot), { discard: true }),
    disputed: (hashOf) =>
      Effect.forever(
        Effect.suspend(() =>
          slots.dispute === null
            ? waiting.next
            : // The node may not have the slot yet.
              Effect.catch(settle(slots.dispute, hashOf), () => Effect.sleep(SETTLED_EVERY))
        )
      ),
    forked: () => slots.takeForked(),
    host: () =>
      isSilent() ? null : (threads[slots.winner]?.host ?? threads.find(({ host }) => host !== null)?.host ?? null)
  }
})
