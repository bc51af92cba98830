/**
 * Plays a recording through the ports of a node. Accounts and blocks arrive in the recorded order, and the clock of the
 * service shows the recorded time. Blocks from before the first slot come first, as fast as they are taken, as a node's
 * history does.
 */
import { Clock, type Config, Context, Duration, Effect, Latch, Layer, Queue, Schedule, Stream } from "effect"
import { createHash } from "node:crypto"
import { zstdDecompressSync } from "node:zlib"
import { toBase58 } from "../../domain/base58.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { SourceMonitor } from "../../operations/SourceMonitor.ts"
import { fixedReads } from "../accounts/fixedReads.ts"
import type { BlockEvent } from "../blocks/BlockFeed.ts"
import { type ChainEvent, ChainFeed, type Freshness } from "../ChainFeed.ts"
import { decodeBlock } from "../decoding/decodeBlock.ts"
import type { TradeBlock } from "../decoding/TradeBlock.ts"
import { TradeBlocks } from "../decoding/TradeBlocks.ts"
import { type Played, PlayedAccounts, type PlayedFile, playedFiles, slotOf } from "./playback.ts"
import { RecordingUnreadable, summarizeRecording } from "./readRecording.ts"
import { recordDir } from "./recordSettings.ts"
import { ReplayClock } from "./ReplayClock.ts"
import { ReplayPace } from "./ReplayPace.ts"
import type { Moment, RecordedBlock } from "./recordEntry.ts"

/** Blocks that wait for their reader. */
const WAITING_BLOCKS = 8
/** Blocks of slots up to here after the last one end the replay, should the last slot have none. */
const LAST_BLOCK = 150
/** The longest pause between two things that arrived. A longer silence of the recording is left out. */
const LONGEST_PAUSE_MS = 5000

export interface ReplayOptions {
  readonly folder: string
  /** Null for 15 seconds after the first slot that is known, or that slot when the recording is shorter. */
  readonly from: number | null
  /** The last slot, included; null for the end of the recording. */
  readonly to: number | null
  /** Recorded milliseconds that pass in one; null for as fast as readers take them. */
  readonly speed: number | null
  /** True to wait after the first slot until the replay is told to go on. */
  readonly isStepping?: boolean
}

/** Hears what a replay plays, before the readers of its accounts and with the readers of its blocks. */
export interface ReplayWatcher {
  /** Everything of earlier slots was played, and nothing of this one. `moment` is where the account feed stood. The replay waits for it. */
  slotBegins(slot: number, moment: Moment): Effect.Effect<void>
  /** A block, or blocks that are missing. Blocks come in order, some slots after their accounts. */
  block(event: BlockEvent<TradeBlock>): void
  /** Nothing comes any more. */
  ended(): void
}

/** A recording that is opened at its first slot. */
export interface OpenReplay extends ReplayOptions {
  readonly from: number
  readonly clock: ReplayClock
  readonly pace: ReplayPace
  /** Files from the first one on, and the place of the one that has the first slot. */
  readonly files: ReadonlyArray<PlayedFile>
  readonly first: number
  readonly accounts: PlayedAccounts
  readonly moment: Moment
  readonly watchers: Set<ReplayWatcher>
}

/** The replay of this process; null for none. The program provides it together with its clock. */
export const CurrentReplay = Context.Reference<OpenReplay | null>("fathom/chain/recording/CurrentReplay", {
  defaultValue: () => null
})

/** Applies what arrived up to the first covered moment that is wanted. Null when the file has none. */
const reach = (
  played: Iterable<Played>,
  accounts: PlayedAccounts,
  isWanted: (moment: Moment) => boolean
): Moment | null => {
  for (const each of played) {
    accounts.apply(each)
    if (each._tag === "Moment" && each.stretch !== null && isWanted(each.moment)) {
      return each.moment
    }
  }
  return null
}

/** Fails with the slots that are known. */
const outside = Effect.fnUntraced(function* (folder: string, slot: number) {
  const { covered } = yield* summarizeRecording(folder)
  const known = covered.map(({ from, to }) => `${from} to ${to}`).join(", ")
  return yield* new RecordingUnreadable({
    folder,
    detail: `does not have slot ${slot}. It has ${known === "" ? "none" : known}`
  })
})

/** Opens the recording at the first moment that is wanted, reading from the file at `start` on. Null without one. */
const openAt = Effect.fnUntraced(function* (
  options: ReplayOptions,
  files: ReadonlyArray<PlayedFile>,
  { isWanted, start }: { readonly isWanted: (moment: Moment) => boolean; readonly start: number }
) {
  const accounts = new PlayedAccounts()
  for (const [at, file] of files.entries()) {
    const played = at < start ? null : yield* file.read
    const moment = played === null ? null : reach(played, accounts, isWanted)
    if (moment !== null) {
      const clock = new ReplayClock(yield* Clock.Clock, moment.heardAtMs)
      const { isStepping = false, speed } = options
      const pace = new ReplayPace(moment.slot, { isStepping, speed })
      const opened: OpenReplay = {
        ...options,
        from: moment.slot,
        clock,
        pace,
        files,
        first: at,
        accounts,
        moment,
        watchers: new Set()
      }
      return opened
    }
  }
  return null
})

/** Opens the recording at its first slot. */
export const openReplay = Effect.fnUntraced(function* (options: ReplayOptions) {
  const { folder, from, to } = options
  const files = yield* playedFiles(folder)
  const later = files.findIndex(({ slot }) => from === null || slot > from)
  const start = Math.max(0, (later === -1 ? files.length : later) - 1)
  const first = yield* openAt(options, files, { isWanted: ({ slot }) => slot >= (from ?? 1), start })
  // A stretch that begins later does not have the slot.
  const isKnown = first !== null && (from === null || first.from - from <= NEAR) && (to === null || to >= first.from)
  if (!isKnown) {
    return yield* outside(folder, from ?? to ?? 0)
  }
  if (from !== null) {
    return first
  }
  const settledMs = first.moment.heardAtMs + SETTLED_MS
  const isWanted = ({ heardAtMs, slot }: Moment) => heardAtMs >= settledMs && (to === null || slot <= to)
  return (yield* openAt(options, files, { isWanted, start })) ?? first
})

/** A service that starts reads its accounts for some seconds. Without a first slot, a replay begins after them. */
const SETTLED_MS = 15_000

/** The state is known once a second, which is about this many slots. */
const NEAR = 8

/** The block; null when its bytes are no block. */
const blockIn = ({ json, slot }: RecordedBlock) => {
  try {
    return decodeBlock(slot, JSON.parse(zstdDecompressSync(json).toString()))
  } catch {
    return null
  }
}

const decoded = (recorded: RecordedBlock): BlockEvent<TradeBlock> => {
  const { blockTimeEstimated, blockTimeMs, slot } = recorded
  const block = blockIn(recorded)
  return block === null
    ? { _tag: "Gap", from: slot, to: slot, reason: "unreadable" }
    : { _tag: "Block", block: { ...block, blockTimeMs, ...(blockTimeEstimated && { blockTimeEstimated }) } }
}

/** How far a replay is. */
interface Progress {
  moment: Moment
  block: number
  blockTimeMs: number | null
  isDone: boolean
  /** True once a file was left out. */
  hasHole: boolean
}

const make = Effect.gen(function* () {
  const opened = yield* CurrentReplay
  if (opened === null) {
    const detail = "is played by the service alone: without REPLAY=on this command answers from another market"
    return yield* new RecordingUnreadable({ folder: yield* recordDir, detail })
  }
  const { accounts, clock, files, first, folder, from, pace, to, watchers } = opened
  const watched = new Set<string>()
  const events = yield* Queue.unbounded<ChainEvent>()
  const blocks = yield* Queue.bounded<BlockEvent<TradeBlock>>(WAITING_BLOCKS)
  const isFollowed = yield* Latch.make()
  const progress: Progress = { moment: opened.moment, block: 0, blockTimeMs: null, isDone: false, hasHole: false }

  const freshness = (): Freshness => {
    const { heardAtMs, slot, state } = progress.moment
    // What was kept in a gap is older than its moment says.
    return { slot, heardAtMs, state: state === "live" ? "recorded" : state === "reloading" ? "loading" : state }
  }
  const emit = (event: ChainEvent) => {
    const { accounts: changed, slot } = event._tag === "Writes" ? event : event.snapshot
    const own = new Map(Array.from(changed).filter(([address]) => watched.has(address)))
    if (own.size > 0) {
      Queue.offerUnsafe(
        events,
        event._tag === "Writes"
          ? { _tag: "Writes", slot, accounts: own }
          : { _tag: "Snapshot", snapshot: { slot, accounts: own } }
      )
    }
  }

  /** Waits until the account events are taken, so that no reader falls behind the clock. */
  const taken = Effect.suspend(() => Queue.size(events)).pipe(
    Effect.repeat({ until: (size) => size === 0, schedule: Schedule.spaced("1 millis") })
  )

  const play = Effect.fnUntraced(function* (each: Played) {
    accounts.apply(each)
    switch (each._tag) {
      case "Whole":
      case "Event":
        progress.moment = each.moment
        return emit(each.event)
      case "Moment":
        progress.moment = each.moment
        return
      case "Block": {
        progress.block = each.block.slot
        progress.blockTimeMs = each.block.blockTimeMs
        const event = decoded(each.block)
        watchers.forEach((watcher) => watcher.block(event))
        return void (yield* Queue.offer(blocks, event))
      }
      case "Gap": {
        const { from, reason, to } = each.gap
        const event: BlockEvent<TradeBlock> = { _tag: "Gap", from, to, reason }
        watchers.forEach((watcher) => watcher.block(event))
        return void (yield* Queue.offer(blocks, event))
      }
      case "Unwatched":
    }
  })

  /** True when nothing of the replay comes after this. Accounts are ahead of their blocks by a few slots. */
  const isEnd = (each: Played): boolean =>
    to !== null &&
    ((each._tag === "Block" && each.block.slot >= to) || (each._tag === "Moment" && each.moment.slot > to + LAST_BLOCK))
  const isBeyond = (each: Played): boolean =>
    to !== null &&
    (((each._tag === "Event" || each._tag === "Whole" || each._tag === "Moment") && each.moment.slot > to) ||
      (each._tag === "Block" && each.block.slot > to))

  /** What a file holds; null when it cannot be read: the recorder may have removed it. */
  const readOrSkip = <A, E>(read: Effect.Effect<A, E>) =>
    Effect.catchCause(read, (cause) => {
      progress.hasHole = true
      return Effect.as(Effect.logWarning("A file of the recording cannot be read, and is left out", cause), null)
    })

  /** The file that is played, and how much of it was. A replay that failed goes on there. */
  const place = { file: 0, played: 0, atMs: opened.moment.heardAtMs }
  let begunSlot = from
  /** Tells the watchers that the accounts reach a later slot. */
  const begin = Effect.fnUntraced(function* (each: Played, slot: number | null) {
    if (slot !== null && slot > begunSlot && each._tag !== "Block") {
      begunSlot = slot
      for (const watcher of watchers) {
        yield* watcher.slotBegins(slot, progress.moment)
      }
    }
  })
  const run = Effect.gen(function* () {
    yield* isFollowed.await
    for (; place.file < files.length; place.file++, place.played = 0) {
      const at = place.file
      const played = yield* readOrSkip(files[at]?.read ?? Effect.succeed(null))
      let number = 0
      for (const each of played ?? []) {
        if (number++ < place.played) {
          continue
        }
        place.played = number
        const isHistory = at < first || each.atMs <= opened.moment.heardAtMs
        if (isHistory) {
          // Their accounts are known already.
          yield* each._tag === "Block" || each._tag === "Gap" ? play(each) : Effect.void
          continue
        }
        if (isBeyond(each)) {
          if (isEnd(each)) {
            return
          }
          continue
        }
        const slot = slotOf(each)
        yield* slot === null ? Effect.void : pace.reach(slot)
        const recordedMs = Math.min(LONGEST_PAUSE_MS, Math.max(0, each.atMs - place.atMs))
        const pauseMs = pace.pauseMs(slot ?? pace.slot, recordedMs)
        yield* pauseMs > 0 ? Effect.sleep(Duration.millis(pauseMs)) : Effect.void
        place.atMs = Math.max(place.atMs, each.atMs)
        clock.advance(place.atMs)
        yield* begin(each, slot)
        yield* play(each)
        yield* taken
        if (isEnd(each)) {
          return
        }
      }
    }
  })
  yield* run.pipe(
    Effect.andThen(
      Effect.suspend(() => {
        progress.isDone = true
        pace.end()
        watchers.forEach((watcher) => watcher.ended())
        return Effect.logInfo("The replay has ended; its last state stays", { slot: progress.moment.slot, folder })
      })
    ),
    keepRunning("The replay", "replay"),
    Effect.forkScoped
  )

  const monitor = yield* SourceMonitor
  const last = to ?? files[files.length - 1]?.slot ?? from
  yield* monitor.report("replay", () => {
    const { heardAtMs, slot } = progress.moment
    const share = progress.isDone ? 1 : Math.min(1, Math.max(0, (slot - from) / Math.max(1, last - from)))
    const status = progress.hasHole ? "partial" : "known"
    return { observedAtMs: heardAtMs, status, slot, ...((to !== null || progress.isDone) && { share }) }
  })
  yield* monitor.report("block_feed", () => ({
    observedAtMs: progress.blockTimeMs,
    status: progress.blockTimeMs === null ? "unavailable" : "known",
    ...(progress.block > 0 && { slot: progress.block, head: progress.block })
  }))

  const slotNow = () => progress.moment.slot
  const reads = fixedReads(accounts.all, slotNow)
  const feed = ChainFeed.of({
    ...reads,
    watch: (addresses) =>
      Effect.sync(() => {
        const added = Array.from(new Set(addresses)).filter((address) => !watched.has(address))
        if (added.length > 0) {
          added.forEach((address) => watched.add(address))
          Queue.offerUnsafe(events, { _tag: "Snapshot", snapshot: reads.snapshotOf(added) })
        }
      }),
    unwatch: (addresses) =>
      Effect.sync(() => {
        for (const address of addresses) {
          watched.delete(address)
        }
      }),
    events: Stream.fromQueue(events),
    freshness,
    clock: () => {
      const { epoch, slot, unixTimestamp } = progress.moment
      return { epoch, slot, unixTimestamp }
    },
    commitment: "finalized"
  })

  // Each replay is a chain of its own: what an earlier one stored is never continued.
  const genesis = toBase58(createHash("sha256").update(`replay ${crypto.randomUUID()}`).digest())
  const tradeBlocks = TradeBlocks.of({
    follow: (after) =>
      Stream.fromEffectDrain(isFollowed.open).pipe(
        Stream.concat(Stream.fromQueue(blocks)),
        Stream.filter((event) => (event._tag === "Block" ? event.block.slot : event.to) > (after ?? 0))
      ),
    read: (slot) => Effect.succeed({ _tag: "Gap", from: slot, to: slot, reason: "cleaned_up" }),
    list: () => Effect.succeed([]),
    genesis: Effect.succeed(genesis),
    freshness
  })
  return Context.make(ChainFeed, feed).pipe(Context.add(TradeBlocks, tradeBlocks))
})

/** The accounts and blocks of the open recording. */
export const layer: Layer.Layer<ChainFeed | TradeBlocks, RecordingUnreadable | Config.ConfigError> =
  Layer.effectContext(make)
