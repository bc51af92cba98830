/** Live candles and prices: changed topics, each at most four times a second. */
import { Cause, Clock, Effect, Fiber, type Scope } from "effect"
import type { ChartBar } from "../../api/schemas/Chart.ts"
import type { Address } from "../../domain/Address.ts"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import { widthOf } from "../../market/model/resolutions.ts"
import type { PricedBatch } from "../../market/model/TradeBatch.ts"
import { monotonicMs } from "../../domain/loopTime.ts"
import { TopicFrames, livePrice } from "./blockFrames.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import type { MarketHub } from "./MarketHub.ts"
import { readCandles, type SnapshotSources } from "./snapshots.ts"
import type { Topic } from "./Topic.ts"

/** Shortest time between two frames of an open candle or a price, in milliseconds. */
export const SPACING_MS = 250
/** Topics whose candles are read from a store at the same time. */
const MOST_READS = 16
/** A block that is older than this is old, in milliseconds. */
const OLD_MS = 30_000
/** Old blocks that gain this much on the clock are a catch-up. It counts as running for as long again, in milliseconds. */
const GAINED_MS = 1000

/**
 * Tells whether old blocks are being caught up with. The first old block counts until it is known whether more follow fast. A
 * reader that is always late does not gain on the clock, so its blocks do not count.
 */
class CatchUp {
  // The place from which a gain is measured: the time of a block, and the monotonic time at which it came.
  #from: { readonly timeMs: number; readonly atMs: number } | null = null
  #untilMs = Number.NEGATIVE_INFINITY

  note(timeMs: number, nowMs: number, atMs: number): void {
    if (nowMs - timeMs <= OLD_MS) {
      this.#from = null
      this.#untilMs = Number.NEGATIVE_INFINITY
      return
    }
    const gained = this.#from === null ? GAINED_MS : timeMs - this.#from.timeMs - (atMs - this.#from.atMs)
    if (gained >= GAINED_MS) {
      this.#untilMs = atMs + GAINED_MS
    }
    if (gained < 0 || gained >= GAINED_MS) {
      this.#from = { timeMs, atMs }
    }
  }

  isRunning(atMs: number): boolean {
    return atMs < this.#untilMs
  }
}

/** Which candles of a topic its readers have got. */
interface CandleProgress {
  /** Start of the newest closed candle that was sent or is in a snapshot; null before the first read. */
  closedMs: number | null
  /** End of the open candle; null while there is none. */
  endMs: number | null
  /** Its JSON as it was sent. */
  open: string
}

/** Topics of candles and prices that wait to be sent. */
export class LiveCandles {
  readonly #hub: MarketHub
  readonly #sources: Pick<SnapshotSources, "feed" | "reader">
  readonly #scope: Scope.Scope
  readonly #progress = new WeakMap<Topic, CandleProgress>()
  // By the monotonic clock.
  readonly #sentAtMs = new WeakMap<Topic, number>()
  readonly #prices = new Map<Topic, TapeTrade>()
  readonly #catchUp = new CatchUp()
  readonly #candles = new Set<Topic>()
  // Topics whose candles are being read, and topics whose last read waited for a store. Reads from memory need no wait.
  readonly #reading = new Set<Topic>()
  readonly #stored = new WeakSet<Topic>()
  // Frames of the current round; null between rounds.
  #frames: TopicFrames | null = null
  // Topics by the end of their open candle, so that a block looks only at the ends.
  readonly #byEnd = new Map<number, Set<Topic>>()

  /** Reads of candles that need a store end with the scope. */
  constructor(hub: MarketHub, sources: Pick<SnapshotSources, "feed" | "reader">, scope: Scope.Scope) {
    this.#hub = hub
    this.#sources = sources
    this.#scope = scope
  }

  /** True while a topic waits. */
  get isWaiting(): boolean {
    return this.#prices.size + this.#candles.size > 0
  }

  /** Queues topics that a block changed, and topics whose open candle may have ended. */
  note({ timeMs, trades }: Pick<PricedBatch, "timeMs" | "trades">, clock: Clock.Clock): void {
    this.#catchUp.note(timeMs, clock.currentTimeMillisUnsafe(), monotonicMs(clock))
    for (const trade of this.#hub.hasTopics ? trades : []) {
      if (trade.role === "pool" || trade.role === "both") {
        for (const topic of this.#hub.topicsOf("price", trade.mint)) {
          this.#prices.set(topic, trade)
        }
        this.#noteCandles(trade.mint)
        if (trade.pool !== null) {
          this.#noteCandles(trade.pool)
        }
      }
    }
    for (const [endMs, topics] of this.#byEnd) {
      if (timeMs >= endMs) {
        topics.forEach((topic) => this.#candles.add(topic))
      }
    }
  }

  #noteCandles(name: Address): void {
    for (const topic of this.#hub.topicsOf("candles", name)) {
      this.#candles.add(topic)
    }
  }

  /** Removes a topic without readers. */
  forget(topic: Topic): void {
    this.#candles.delete(topic)
    this.#prices.delete(topic)
    this.#setEnd(topic, null)
    this.#progress.delete(topic)
  }

  /** Number of ends of open candles that each block is compared with. */
  get ends(): number {
    return this.#byEnd.size
  }

  /** Queues a topic whose first reader has just got its snapshot. */
  begin(topic: Topic): void {
    this.#candles.add(topic)
  }

  /** Sends what is due, in one write per connection. Candles that need a store follow when they have been read. */
  readonly send: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    const clock = yield* Clock.Clock
    const atMs = monotonicMs(clock)
    const fork = Effect.runForkWith(yield* Effect.context())
    const frames = new TopicFrames()
    this.#addPrices(frames, atMs)
    this.#frames = frames
    for (const topic of Array.from(this.#candles)) {
      if (this.#isDue(topic, atMs) && this.#mayRead(topic)) {
        this.#candles.delete(topic)
        this.#reading.add(topic)
        Fiber.runIn(fork(this.#sendCandles(topic)), this.#scope)
        this.#noteStore(topic)
      }
    }
    this.#frames = null
    this.#hub.publish(frames.batches, clock.currentTimeMillisUnsafe())
  })

  #isDue(topic: Topic, atMs: number): boolean {
    return atMs - (this.#sentAtMs.get(topic) ?? Number.NEGATIVE_INFINITY) >= SPACING_MS
  }

  #mayRead(topic: Topic): boolean {
    return !this.#reading.has(topic) && (this.#reading.size < MOST_READS || !this.#stored.has(topic))
  }

  #noteStore(topic: Topic): void {
    if (this.#reading.has(topic)) {
      this.#stored.add(topic)
    } else {
      this.#stored.delete(topic)
    }
  }

  /** Adds the prices that are due. While old blocks are caught up with, each topic keeps its newest price for later. */
  #addPrices(frames: TopicFrames, atMs: number): void {
    if (this.#catchUp.isRunning(atMs)) {
      return
    }
    for (const [topic, trade] of this.#prices) {
      if (this.#isDue(topic, atMs)) {
        this.#prices.delete(topic)
        this.#sentAtMs.set(topic, atMs)
        frames.add([topic], "price", () => livePrice(trade))
      }
    }
  }

  /**
   * Reads the candles of a topic and sends those that changed. A topic that cannot be read waits for its next trade.
   */
  #sendCandles(topic: Topic): Effect.Effect<void> {
    const { terms } = topic
    if (terms.channel !== "candles" || topic.readers.size === 0) {
      return Effect.sync(() => void this.#reading.delete(topic))
    }
    const progress = this.#progress.get(topic) ?? { closedMs: null, endMs: null, open: "" }
    return readCandles(this.#sources, terms, progress.closedMs).pipe(
      Effect.flatMap(({ data, knowledge }) =>
        Effect.map(Clock.Clock, (clock) => {
          this.#sentAtMs.set(topic, monotonicMs(clock))
          // The last reader may have left.
          if (topic.readers.size > 0) {
            const nowMs = clock.currentTimeMillisUnsafe()
            const openMs = this.#publish(topic, progress, data.bars, knowledge.openBarMs, nowMs)
            this.#setEnd(topic, openMs === null ? null : openMs + widthOf[terms.resolution] * 1000)
          }
        })
      ),
      Effect.catchCause((cause) =>
        Cause.hasDies(cause) ? Effect.logError("Candles could not be read", cause) : Effect.void
      ),
      Effect.ensuring(Effect.sync(() => void this.#reading.delete(topic)))
    )
  }

  /** Sends what changed, together with its round if there is one. Returns the start of the open candle. */
  #publish(
    topic: Topic,
    progress: CandleProgress,
    bars: ReadonlyArray<ChartBar>,
    openMs: number | null,
    nowMs: number
  ): number | null {
    const frames = this.#frames ?? new TopicFrames()
    const closed = bars.filter(({ t }) => t !== openMs)
    // Candles before the first read are in the snapshots.
    const news = closed.filter(({ t }) => progress.closedMs !== null && t > progress.closedMs)
    news.forEach((bar) => frames.add([topic], "candle_closed", () => bar))
    const open = bars.find(({ t }) => t === openMs)
    const text = open === undefined ? "" : jsonOf(open)
    if (text !== "" && text !== progress.open) {
      frames.add([topic], "candle", () => open)
    }
    const newest = closed.at(-1)?.t ?? null
    const before = open === undefined ? null : open.t - 1
    this.#progress.set(topic, {
      closedMs: newest ?? progress.closedMs ?? before,
      endMs: this.#progress.get(topic)?.endMs ?? null,
      open: text
    })
    if (this.#frames === null) {
      this.#hub.publish(frames.batches, nowMs)
    }
    return open?.t ?? null
  }

  #setEnd(topic: Topic, endMs: number | null): void {
    const progress = this.#progress.get(topic)
    const before = progress?.endMs ?? null
    if (progress === undefined || before === endMs) {
      return
    }
    const others = before === null ? undefined : this.#byEnd.get(before)
    if (before !== null && others?.delete(topic) === true && others.size === 0) {
      this.#byEnd.delete(before)
    }
    progress.endMs = endMs
    if (endMs !== null) {
      this.#byEnd.set(endMs, (this.#byEnd.get(endMs) ?? new Set()).add(topic))
    }
  }
}
