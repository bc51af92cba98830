import { Cause, Clock, Context, Effect, Layer, type Scope } from "effect"
import type { ExecutedVenue } from "../api/schemas/ExecutedVenue.ts"
import type { ProgramDecoding } from "../api/schemas/ProgramDecoding.ts"
import type { ProgramState } from "../api/schemas/ProgramState.ts"
import { publicDetail } from "../domain/errorDetail.ts"

/** The present state of one source. */
export interface SourceState {
  /**
   * Time of the last success, in milliseconds since the Unix epoch; null before the first. For blocks, the newest
   * block's own time.
   */
  readonly observedAtMs: number | null
  /** `partial` while part of its work is missing, `stale` while it lags, `unavailable` before its first success. */
  readonly status: "known" | "partial" | "stale" | "unavailable"
  /** Host of the node that the source reads. */
  readonly node?: string | undefined
  /**
   * Number of blocks since the start whose time is estimated, because the node's time contradicts the chain's clock.
   */
  readonly estimatedTimes?: number | undefined
  /** How much of its work is done, from 0 to 1. Only for work that has an end. */
  readonly share?: number
  /** Milliseconds until work that has an end is done, at its pace so far. */
  readonly leftMs?: number
  /** How full the source's bounded queue is, from 0 to 1. */
  readonly fill?: number
  /** Why the source is not current, if a reason is known. */
  readonly reason?: "backfill_running" | "not_captured" | "source_gap" | "source_stale"
  /** Names the setting that would help, and what is missing without it. */
  readonly advice?: string
  /** The newest slot. Only for the chain and for blocks. */
  readonly slot?: number
  /** The newest slot that the node has reported. Only for a feed of blocks. */
  readonly head?: number
  /** The number of gaps that are still being read. Only for blocks. */
  readonly gapsOpen?: number
  /**
   * Slot of the snapshot that memory was restored from, and the snapshot's age at that time. Only for snapshots of
   * memory.
   */
  readonly restoredSlot?: number
  readonly restoredAgeMs?: number
  /** Time of the last failure; null before the first. Only for services that are called when a request needs them. */
  readonly failedAtMs?: number | null
  /** One state per program. Only for the deployments of programs. */
  readonly programs?: ReadonlyArray<ProgramState>
  /** One state per venue that is priced by executing its program. Only for executions. */
  readonly executed?: ReadonlyArray<ExecutedVenue>
  /** How well each program's swaps are decoded. Only for the decoding. */
  readonly decoding?: ReadonlyArray<ProgramDecoding>
}

/** A source with its name. */
export interface MonitoredSource extends SourceState {
  readonly source: string
}

export interface SourceError {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number
  /** The reason in words, without secrets. */
  readonly detail: string
}

/** What happened to a source since this process started. */
export interface SourceHistory {
  /** When this process first saw the source in its present state, in milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** Null when it never failed. */
  readonly lastError: SourceError | null
}

/** The states of the stores and background loops of this process. */
export interface SourceMonitor {
  /**
   * Adds a source until the scope closes. `read` is synchronous and must not fail. A later source with the same name
   * replaces it.
   */
  report(source: string, read: (nowMs: number) => SourceState): Effect.Effect<void, never, Scope.Scope>
  /** The state of one source; null when no source has that name. */
  readonly stateOf: (source: string, nowMs: number) => SourceState | null
  /** All sources with their names. */
  readonly sources: (nowMs: number) => ReadonlyArray<MonitoredSource>
  /** Records a failure. Works for sources that were never reported here, too. */
  readonly failed: (source: string, cause: unknown, nowMs: number) => void
  /** Records the present state of a source and returns since when the source is in it. */
  readonly history: (source: string, status: SourceState["status"], nowMs: number) => SourceHistory
}

const make = (): SourceMonitor => {
  const readers = new Map<string, (nowMs: number) => SourceState>()
  const entered = new Map<string, { readonly status: SourceState["status"]; readonly sinceMs: number }>()
  const errors = new Map<string, SourceError>()
  return {
    failed: (source, cause, nowMs) => void errors.set(source, { atMs: nowMs, detail: publicDetail(cause) }),
    history: (source, status, nowMs) => {
      const known = entered.get(source)
      const state = known?.status === status ? known : { status, sinceMs: nowMs }
      entered.set(source, state)
      return { sinceMs: state.sinceMs, lastError: errors.get(source) ?? null }
    },
    report: (source, read) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => readers.set(source, read)),
          () => Effect.sync(() => readers.get(source) === read && readers.delete(source))
        )
      ),
    stateOf: (source, nowMs) => readers.get(source)?.(nowMs) ?? null,
    sources: (nowMs) =>
      Array.from(readers, ([source, read]) => ({ source, ...read(nowMs) })).toSorted((a, b) =>
        a.source < b.source ? -1 : 1
      )
  }
}

/** Without a layer, nothing is kept. */
export const SourceMonitor = Context.Reference<SourceMonitor>("fathom/operations/SourceMonitor", {
  defaultValue: () => ({
    report: () => Effect.void,
    stateOf: () => null,
    sources: () => [],
    failed: () => undefined,
    history: (_source, _status, nowMs) => ({ sinceMs: nowMs, lastError: null })
  })
})

/** Records a failure of a source in the current fiber's monitor. */
export const noteFailure = (source: string, cause: unknown): Effect.Effect<void> =>
  Effect.flatMap(SourceMonitor, ({ failed }) =>
    Clock.clockWith((clock) => Effect.sync(() => failed(source, cause, clock.currentTimeMillisUnsafe())))
  )

/** A separate monitor. */
export const layer: Layer.Layer<never> = Layer.sync(SourceMonitor, make)

/** Derives a source's state from its last success: `stale` when the success is older than `limitMs`. */
export const stateByAge = (observedAtMs: number | null, limitMs: number, nowMs: number): SourceState => ({
  observedAtMs,
  status: observedAtMs === null ? "unavailable" : nowMs - observedAtMs > limitMs ? "stale" : "known"
})

/**
 * Reports a store that works only on request. It is stale while its last call failed; otherwise it has the state of
 * the database. Returns the wrapper for the store's calls.
 */
export const watchCalls = Effect.fnUntraced(function* (source: string) {
  const monitor = yield* SourceMonitor
  const last: { atMs: number | null; hasFailed: boolean } = { atMs: null, hasFailed: false }
  yield* monitor.report(source, (nowMs) => {
    const database = monitor.stateOf("database", nowMs) ?? { observedAtMs: null, status: "unavailable" }
    return last.hasFailed ? { observedAtMs: last.atMs, status: "stale" } : database
  })
  const succeeded = (nowMs: number) => {
    last.atMs = nowMs
    last.hasFailed = false
  }
  const failed = (cause: Cause.Cause<unknown>) =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => {
      last.hasFailed = true
      if (!Cause.hasInterruptsOnly(cause)) {
        monitor.failed(source, Cause.squash(cause), nowMs)
      }
    })
  return <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.onError(
      Effect.tap(call, () => Effect.map(Clock.currentTimeMillis, succeeded)),
      failed
    )
})

/**
 * Reports an external service that is called when a request needs it. Its state follows the last reply, and is
 * unavailable before the first. Returns the wrapper for the calls. `isAnswer` is true for errors that count as
 * replies.
 */
export const watchUpstream = Effect.fnUntraced(function* (source: string) {
  const last: { readAtMs: number | null; failedAtMs: number | null; hasFailed: boolean } = {
    readAtMs: null,
    failedAtMs: null,
    hasFailed: false
  }
  const monitor = yield* SourceMonitor
  yield* monitor.report(source, () => ({
    observedAtMs: last.readAtMs,
    failedAtMs: last.failedAtMs,
    status: last.readAtMs === null ? "unavailable" : last.hasFailed ? "stale" : "known",
    ...(last.readAtMs === null && !last.hasFailed && { reason: "not_captured" as const })
  }))
  const succeeded = Effect.map(Clock.currentTimeMillis, (nowMs) => {
    last.hasFailed = false
    last.readAtMs = nowMs
  })
  const failed = (error: unknown) =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => {
      last.hasFailed = true
      last.failedAtMs = nowMs
      monitor.failed(source, error, nowMs)
    })
  return <E>(isAnswer: (error: E) => boolean) =>
    <A, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      call.pipe(
        Effect.tap(() => succeeded),
        Effect.tapError((error) => (isAnswer(error) ? succeeded : failed(error)))
      )
})
