/** Reads everything stored into memory: from the snapshot and the blocks after it, or else from the trades. */
import { Clock, Duration, Effect, Schedule } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import type { MissingBlocks } from "../model/Gaps.ts"
import { layoutOf } from "../history/compression.ts"
import { loadSnapshot, SnapshotReplaced } from "./loadSnapshot.ts"
import type { StoredSnapshot } from "../model/StoredSnapshot.ts"
import { restoredFrom, restoreTape } from "./restoreTape.ts"
import type { MarketLimits } from "../memory/MarketState.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"
import type { MarketStores } from "../model/MarketStores.ts"
import { stored } from "./priceAgain.ts"
import type { MissingOnTape, Tape } from "./Tape.ts"

export interface RebuildParts {
  readonly stores: Pick<MarketStores, "blocks" | "candles" | "snapshots">
  readonly tape: Pick<Tape["Service"], "noteSnapshot" | "rebuild" | "revise">
  /** The newest slot that is stored. */
  readonly durable: () => number
  readonly limits: MarketLimits
}

/**
 * True when the store has a repair that memory lacks: it counts other repairs, or it has settled a gap that is open in
 * memory. Gaps after the newest stored block do not count.
 */
export const lacksRepairs = (
  { gaps, repairs }: Pick<TradeProgress, "gaps" | "repairs">,
  stored: Pick<TradeProgress, "gaps" | "repairs" | "slot">
): boolean => {
  const open = stored.gaps.filter(({ state }) => state === "open")
  const isSettled = ({ fromSlot, state, toSlot }: MissingBlocks) =>
    state === "open" && toSlot < stored.slot && !open.some((gap) => gap.fromSlot <= toSlot && gap.toSlot >= fromSlot)
  return repairs !== stored.repairs || gaps.some(isSettled)
}

/** A gap that failed this often in a row, over half a minute, is not waited for. */
const HOPEFUL_TRIES = 5

/**
 * True while a rebuild would take blocks from memory that the store has lost and is about to read again, as after an older copy
 * of ClickHouse has come back.
 */
export const wouldLose = ({ readFrom, unread }: MissingOnTape, stored: Pick<TradeProgress, "gaps">): boolean =>
  stored.gaps.some(
    ({ fromSlot, state, toSecond, toSlot, tries }) =>
      state === "open" &&
      tries < HOPEFUL_TRIES &&
      toSecond >= readFrom &&
      !unread.some((gap) => gap.fromSlot <= fromSlot && gap.toSlot >= toSlot)
  )

const unlessReplaced = (failure: unknown) =>
  failure instanceof SnapshotReplaced ? Effect.fail(failure) : Effect.die(failure)

/** The progress of the store, once it has every block up to a slot. A store that has lost blocks goes back. */
const progressTo = (blocks: RebuildParts["stores"]["blocks"], slot: number) =>
  Effect.flatMap(blocks.progress, (progress) =>
    progress === null
      ? Effect.die(new Error("nothing is stored"))
      : progress.slot < slot
        ? Effect.fail("waiting" as const)
        : Effect.succeed(progress)
  ).pipe(Effect.retry({ while: (failure) => failure === "waiting", schedule: Schedule.spaced("100 millis") }))

/**
 * Replaces memory with what the store has, once everything on the tape is stored. Returns the number of trades that
 * were read, the snapshot, and how long it took without the wait.
 */
export const rebuildTape = Effect.fnUntraced(function* ({ durable, limits, stores, tape }: RebuildParts) {
  const clock = yield* Clock.Clock
  const done = { begunMs: 0, from: 0, snapshot: null as StoredSnapshot | null, trades: 0 }
  yield* tape
    .rebuild(
      Effect.fnUntraced(function* (memory) {
        yield* stored(durable, memory.slot)
        const progress = yield* progressTo(stores.blocks, memory.slot)
        done.begunMs = monotonicMs(clock)
        const expected = { progress, layout: layoutOf(limits), slot: memory.slot }
        const loaded = yield* loadSnapshot(stores, memory, expected, limits.trades)
        if (loaded !== null) {
          done.from = restoredFrom(progress)
          done.snapshot = loaded.snapshot
          done.trades = loaded.trades
          return { progress, from: memory.heldFrom() }
        }
        const most = { trades: limits.trades, launches: limits.tokens }
        const { from, trades } = yield* restoreTape(stores.blocks, progress, most, memory.add)
        done.from = from
        done.trades = trades
        return { progress, from }
      }, Effect.catch(unlessReplaced))
      // By the next attempt memory has later blocks.
    )
    .pipe(Effect.retry({ schedule: Schedule.spaced("100 millis") }))
  tape.revise(yield* Effect.orDie(stores.candles.revised(done.from)))
  const { begunMs, snapshot, trades } = done
  tape.noteSnapshot({ loaded: snapshot === null ? null : { snapshot, atMs: yield* Clock.currentTimeMillis } })
  return { snapshot, trades, took: Duration.millis(monotonicMs(clock) - begunMs) }
})

/** Fills memory after a start. It has to begin before the first new block is applied, so that memory misses none. */
export const fillTape = (parts: RebuildParts): Effect.Effect<void> =>
  rebuildTape(parts).pipe(
    Effect.flatMap(({ snapshot, took, trades }) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
        Effect.logInfo("The market is restored", {
          trades,
          took: Duration.format(took),
          ...(snapshot !== null && {
            snapshotSlot: snapshot.slot,
            snapshotAge: Duration.format(Duration.millis(Math.max(0, nowMs - snapshot.timeMs)))
          })
        })
      )
    ),
    keepRunning("Restoring the market", "blocks")
  )
