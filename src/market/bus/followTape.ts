/** The tape of a process that applies the blocks of the bus and writes none. */
import { type Cause, Clock, Deferred, Duration, Effect, Schedule, Stream } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import { keepGoing, keepRunning } from "../../health/keepRunning.ts"
import { SourceMonitor, type SourceState, stateByAge } from "../../health/SourceMonitor.ts"
import type { BlockBus, BusEntry } from "../../storage/bus/BlockBus.ts"
import { fillTape, rebuildTape } from "../repair/rebuildTape.ts"
import { rebuildPauseMs } from "../repair/RepairWorker.ts"
import { snapshotState } from "../snapshot/snapshotState.ts"
import type { ChainIdentity } from "../store/ChainIdentity.ts"
import type { StoredBatch } from "../store/StoredBatch.ts"
import type { TradeProgress } from "../store/TradeProgress.ts"
import { resumeStored, storableBy, type TapeParts } from "../tape/driveTape.ts"
import type { Gaps } from "../tape/Gaps.ts"
import type { MarketLimits } from "../tape/MarketState.ts"
import type { PricedBatch } from "../tape/TradeBatch.ts"
import { WatchedWallets } from "../tape/WatchedWallets.ts"
import { decodeBlock } from "./blockMessage.ts"

const PROGRESS_EVERY = Duration.millis(500)
const REPAIRED_EVERY = Duration.seconds(1)
/** The stored progress counts as stale after this time, the bus after the other. */
const STALE_AFTER_MS = 5000
const BUS_STALE_AFTER_MS = 5000
/** Blocks without a store that takes them; above this many the oldest are left out of charts until they are stored. */
const MOST_UNSTORED = 1000

/** The state that a follower shares with the part that may lead. */
export interface FollowerState {
  /** Completes once stored blocks are restored. */
  readonly restored: Deferred.Deferred<void>
  /** True while this process writes the store. */
  isLeading: boolean
  /** True while the store is open for reading. */
  isReading: boolean
  /** The newest stored slot, as last read. */
  durable: number
}

const keysOf = (gaps: Gaps, toSlot: number): string =>
  gaps
    .filter((gap) => gap.toSlot < toSlot)
    .map(({ fromSlot, state, toSlot }) => `${fromSlot} ${toSlot} ${state}`)
    .join()

/** True when the store has blocks that the tape lacks: it counts other repairs, has other gaps, or begins earlier. */
export const isBehind = (
  tape: Pick<TradeProgress, "gaps" | "readFrom" | "repairs">,
  newest: number,
  stored: TradeProgress
): boolean => {
  const slot = Math.min(newest, stored.slot)
  const hasOthers = tape.repairs !== stored.repairs || tape.readFrom > stored.readFrom
  return hasOthers || keysOf(tape.gaps, slot) !== keysOf(stored.gaps, slot)
}

/** The blocks that are not stored yet, oldest first. */
class Unstored {
  #batches: ReadonlyArray<StoredBatch> = []

  get all(): ReadonlyArray<StoredBatch> {
    return this.#batches
  }

  add(batch: StoredBatch): void {
    this.#batches = [...this.#batches, batch].slice(-MOST_UNSTORED)
  }

  storedTo(slot: number): void {
    this.#batches = this.#batches.filter((batch) => batch.slot > slot)
  }
}

/** The block of an entry, with the gap that the bus or a block before it left. Dies when it cannot be read. */
const batchOf = ({ bytes, isAfterGap }: BusEntry, isBroken: boolean): PricedBatch => {
  const batch = decodeBlock(bytes)
  return isAfterGap || isBroken ? { ...batch, afterGap: true } : batch
}

/**
 * Restores what is stored of the chain, then applies the blocks of the bus until its scope closes. Blocks that this process
 * has missed are a gap until they are stored; memory is rebuilt from the store then.
 */
export const followChain = Effect.fnUntraced(function* (
  { store, tape }: TapeParts,
  bus: BlockBus["Service"],
  chain: ChainIdentity,
  limits: MarketLimits,
  following: FollowerState
) {
  const monitor = yield* SourceMonitor
  const storable = storableBy(tape, yield* WatchedWallets)
  const begun = yield* resumeStored({ store, tape }, chain, limits, "read")
  const after = begun?.slot ?? 0
  following.isReading = true
  following.durable = after
  const unstored = new Unstored()
  tape.keepUnstored(() => unstored.all)

  const progress: { readAtMs: number | null; stored: TradeProgress | null } = { readAtMs: null, stored: null }
  yield* monitor.report("trades", (nowMs): SourceState => ({
    observedAtMs: progress.readAtMs,
    status: stateByAge(progress.readAtMs, STALE_AFTER_MS, nowMs).status
  }))
  yield* monitor.report("snapshot", (nowMs) => snapshotState(tape.snapshots(), nowMs))
  yield* monitor.report("bus", (nowMs) => stateByAge(bus.heardAtMs(), BUS_STALE_AFTER_MS, nowMs))

  const readProgress = Effect.gen(function* () {
    if (!following.isLeading && !following.isReading) {
      yield* store.open(chain, "read")
      following.isReading = !following.isLeading
    }
    progress.stored = yield* store.progress
    progress.readAtMs = yield* Clock.currentTimeMillis
    following.durable = progress.stored?.slot ?? 0
    unstored.storedTo(following.durable)
  })
  yield* Effect.ignore(readProgress).pipe(
    keepGoing("Reading how far blocks are stored"),
    Effect.repeat(Schedule.spaced(PROGRESS_EVERY)),
    keepRunning("Reading how far blocks are stored", "trades"),
    Effect.forkScoped
  )

  const parts = { durable: () => following.durable, limits, store, tape }
  const clock = yield* Clock.Clock
  let nextRebuildMs = Number.NEGATIVE_INFINITY
  const refresh = Effect.gen(function* () {
    // A leader rebuilds its memory with its own repairs.
    if (following.isLeading || progress.stored === null || monotonicMs(clock) < nextRebuildMs) {
      return
    }
    if (isBehind(tape.missing(), tape.newest(), progress.stored)) {
      const [took] = yield* Effect.timed(rebuildTape(parts))
      nextRebuildMs = monotonicMs(clock) + rebuildPauseMs(took)
      yield* Effect.logInfo("The market has the blocks that were read again", { took: Duration.format(took) })
    }
  })
  yield* (begun === null ? Effect.void : fillTape(parts)).pipe(
    Effect.andThen(Deferred.succeed(following.restored, undefined)),
    Effect.andThen(
      refresh.pipe(Effect.repeat(Schedule.spaced(REPAIRED_EVERY)), keepRunning("Following repairs", "blocks"))
    ),
    Effect.forkScoped({ startImmediately: true })
  )

  const position = { after, isBroken: false }
  const take = Effect.fnUntraced(function* (entry: BusEntry) {
    const batch = yield* Effect.sync(() => batchOf(entry, position.isBroken))
    yield* tape.apply(batch)
    position.isBroken = false
    unstored.add(storable(batch, yield* Clock.currentTimeMillis))
  })
  const leftOut = (slot: number, cause: Cause.Cause<never>) => {
    position.isBroken = true
    return Effect.logError("A block could not be applied and is left out", { slot }, cause)
  }
  yield* Effect.suspend(() =>
    Stream.runForEach(bus.follow(chain.genesis, position.after), (entry) => {
      position.after = entry.slot
      return Effect.catchCause(take(entry), (cause) => leftOut(entry.slot, cause))
    })
  ).pipe(keepRunning("Following blocks", "blocks"))
})
