/**
 * What a follower does while another process stores the blocks: it watches how far they are stored, and rebuilds memory
 * after repairs.
 */
import { Clock, Deferred, Duration, Effect, Schedule } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import { keepGoing, keepRunning } from "../../operations/keepRunning.ts"
import { SourceMonitor, stateByAge } from "../../operations/SourceMonitor.ts"
import type { MarketLimits } from "../memory/MarketState.ts"
import type { ChainIdentity } from "../model/ChainIdentity.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"
import { storedState } from "./freshness.ts"
import { lacksRepairs, rebuildTape, wouldLose } from "./rebuildTape.ts"
import { rebuildPauseMs } from "./RepairWorker.ts"
import { snapshotState } from "./snapshotState.ts"
import type { MissingOnTape } from "./Tape.ts"
import type { TapeHalves, TapeParts } from "./tapeParts.ts"

const PROGRESS_EVERY = Duration.millis(500)
const REPAIRED_EVERY = Duration.seconds(1)
/** The state of stored trades is stale once the progress was not read for this long, in milliseconds. */
const PROGRESS_STALE_MS = 5000
/** Blocks kept until they are stored. Above this many, charts lack the oldest of them. */
const MOST_UNSTORED = 1000

/** How a process that may lead uses the store. */
export interface StoreUse {
  /** True while it writes. */
  isLeading: boolean
  /** True while the store is open for reading. */
  isReading: boolean
}

/**
 * True when a rebuild gives memory repairs or earlier blocks, and takes none from it that the store lacks. A gap in the store
 * alone is no reason: the tape may have its blocks.
 */
const isBehind = (tape: MissingOnTape, stored: TradeProgress): boolean =>
  (tape.readFrom > stored.readFrom || lacksRepairs(tape, stored)) && !wouldLose(tape, stored)

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

/**
 * Reads every half second how far blocks are stored, until the scope closes. Rebuilds memory when the store has blocks
 * that the tape missed. Returns a function that notes an applied block: readers see it until it is stored.
 */
export const followStored = Effect.fnUntraced(function* (
  { stores, tape }: Pick<TapeParts, "stores" | "tape">,
  chain: ChainIdentity,
  limits: MarketLimits,
  halves: TapeHalves,
  use: StoreUse
) {
  const unstored = new Unstored()
  tape.keepUnstored(() => unstored.all)
  const progress: { readAtMs: number | null; stored: TradeProgress | null } = { readAtMs: null, stored: null }
  const monitor = yield* SourceMonitor
  yield* monitor.report("trades", (nowMs) =>
    storedState(progress.stored, stateByAge(progress.readAtMs, PROGRESS_STALE_MS, nowMs).status === "stale", nowMs)
  )
  yield* monitor.report("snapshot", (nowMs) => snapshotState(tape.snapshots(), nowMs))

  const readProgress = Effect.gen(function* () {
    if (!use.isLeading && !use.isReading) {
      yield* stores.blocks.open(chain, "read")
      use.isReading = !use.isLeading
    }
    const stored = yield* stores.blocks.progress
    const slot = stored?.slot ?? 0
    progress.stored = stored
    progress.readAtMs = yield* Clock.currentTimeMillis
    halves.durable = () => slot
    tape.noteGaps(stored?.gaps ?? [])
    unstored.storedTo(slot)
  })
  yield* Effect.ignore(readProgress).pipe(
    keepGoing("Reading how far blocks are stored"),
    Effect.repeat(Schedule.spaced(PROGRESS_EVERY)),
    keepRunning("Reading how far blocks are stored", "trades"),
    Effect.forkScoped
  )

  const clock = yield* Clock.Clock
  let nextRebuildMs = Number.NEGATIVE_INFINITY
  const refresh = Effect.gen(function* () {
    // A leader rebuilds memory in its own repair worker.
    if (use.isLeading || progress.stored === null || monotonicMs(clock) < nextRebuildMs) {
      return
    }
    if (isBehind(tape.missing(), progress.stored)) {
      const { took } = yield* rebuildTape({ durable: () => halves.durable(), limits, stores, tape })
      nextRebuildMs = monotonicMs(clock) + rebuildPauseMs(took)
      yield* Effect.logInfo("The market has the blocks that were read again", { took: Duration.format(took) })
    }
  })
  yield* Deferred.await(halves.restored).pipe(
    Effect.andThen(Effect.repeat(refresh, Schedule.spaced(REPAIRED_EVERY))),
    keepRunning("Following repairs", "blocks"),
    Effect.forkScoped
  )
  return (batch: StoredBatch): void => unstored.add(batch)
})
