/**
 * Imports blocks of the past while the service reads new ones. It begins once the stored blocks are in memory and the
 * node has nothing more to give of the history, and stores a little at a time with a pause after it, so new blocks never
 * wait long for the store. It goes on where it was after a restart.
 */
import { Clock, Duration, Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { ImportRefused } from "../../chain/importing/importSource.ts"
import { genesisOf, type ImportSettings } from "../../chain/importing/importSettings.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { Readings } from "../../operations/Readings.ts"
import { noteFailure, SourceMonitor, type SourceState } from "../../operations/SourceMonitor.ts"
import { importBlocks, type ImportNotes, type ImportParts, newNotes } from "./importBlocks.ts"

const SOURCE = "import"
/** How long a source is asked again before the import starts anew. */
const PATIENCE = Duration.minutes(10)
/** How long a source that was refused rests. The operator may have put the files right meanwhile. */
const REFUSED_PAUSE = Duration.minutes(10)
const WAIT = Duration.seconds(1)

/** What a background import shares with the reader of the chain. */
export interface BesideService {
  /** Completes once the stored blocks are in memory. */
  readonly ready: Effect.Effect<void>
  readonly isHistoryRead: (nowMs: number) => boolean
}

interface Work {
  notes: ImportNotes
  phase: "waiting" | "running" | "refused" | "done"
  /** Why the source was refused. */
  detail: string | null
  /** Blocks and trades of earlier passes. */
  blocks: number
  trades: number
}

/** The share of the range that was read, from 0 to 1; null when the range has no end or nothing was read. */
export const importShare = (
  { range: { fromMs, fromSlot, toMs, toSlot } }: Pick<ImportSettings, "range">,
  { first, firstMs, slot, timeMs }: ImportNotes
): number | null => {
  const [from, at, to] = toMs === null ? [fromSlot ?? first, slot, toSlot] : [fromMs ?? firstMs, timeMs, toMs]
  return from === null || at === null || to === null || to <= from
    ? null
    : Math.floor(Math.min(1, Math.max(0, (at - from) / (to - from))) * 10_000) / 10_000
}

const stateOf = (settings: ImportSettings, { detail, notes, phase }: Work): SourceState => {
  const share = phase === "done" ? 1 : importShare(settings, notes)
  return {
    observedAtMs: notes.timeMs,
    status: phase === "done" ? "known" : phase === "refused" ? "stale" : "partial",
    ...(phase === "waiting" || phase === "running" ? { reason: "backfill_running" as const } : {}),
    ...(share !== null && { share }),
    ...(notes.slot !== null && { slot: notes.slot }),
    ...(detail !== null && {
      advice: `The import is refused: ${detail}. Correct IMPORT and its settings or the files.`
    })
  }
}

const reportWork = Effect.fnUntraced(function* (settings: ImportSettings, work: Work) {
  yield* (yield* SourceMonitor).report(SOURCE, () => stateOf(settings, work))
  const readings = yield* Readings
  yield* readings.report(
    { name: "fathom_import_blocks_total", help: "Blocks of the past that were imported and stored.", kind: "counter" },
    () => work.blocks + work.notes.blocks
  )
  yield* readings.report(
    { name: "fathom_import_trades_total", help: "Trades of imported blocks that were stored.", kind: "counter" },
    () => work.trades + work.notes.trades
  )
})

/** Imports in the background until the scope closes. Every failure starts it again. */
export const importBeside = Effect.fnUntraced(function* (
  parts: Omit<ImportParts, "bridge" | "isBeside">,
  settings: ImportSettings,
  genesis: string,
  { isHistoryRead, ready }: BesideService
) {
  const work: Work = { notes: newNotes(), phase: "waiting", detail: null, blocks: 0, trades: 0 }
  yield* reportWork(settings, work)
  const hasHistory = Effect.map(Clock.currentTimeMillis, isHistoryRead)

  const pass = Effect.gen(function* () {
    const named = yield* genesisOf(settings.place).pipe(Effect.provide(FetchHttpClient.layer))
    if (named !== null && named !== genesis) {
      return yield* new ImportRefused({ detail: `the source has the chain ${named}, and the service reads ${genesis}` })
    }
    work.blocks += work.notes.blocks
    work.trades += work.notes.trades
    work.notes = newNotes()
    work.phase = "running"
    work.detail = null
    // What lies between an import and the stored blocks is filled by another import, never from the node.
    yield* importBlocks(
      { ...parts, isBeside: true, bridge: "unavailable" },
      { ...settings, budget: null },
      work.notes,
      PATIENCE
    )
    work.phase = "done"
    const { blocks, trades } = work
    yield* Effect.logInfo("The import has ended", {
      blocks: blocks + work.notes.blocks,
      trades: trades + work.notes.trades
    })
  })

  const refusal = Effect.fnUntraced(function* (failure: ImportRefused) {
    work.phase = "refused"
    work.detail = failure.detail
    yield* noteFailure(SOURCE, failure)
    yield* Effect.logError("The import is refused and is tried again later", failure)
    yield* Effect.sleep(REFUSED_PAUSE)
  })

  yield* ready.pipe(
    Effect.andThen(Effect.sleep(WAIT).pipe(Effect.andThen(hasHistory), Effect.repeat({ until: (isRead) => isRead }))),
    Effect.andThen(
      pass.pipe(
        Effect.catchIf((failure) => failure instanceof ImportRefused, refusal),
        Effect.repeat({ until: () => work.phase === "done" })
      )
    ),
    keepRunning("Importing blocks of the past", SOURCE),
    Effect.forkScoped
  )
})
