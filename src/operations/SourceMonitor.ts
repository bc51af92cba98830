import { Cause, Clock, Context, Effect, Layer, type Scope } from "effect"
import type { ProgramState } from "../api/schemas/ProgramState.ts"
import { publicDetail } from "../domain/errorDetail.ts"

/** State of one source at one time. */
export interface SourceState {
  /**
   * Time of its last success, and for blocks the own time of the newest one, in milliseconds since the Unix epoch; null
   * before the first.
   */
  readonly observedAtMs: number | null
  /** `partial` while part of its work is missing, `stale` while it lags, `unavailable` before its first success. */
  readonly status: "known" | "partial" | "stale" | "unavailable"
  /** Host of the node that the source reads. */
  readonly node?: string | undefined
  /** Blocks since the start with an estimated time, because the node's time contradicts the chain's clock. */
  readonly estimatedTimes?: number | undefined
  /** Share of its work that is done, from 0 to 1, if the work has an end. */
  readonly share?: number
  /** How full its bounded waiting room is, from 0 to 1. */
  readonly fill?: number
  /** The reason why it is not current, if there is a word for it. */
  readonly reason?: "backfill_running" | "not_captured" | "source_gap" | "source_stale"
  /** The setting that would help, and what is missing without it. */
  readonly advice?: string
  /** For the chain and for blocks: the newest slot. */
  readonly slot?: number
  /** For a feed of blocks: the newest slot that its node has reported. */
  readonly head?: number
  /** For blocks: the gaps that are still being read. */
  readonly gapsOpen?: number
  /** For snapshots of memory: the slot of the snapshot that memory was restored from, and its age at that time. */
  readonly restoredSlot?: number
  readonly restoredAgeMs?: number
  /** For a service that is asked when a request needs it: the time of its last failure; null before the first. */
  readonly failedAtMs?: number | null
  /** For the deployments of programs: each of them. */
  readonly programs?: ReadonlyArray<ProgramState>
}

/** A source by name. */
export interface MonitoredSource extends SourceState {
  readonly source: string
}

/** A failure of a source. */
export interface SourceError {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number
  /** The reason in words, without secrets. */
  readonly detail: string
}

/** The past of a source in this process. */
export interface SourceHistory {
  /** When the source was first seen in its present state, in milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** Null before the first. */
  readonly lastError: SourceError | null
}

/** The states of the stores and background loops of this process. */
export interface SourceMonitor {
  /**
   * Adds a source until the scope closes. `read` is synchronous and must not fail. A later source with the same name
   * replaces it.
   */
  report(source: string, read: (nowMs: number) => SourceState): Effect.Effect<void, never, Scope.Scope>
  /** The state of one source; null when there is none of that name. */
  readonly stateOf: (source: string, nowMs: number) => SourceState | null
  /** Every source, by name. */
  readonly sources: (nowMs: number) => ReadonlyArray<MonitoredSource>
  /** Notes a failure. The source does not have to be reported here. */
  readonly failed: (source: string, cause: unknown, nowMs: number) => void
  /** Notes the present state of a source, and returns since when it has been in it. */
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

/** Notes a failure of a source in the monitor of the fiber. */
export const noteFailure = (source: string, cause: unknown): Effect.Effect<void> =>
  Effect.flatMap(SourceMonitor, ({ failed }) =>
    Clock.clockWith((clock) => Effect.sync(() => failed(source, cause, clock.currentTimeMillisUnsafe())))
  )

/** A separate monitor. */
export const layer: Layer.Layer<never> = Layer.sync(SourceMonitor, make)

/** State of a source by its last success: `stale` when that is older than `limitMs`. */
export const stateByAge = (observedAtMs: number | null, limitMs: number, nowMs: number): SourceState => ({
  observedAtMs,
  status: observedAtMs === null ? "unavailable" : nowMs - observedAtMs > limitMs ? "stale" : "known"
})

/**
 * Reports a store that works only on request: stale while its last call failed, otherwise like the database. Returns
 * the wrapper for its calls.
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
 * Reports another service that is asked when a request needs it: its state follows its last answer, and is unavailable
 * before the first. Returns the wrapper for its calls. `isAnswer` tells which errors count as answers.
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
