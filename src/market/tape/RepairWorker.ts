/**
 * Reads missing blocks again, and earlier blocks from newest to oldest, while new blocks arrive. Reads at most
 * `REPAIR_RATE` blocks a second.
 */
import { countSetting, durationSetting } from "../../domain/countSetting.ts"
import { Clock, Config, Duration, Effect } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import { SourceMonitor, type SourceState } from "../../operations/SourceMonitor.ts"
import type { BlockPlace } from "../model/Gaps.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"
import { priceAgain, type PricingParts } from "./priceAgain.ts"
import { makeSnapshots, type SnapshotSettings } from "./takeSnapshots.ts"
import { snapshotState } from "./snapshotState.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { TradeFeed } from "./TradeFeed.ts"
import { type ReadBack, readBack } from "./readBack.ts"
import { lacksRepairs, type RebuildParts, rebuildTape, wouldLose } from "./rebuildTape.ts"
import { type HistoryEnd, lacksHistory, nextJob, pauseMs, type RepairJob, repairOf, requestOf } from "./repairPlan.ts"
import type { Tape } from "./Tape.ts"

export interface RepairSettings {
  /** Blocks a second. */
  readonly rate: number
  /** How far back earlier blocks are read; null for not at all. */
  readonly history: Duration.Duration | null
  /** The first block of the chain, where all blocks since are read, whatever `history` says. */
  readonly first?: BlockPlace | undefined
  readonly snapshots: SnapshotSettings
}

export interface RepairParts extends PricingParts, Pick<RebuildParts, "limits"> {
  readonly feed: TradeFeed["Service"]
  readonly tape: RebuildParts["tape"] &
    Pick<Tape["Service"], "backfilling" | "capture" | "missing" | "noteGaps" | "snapshots">
  /** The blocks that are not stored yet. */
  readonly unstored: () => ReadonlyArray<StoredBatch>
}

/** `REPAIR_RATE` (20 blocks a second) and `HISTORY` (24 hours beside a node, otherwise none). */
export const repairSettings = Config.all({
  rate: countSetting("REPAIR_RATE", 20),
  history: Config.option(durationSetting("HISTORY"))
})

const IDLE = Duration.seconds(1)
/** Memory is rebuilt at most every 30 seconds, and for at most a tenth of the time. */
const REBUILD_MS = 30_000
const REBUILD_SHARE = 10
const LOGGED_MS = 30_000
/** New blocks after so long without any mean that the node was away. Shorter outages make short pauses. */
const SILENT_MS = 10_000

/** The pause after a rebuild, in milliseconds. */
export const rebuildPauseMs = (took: Duration.Duration): number =>
  Math.max(REBUILD_MS, REBUILD_SHARE * Duration.toMillis(took))

/**
 * The state of a worker. Times come from the monotonic clock, in milliseconds; `returnedAtMs` is a time of the wall
 * clock.
 */
interface Work {
  nextRebuildMs: number
  nextLogMs: number
  /** True while memory may lack what this worker has read. */
  hasRead: boolean
  history: { tries: number; nextTryAtMs: number; isGone: boolean }
  progress: TradeProgress | null
  blocks: number
  /** The newest stored block, when it was last looked at, and how long it has been the newest. */
  newest: { slot: number | null; seenMs: number; stillMs: number }
  /** When blocks last arrived after a silence. */
  returnedAtMs: number
}

const historyEnd = ({ first, history }: Pick<RepairSettings, "first" | "history">, nowMs: number): HistoryEnd => {
  const age = history === null ? 0 : Duration.toMillis(history)
  return { fromMs: first?.timeMs ?? (age > 0 ? nowMs - age : null), firstSlot: first?.slot ?? 0 }
}

/**
 * The share of the history that was read, from 0 to 1. It is 1 without a history, and once the first block of the chain
 * was read.
 */
export const historyShare = (progress: TradeProgress, end: HistoryEnd, nowMs: number): number =>
  end.fromMs === null || !lacksHistory(progress, end)
    ? 1
    : Math.min(1, Math.max(0, (nowMs - progress.readFrom * 1000) / (nowMs - end.fromMs)))

/** True while blocks of the history are still to be read, or nothing was read yet. */
const isHistoryOpen = ({ history }: Work, progress: TradeProgress | null, end: HistoryEnd): boolean =>
  end.fromMs !== null && !history.isGone && (progress === null || lacksHistory(progress, end))

const noted = (work: Work, job: RepairJob, { blocks, end }: ReadBack, hadRead: boolean, nowMs: number): void => {
  work.blocks += blocks.length
  work.hasRead = hadRead || blocks.length > 0 || end !== "failed"
  if (job._tag === "History") {
    const tries = end === "failed" && blocks.length === 0 ? work.history.tries + 1 : 0
    const isGone = end === "gone"
    work.history = { tries, isGone, nextTryAtMs: isGone || tries > 0 ? nowMs + pauseMs(isGone ? 20 : tries) : nowMs }
  }
}

/**
 * Looks whether blocks arrive. When they do after a silence, the history is due at once; `nextJob` does the same for gaps.
 */
const noteArrivals = (work: Work, slot: number | null, nowMs: number, seenMs: number): void => {
  const { newest } = work
  const isStill = slot === newest.slot
  if (!isStill && newest.stillMs >= SILENT_MS) {
    work.returnedAtMs = nowMs
    work.history = work.history.isGone ? work.history : { tries: 0, nextTryAtMs: seenMs, isGone: false }
  }
  work.newest = { slot, seenMs, stillMs: isStill ? newest.stillMs + (seenMs - newest.seenMs) : 0 }
}

/**
 * Makes the worker. Its `step` reads at most one stretch of blocks and returns how long to wait before the next.
 * `isHistoryRead` is true once nothing of the history is left that the node has.
 */
export const makeRepairs = Effect.fnUntraced(function* (parts: RepairParts, settings: RepairSettings) {
  const { feed, stores, tape } = parts
  const { blocks } = stores
  const rate = Math.max(1, settings.rate)
  const clock = yield* Clock.Clock
  const work: Work = {
    nextRebuildMs: Number.NEGATIVE_INFINITY,
    nextLogMs: Number.NEGATIVE_INFINITY,
    hasRead: true,
    history: { tries: 0, nextTryAtMs: Number.NEGATIVE_INFINITY, isGone: false },
    progress: null,
    blocks: 0,
    newest: { slot: null, seenMs: monotonicMs(clock), stillMs: 0 },
    returnedAtMs: Number.NEGATIVE_INFINITY
  }

  tape.backfilling(historyEnd(settings, yield* Clock.currentTimeMillis).fromMs)
  yield* Effect.addFinalizer(() => Effect.sync(() => tape.backfilling(null)))
  const flush = Effect.suspend(() => blocks.append(parts.unstored()))
  const snapshots = yield* makeSnapshots(parts, settings.snapshots, flush)
  /**
   * True when the store has repairs that memory lacks. Asks the store each time: it may carry out a repair that seemed
   * to fail, and another process may have repaired.
   */
  const isBehind = Effect.map(
    blocks.progress,
    (progress) => progress !== null && lacksRepairs(tape.missing(), progress)
  )
  // Runs at the end, when no step is in progress any more.
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(
      Effect.orElseSucceed(isBehind, () => true),
      (lacks) => (lacks ? Effect.void : snapshots.atStop)
    )
  )
  const { every } = settings.snapshots
  if (every !== null) {
    const pace = { every, sinceMs: yield* Clock.currentTimeMillis }
    yield* (yield* SourceMonitor).report("snapshot", (nowMs) => snapshotState(tape.snapshots(), nowMs, pace))
  }

  const read = Effect.fnUntraced(function* (job: RepairJob, nowMs: number) {
    // There is no use in reading blocks that the store does not take.
    yield* blocks.repairable
    const hadRead = work.hasRead
    // A repair that fails here may still be carried out by the store.
    work.hasRead = true
    const found = yield* readBack(feed, requestOf(job, historyEnd(settings, nowMs).fromMs, 2 * rate))
    const priced = yield* priceAgain(parts, found.blocks, nowMs)
    yield* blocks.repair(repairOf(job, found, priced, nowMs))
    noted(work, job, found, hadRead, monotonicMs(clock))
    return found
  })

  const log = (progress: TradeProgress, job: RepairJob, nowMs: number) => {
    if (monotonicMs(clock) < work.nextLogMs) {
      return Effect.void
    }
    work.nextLogMs = monotonicMs(clock) + LOGGED_MS
    const open = progress.gaps.filter(({ state }) => state === "open").length
    const share = historyShare(progress, historyEnd(settings, nowMs), nowMs)
    const annotations = { blocks: work.blocks, gapsOpen: open, historyShare: Math.floor(share * 10_000) / 10_000 }
    return Effect.logInfo(job._tag === "Gap" ? "Missing blocks are read again" : "Earlier blocks are read", annotations)
  }

  /**
   * Rebuilds memory when the store has repairs that memory lacks. Does so once nothing is left to read, and before that
   * after a pause since the last rebuild, unless memory has blocks that the store has lost.
   */
  const refresh = Effect.fnUntraced(function* (isIdle: boolean) {
    const isLast = isIdle && work.hasRead
    if (!isLast && monotonicMs(clock) < work.nextRebuildMs) {
      return
    }
    const progress = yield* blocks.progress
    const lacks = progress !== null && lacksRepairs(tape.missing(), progress)
    if (lacks && wouldLose(tape.missing(), progress)) {
      return
    }
    if (lacks) {
      const { took } = yield* rebuildTape(parts)
      work.nextRebuildMs = monotonicMs(clock) + rebuildPauseMs(took)
      yield* Effect.logInfo("The market has the blocks that were read again", { took: Duration.format(took) })
    }
    work.hasRead = work.hasRead && !isIdle
  })

  const step = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const progress = yield* blocks.progress
    work.progress = progress
    tape.noteGaps(progress?.gaps ?? [])
    const end = historyEnd(settings, nowMs)
    // Earlier blocks also count as coming until memory has the blocks that were read.
    const lacks = progress !== null && lacksRepairs(tape.missing(), progress)
    const isComing = lacks || isHistoryOpen(work, progress, end)
    tape.backfilling(isComing ? end.fromMs : null)
    const begunMs = monotonicMs(clock)
    noteArrivals(work, progress?.slot ?? null, nowMs, begunMs)
    const isDue = work.history.nextTryAtMs <= begunMs
    const job = progress === null ? null : nextJob(progress, nowMs, { ...end, isDue }, work.returnedAtMs)
    if (job === null || progress === null) {
      yield* refresh(true)
      yield* snapshots.ifDue(nowMs)
      return IDLE
    }
    yield* log(progress, job, nowMs)
    const found = yield* read(job, nowMs)
    yield* refresh(false)
    const spentMs = monotonicMs(clock) - begunMs
    return Duration.millis(Math.max(0, Math.ceil((found.reads / rate) * 1000 - spentMs)))
  })

  const backfill = (nowMs: number): SourceState => {
    const { history, progress } = work
    if (progress === null) {
      return { observedAtMs: null, status: "unavailable" }
    }
    const share = historyShare(progress, historyEnd(settings, nowMs), nowMs)
    const isDone = share === 1 || history.isGone
    return {
      observedAtMs: nowMs,
      status: isDone ? "known" : history.tries > 0 ? "stale" : "partial",
      // The node no longer has the rest.
      ...(share < 1 && { reason: history.isGone ? ("not_captured" as const) : ("backfill_running" as const) }),
      share: Math.floor(share * 10_000) / 10_000
    }
  }
  yield* (yield* SourceMonitor).report("backfill", backfill)
  const isHistoryRead = (nowMs: number): boolean =>
    work.progress !== null && !isHistoryOpen(work, work.progress, historyEnd(settings, nowMs))
  return { step, isHistoryRead }
})
