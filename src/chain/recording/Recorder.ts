/**
 * Keeps account writes and blocks in files while `RECORD` is `on`. The feed of accounts passes through; blocks are read
 * from the node once more, in a thread of their own, and as JSON. A disk that is slow, full or away costs the recording
 * and nothing else.
 */
import { Clock, Duration, Effect, Layer, Stream } from "effect"
import { keepGoing, keepRunning } from "../../operations/keepRunning.ts"
import { Readings } from "../../operations/Readings.ts"
import * as SourceMonitor from "../../operations/SourceMonitor.ts"
import { type BlockFeedOptions, makeBlockFeed } from "../blocks/BlockFeedRpc.ts"
import { type ChainEvent, ChainFeed } from "../ChainFeed.ts"
import type { RawBlock } from "./rawBlock.ts"
import type { Moment } from "./recordEntry.ts"
import { isRecording, recordBounds, recordDir } from "./recordSettings.ts"
import { RecordWriter } from "./RecordWriter.ts"

/** The module that runs in the thread which reads blocks. */
const worker = new URL("./rawBlockWorker.ts", import.meta.url)

/** What waits is written this often. A process that is killed loses this much. */
const WRITTEN_EVERY = Duration.seconds(1)
/** The longest write at the end. */
const LAST_WRITE = Duration.seconds(2)
/** The pause after a failure. */
const AFTER_FAILURE = Duration.seconds(10)
/** The recording is stale when nothing was written for this long, in milliseconds. */
const STALE_MS = 30_000

type Feed = ChainFeed["Service"]

const momentOf = (feed: Feed, heardAtMs: number): Moment => {
  const { slot, state } = feed.freshness()
  const { epoch, unixTimestamp } = feed.clock()
  return { slot, heardAtMs, state, epoch, unixTimestamp }
}

/** The moment of an event. What comes after a gap ends the stretch before it, though the feed is live again by now. */
const momentAfter = (event: ChainEvent, feed: Feed, heardAtMs: number): Moment => {
  const moment = momentOf(feed, heardAtMs)
  return event._tag === "Snapshot" && event.isAfterGap === true ? { ...moment, state: "reloading" } : moment
}

const reportState = Effect.fnUntraced(function* (writer: RecordWriter, folder: string) {
  const monitor = yield* SourceMonitor.SourceMonitor
  yield* monitor.report("recording", (nowMs) => {
    const { hasFailed, slot, writtenAtMs } = writer.state()
    const age = SourceMonitor.stateByAge(writtenAtMs, STALE_MS, nowMs)
    return {
      ...age,
      status: hasFailed && age.status === "known" ? "partial" : age.status,
      ...(hasFailed && { advice: `RECORD_DIR (${folder}) cannot be written: give it room, or name another folder` }),
      ...(slot > 0 && { slot })
    }
  })
  const readings = yield* Readings
  const gauge = (name: string, help: string, read: () => number) => readings.report({ name, help, kind: "gauge" }, read)
  const counter = (name: string, help: string, read: () => number) =>
    readings.report({ name, help, kind: "counter" }, read)
  yield* gauge("fathom_recording_bytes", "Size of the recording's files.", () => writer.state().bytes)
  yield* gauge("fathom_recording_accounts", "Accounts that are recorded.", () => writer.state().accounts)
  yield* counter(
    "fathom_recording_written_bytes_total",
    "Bytes written to the recording.",
    () => writer.state().writtenBytes
  )
  yield* counter(
    "fathom_recording_failures_total",
    "Writes of the recording that failed.",
    () => writer.state().failures
  )
})

/** Writes what waits, again and again. A failure is shown as the state of the recording. */
const keepWriting = (writer: RecordWriter, feed: Feed) => {
  const write = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    // Before the first slot there is nothing to write.
    feed.freshness().slot === 0
      ? Effect.void
      : Effect.tryPromise({ try: () => writer.flush(momentOf(feed, nowMs)), catch: (error) => error })
  )
  return write.pipe(
    Effect.as(WRITTEN_EVERY),
    Effect.catch((error) => {
      const first = writer.state().failures === 1
      return SourceMonitor.noteFailure("recording", error).pipe(
        Effect.andThen((first ? Effect.logWarning : Effect.logDebug)("The recording could not be written", error)),
        Effect.as(AFTER_FAILURE)
      )
    }),
    Effect.flatMap((pause) => Effect.sleep(pause)),
    Effect.forever,
    keepRunning("Writing the recording", "recording")
  )
}

/** Reads blocks from the newest on, and from its last block on after a chain has ended. */
const recordBlocks = Effect.fnUntraced(function* (writer: RecordWriter, options: Partial<BlockFeedOptions>) {
  const feed = yield* makeBlockFeed<RawBlock, RawBlock>({ worker, ...options }, (message) => message)
  let newest: number | null = null
  return yield* Effect.gen(function* () {
    const genesis = yield* Effect.orElseSucceed(feed.genesis, () => null)
    writer.setGenesis(genesis)
    yield* feed.follow(newest).pipe(
      Stream.runForEach((event) =>
        Effect.map(Clock.currentTimeMillis, (heardAtMs) => {
          if (event._tag === "Gap") {
            const { from, reason, to } = event
            writer.takeGap({ from, to, reason, heardAtMs })
            return
          }
          const { blockTimeEstimated = false, ...block } = event.block
          newest = block.slot
          writer.takeBlock({ ...block, blockTimeEstimated, heardAtMs })
        })
      )
    )
    newest = null
  }).pipe(
    keepGoing("Recording blocks"),
    Effect.andThen(Effect.sleep(WRITTEN_EVERY)),
    Effect.forever,
    keepRunning("Recording blocks")
  )
})

/** The feed, with every event given to the writer before anybody else sees it. */
const tapped = (feed: Feed, writer: RecordWriter): Feed =>
  ChainFeed.of({
    ...feed,
    watch: (addresses) =>
      Effect.suspend(() => {
        const added = Array.from(addresses)
        writer.watch(added)
        return feed.watch(added)
      }),
    unwatch: (addresses) =>
      Effect.suspend(() => {
        const left = Array.from(addresses)
        writer.unwatch(left)
        return feed.unwatch(left)
      }),
    events: Stream.tap(feed.events, (event) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => writer.take(event, momentAfter(event, feed, nowMs)))
    )
  })

const record = Effect.fnUntraced(function* (options: Partial<BlockFeedOptions>) {
  const feed = yield* ChainFeed
  const folder = yield* recordDir
  const writer = new RecordWriter({ folder, bounds: yield* recordBounds, run: crypto.randomUUID() })
  yield* reportState(writer, folder)
  yield* Effect.forkScoped(keepWriting(writer, feed))
  // The block feed of the market reports its own state. This one only counts for the recording.
  yield* recordBlocks(writer, options).pipe(Effect.provide(SourceMonitor.layer), Effect.forkScoped)
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
      // A disk that does not answer holds no shutdown up.
      Effect.ignore(
        Effect.timeoutOption(
          Effect.tryPromise(() => writer.flush(momentOf(feed, nowMs))),
          LAST_WRITE
        )
      )
    )
  )
  return tapped(feed, writer)
})

/** Records the accounts of this feed, and the blocks of the nodes at `SOLANA_RPC_URL` or in the options. */
export const layer = (options: Partial<BlockFeedOptions> = {}) => Layer.effect(ChainFeed, record(options))

type Recorded = ReturnType<typeof layer>

/** The feed as it is, or recorded when `RECORD` is `on`. */
export const recordedWhereAsked =
  (options: Partial<BlockFeedOptions> = {}) =>
  <A, E, R>(feed: Layer.Layer<A | ChainFeed, E, R>) =>
    Layer.unwrap(
      Effect.map(
        isRecording,
        (
          isOn
        ): Layer.Layer<A | ChainFeed, E | Layer.Error<Recorded>, R | Exclude<Layer.Services<Recorded>, ChainFeed>> =>
          isOn ? layer(options).pipe(Layer.provideMerge(feed)) : feed
      )
    )
