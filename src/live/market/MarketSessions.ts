import { Clock, Config, Context, Duration, Effect, Latch, Layer, Queue, Stream } from "effect"
import type { KeyStore } from "../../access/KeyStore.ts"
import { RateLimiter } from "../../access/RateLimiter.ts"
import { UsageStore } from "../../access/usage/UsageStore.ts"
import type { SessionStore } from "../../access/accounts/SessionStore.ts"
import { countSetting } from "../../domain/countSetting.ts"
import type { SubscribeMessage } from "../../api/schemas/MarketFrame.ts"
import type { LiveGap } from "../../api/schemas/LiveFrame.ts"
import { keepGoing, keepRunning } from "../../operations/keepRunning.ts"
import { SourceMonitor } from "../../operations/SourceMonitor.ts"
import { makeSessions, round, type SessionBook } from "../liveSessions.ts"
import { gapStartMs } from "../../market/model/Gaps.ts"
import type { CountedBatch } from "../../market/model/TradeBatch.ts"
import type { LiquidityRecord } from "../../market/model/StoredLiquidity.ts"
import { MarketReader } from "../../market/reads/MarketReader.ts"
import { TradesReader } from "../../market/reads/TradesReader.ts"
import type { QuoteTicks } from "../../quotes/QuoteTicks.ts"
import { monotonicMs, ownTurn, TurnQueue } from "../../domain/loopTime.ts"
import { wholeOf } from "../../market/memory/MarketState.ts"
import { ChainFeed } from "../../chain/ChainFeed.ts"
import { allSources } from "../../chain/sourceFreshness.ts"
import { blockFrames, liquidityOf, stepsOf, TopicFrames } from "./blockFrames.ts"
import { charge, chargeDue, type ChargeParts, endingOf } from "./charges.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import { LiveCandles } from "./LiveCandles.ts"
import { LiveHolders } from "./LiveHolders.ts"
import { LiveScreens } from "./LiveScreens.ts"
import { type LiveQuotes, makeLiveQuotes } from "./LiveQuotes.ts"
import { MarketFeed } from "./MarketFeed.ts"
import { MarketHub } from "./MarketHub.ts"
import { type MarketGrant, MarketTickets } from "./MarketTickets.ts"
import { readMovers, snapshotOf, type SnapshotSources } from "./snapshots.ts"
import type { Ending, Opening, Topic } from "./Topic.ts"

/** The connections, and what an event stream calls instead of sending messages. */
interface MarketBook extends SessionBook<MarketGrant> {
  /** Subscribes a stream of `enter`. The wire gets its frames, or its end. */
  subscribe(streamId: string, message: SubscribeMessage, nowMs: number): void
}

/** Live connections of the market in this process. */
export class MarketSessions extends Context.Service<MarketSessions, MarketBook>()("fathom/live/market/MarketSessions") {
  /**
   * Settings: `MARKET_SOCKETS` (10,000) limits the connections of this process, `MARKET_REPLAY_BYTES` (256 MiB) the frames
   * kept for resume.
   */
  static readonly layer: Layer.Layer<
    MarketSessions,
    Config.ConfigError,
    | ChainFeed
    | KeyStore
    | MarketFeed
    | MarketReader
    | MarketTickets
    | QuoteTicks
    | RateLimiter
    | SessionStore
    | TradesReader
    | UsageStore
  > = Layer.effect(
    MarketSessions,
    Effect.gen(function* () {
      const feed = yield* MarketFeed
      const chain = yield* ChainFeed
      const monitor = yield* SourceMonitor
      const progress: Progress = { slot: feed.newestSlot(), timeMs: null, isBroken: false, liquidity: [] }
      const sources: SnapshotSources = {
        feed,
        reader: yield* MarketReader,
        trades: yield* TradesReader,
        publishedLiquidity: () => progress.liquidity,
        freshness: (nowMs) => allSources(chain, monitor, nowMs),
        publishedSlot: () => progress.slot
      }
      const openings = yield* Queue.unbounded<Opening>()
      const hub = new MarketHub(
        {
          health: feed.health,
          opening: (opening) => Queue.offerUnsafe(openings, opening),
          released: (topic) => {
            candles.forget(topic)
            quotes.stop(topic)
          },
          detached: (stream) => quotes.detached(stream)
        },
        yield* limits
      )
      const parts = { hub, limiter: yield* RateLimiter, usage: yield* UsageStore }
      const candles = new LiveCandles(hub, sources, yield* Effect.scope)
      const quotes = yield* makeLiveQuotes(parts)
      const isWaiting = yield* Latch.make()
      const screens = new LiveScreens(hub, sources.reader, feed.whole)
      const holders = new LiveHolders(hub, sources.reader, feed.whole)
      const viewsDue = yield* Latch.make()
      const following = { hub, candles, isWaiting, progress, sources }
      const blocks = new BlockTurns(following, yield* Clock.Clock, Effect.runForkWith(yield* Effect.context<never>()))
      const live: LiveParts = { ...parts, ...following, blocks, holders, quotes, screens }

      yield* followBlocks(live)
      yield* Stream.fromQueue(openings).pipe(
        Stream.mapEffect((opening) => keepGoing("Opening a subscription")(openOne(live, opening)), {
          concurrency: OPENINGS,
          unordered: true
        }),
        Stream.runDrain,
        keepRunning("Opening subscriptions"),
        Effect.forkScoped({ startImmediately: true })
      )
      const evaluate = Effect.andThen(viewsDue.await, () => {
        viewsDue.closeUnsafe()
        return Effect.andThen(screens.evaluateDue, holders.lookDue)
      })
      yield* Effect.forever(round("evaluating screens and holders", evaluate)).pipe(
        Effect.forkScoped({ startImmediately: true })
      )
      const book = yield* makeSessions({
        prefix: "fathom_market",
        name: "market socket",
        tickets: yield* MarketTickets,
        hub,
        whole: feed.whole,
        hasScope: ({ scopes }) => scopes.includes("md.read"),
        open: (grant, wire) => Effect.succeed((nowMs) => hub.open(grant, wire, nowMs)),
        everySecond: Effect.andThen(
          pollViews(live),
          Effect.sync(() => viewsDue.openUnsafe())
        )
      })
      return MarketSessions.of({
        ...book,
        subscribe: (streamId, message, nowMs) => void hub.subscribe(streamId, message, nowMs)
      })
    })
  )
}

/** Subscriptions that are opened at the same time. */
const OPENINGS = 64
/** Pause between two looks at topics that wait for their next frame. */
const WAIT = Duration.millis(50)
/** Pause between two frames of an unchanged freshness, and between two rankings, in milliseconds. */
const FRESHNESS_MS = 5000
const MOVERS_MS = 2000
/** Changes of liquidity that are remembered for snapshots: more than come while a store is read. */
const MOST_CHANGES = 5000
const MIB = 1024 * 1024

/** `MARKET_SOCKETS` (10,000) and `MARKET_REPLAY_BYTES` (256 MiB). */
export const limits = Config.all({
  sockets: countSetting("MARKET_SOCKETS", 10_000),
  replayBytes: countSetting("MARKET_REPLAY_BYTES", 256 * MIB)
})

/** The blocks whose frames have been published. Times in milliseconds; null before the first. */
interface Progress {
  slot: number
  timeMs: number | null
  isBroken: boolean
  /** The newest changes of liquidity, oldest first. */
  liquidity: ReadonlyArray<LiquidityRecord>
}

interface LiveParts extends ChargeParts {
  readonly candles: LiveCandles
  readonly isWaiting: Latch.Latch
  readonly progress: Progress
  readonly quotes: LiveQuotes
  readonly screens: LiveScreens
  readonly holders: LiveHolders
  readonly sources: SnapshotSources
  readonly blocks: BlockTurns
}

const NOT_OPENED: Ending = { code: "data_unavailable", message: "The subscription could not be opened: try again." }

/** Charges the first minute of a subscription and sends its snapshot, or ends it. */
const openOne = Effect.fnUntraced(function* (live: LiveParts, opening: Opening) {
  const { blocks, candles, holders, hub, isWaiting, quotes, screens, sources } = live
  const { subscription } = opening
  const { topic } = subscription
  yield* Effect.gen(function* () {
    if (!hub.isWanted(subscription)) {
      return
    }
    if (topic.terms.channel === "quote") {
      return yield* quotes.open(opening)
    }
    const refusal = screens.enter(subscription) ?? holders.enter(subscription)
    if (refusal !== null) {
      return yield* Effect.fail(refusal)
    }
    if (subscription.paidUntilMs <= (yield* Clock.currentTimeMillis)) {
      yield* Effect.catch(charge(live, [subscription]), (error) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) => Effect.fail(endingOf(error, nowMs)))
      )
    }
    const { terms } = topic
    const data = yield* terms.channel === "screen"
      ? screens.open(topic, terms)
      : terms.channel === "holders"
        ? holders.open(topic, terms.mint)
        : snapshotOf(sources, terms)
    const nowMs = yield* Clock.currentTimeMillis
    // One step: no block can come between the data and the number of its snapshot.
    blocks.publishAll()
    hub.opened(opening, data(nowMs), nowMs)
    if (topic.terms.channel === "candles") {
      candles.begin(topic)
      isWaiting.openUnsafe()
    }
  }).pipe(
    Effect.as(null),
    Effect.catch((ending) => Effect.succeed(ending)),
    // Without an end, its reader would wait forever.
    Effect.catchCause((cause) => Effect.as(Effect.logError("A subscription could not be opened", cause), NOT_OPENED)),
    Effect.flatMap((ending) =>
      ending === null
        ? Effect.void
        : Effect.map(Clock.currentTimeMillis, (nowMs) => hub.end(subscription, ending, nowMs))
    )
  )
})

const gapBefore = ({ batch, isAnew, missed }: CountedBatch, { isBroken, slot, timeMs }: Progress): LiveGap | null => {
  const isSource = batch.afterGap || isAnew
  return timeMs === null || !(isSource || missed > 0 || isBroken)
    ? null
    : {
        fromMs: gapStartMs({ slot, timeMs }, batch),
        toMs: batch.timeMs,
        reason: isSource ? "source_gap" : "behind"
      }
}

const noteLiquidity = (progress: Progress, { batch, isAnew }: CountedBatch): void => {
  const before = isAnew ? [] : progress.liquidity
  const added = liquidityOf(batch)
  progress.liquidity = added.length + before.length > 0 ? [...before, ...added].slice(-MOST_CHANGES) : before
}

type Following = Pick<LiveParts, "candles" | "hub" | "isWaiting" | "progress" | "sources">

/**
 * Makes the frames of blocks in turns of the event loop, and publishes the frames of a block together. A snapshot has
 * everything that is applied, so the frames of every applied block are published before it.
 */
export class BlockTurns {
  readonly #following: Following
  readonly #clock: Clock.Clock
  readonly #fork: (log: Effect.Effect<void>) => unknown
  /** Steps that wait. */
  #left = 0
  // One item for each step of a block. The last one takes whatever is left.
  readonly #steps = new TurnQueue<{ readonly of: Generator<void, void>; readonly isLast: boolean }>(
    ({ isLast, of }) => {
      this.#left--
      try {
        if (isLast) {
          wholeOf(of)
        } else {
          of.next()
        }
      } catch (defect) {
        this.#fork(Effect.logError("Publishing a block to the market socket failed and is skipped", defect))
      }
    }
  )

  constructor(following: Following, clock: Clock.Clock, fork: (log: Effect.Effect<void>) => unknown) {
    this.#following = following
    this.#clock = clock
    this.#fork = fork
  }

  /** Takes a block that is applied. */
  take(counted: CountedBatch): void {
    const of = this.#publish(counted)
    for (let left = stepsOf(counted.batch); left > 0; left--) {
      this.#left++
      this.#steps.push({ of, isLast: left === 1 })
    }
  }

  /** Waits until no block is half applied and the frames of every applied block are published. */
  readonly published: Effect.Effect<void> = Effect.suspend(() =>
    Effect.andThen(this.#following.sources.feed.whole, () =>
      this.#left === 0 ? Effect.void : Effect.andThen(ownTurn, this.published)
    )
  )

  /** Publishes the frames of every applied block. */
  publishAll(): void {
    // Applies the rest of a block that is half applied, and takes it.
    this.#following.sources.feed.newestSlot()
    this.#steps.flush()
  }

  /** Drops the blocks that are not published yet. */
  end(): void {
    this.#steps.clear()
    this.#left = 0
  }

  *#publish(counted: CountedBatch): Generator<void, void> {
    const { candles, hub, isWaiting, progress, sources } = this.#following
    const { batch } = counted
    const gap = gapBefore(counted, progress)
    progress.isBroken = true
    const frames = yield* blockFrames(hub, batch, gap)
    const nowMs = this.#clock.currentTimeMillisUnsafe()
    hub.publish(frames, nowMs)
    noteLiquidity(progress, counted)
    candles.note(batch, this.#clock)
    progress.slot = batch.slot
    progress.timeMs = batch.timeMs
    sources.feed.published(nowMs)
    progress.isBroken = false
    if (candles.isWaiting) {
      isWaiting.openUnsafe()
    }
  }
}

/** Publishes the frames of blocks, candles and prices until the scope closes. */
export const followBlocks = Effect.fnUntraced(function* ({
  blocks,
  candles,
  isWaiting,
  sources
}: Pick<LiveParts, "blocks" | "candles" | "isWaiting" | "sources">) {
  yield* Effect.addFinalizer(() => Effect.sync(() => blocks.end()))
  yield* sources.feed.blocks.pipe(
    Stream.runForEach((counted) => Effect.sync(() => blocks.take(counted))),
    keepRunning("Publishing blocks to the market socket"),
    Effect.forkScoped({ startImmediately: true })
  )
  // The frames of a block come before the candles that contain it. While block follows block, candles do not wait forever.
  const send = Effect.timeoutOption(blocks.published, WAIT).pipe(
    Effect.andThen(sources.feed.whole),
    Effect.andThen(() => {
      blocks.publishAll()
      return candles.send
    })
  )
  const sendWaiting = Effect.gen(function* () {
    yield* isWaiting.await
    isWaiting.closeUnsafe()
    yield* send
    while (candles.isWaiting) {
      yield* Effect.sleep(WAIT)
      yield* send
    }
  })
  yield* Effect.forever(round("sending candles and prices", sendWaiting)).pipe(
    Effect.forkScoped({ startImmediately: true })
  )
})

const statesOf = (all: ReturnType<SnapshotSources["freshness"]>): string =>
  jsonOf(all.map(({ reason, source, status }) => [source, status, reason]))

/** Publishes due rankings and freshness, and charges subscriptions whose minute has ended. */
const pollViews = (live: LiveParts): Effect.Effect<void> => {
  const { hub, sources } = live
  // By the monotonic clock.
  const sent = new WeakMap<Topic, { readonly text: string; readonly atMs: number }>()
  const sinceSent = (topic: Topic, clock: Clock.Clock): number =>
    monotonicMs(clock) - (sent.get(topic)?.atMs ?? Number.NEGATIVE_INFINITY)
  const publish = (topic: Topic, type: string, text: string, data: unknown, clock: Clock.Clock) => {
    sent.set(topic, { text, atMs: monotonicMs(clock) })
    const frames = new TopicFrames()
    frames.add([topic], type, () => data)
    hub.publish(frames.batches, clock.currentTimeMillisUnsafe())
  }
  const movers = Effect.fnUntraced(function* (topic: Topic, clock: Clock.Clock) {
    const { terms } = topic
    if (terms.channel !== "movers" || sinceSent(topic, clock) < MOVERS_MS) {
      return
    }
    yield* sources.feed.whole
    const data = yield* readMovers(sources, terms)
    const text = jsonOf(data)
    if (text !== sent.get(topic)?.text) {
      publish(topic, "movers", text, data, clock)
    }
  })
  const freshness = (topic: Topic, clock: Clock.Clock) => {
    const all = sources.freshness(clock.currentTimeMillisUnsafe())
    const text = statesOf(all)
    if (text !== sent.get(topic)?.text || sinceSent(topic, clock) >= FRESHNESS_MS) {
      publish(topic, "freshness", text, { sources: all }, clock)
    }
  }
  return Effect.gen(function* () {
    const clock = yield* Clock.Clock
    yield* sources.feed.whole
    for (const topic of Array.from(hub.topicsOf("freshness"))) {
      freshness(topic, clock)
    }
    for (const topic of Array.from(hub.topicsOf("movers"))) {
      yield* Effect.ignore(movers(topic, clock))
    }
    yield* chargeDue(live)
  })
}
