import { Cause, Clock, Context, Effect, Layer, type Scope } from "effect"
import type { ProgramState } from "../domain/market/ProgramState.ts"
import { publicDetail } from "../domain/errorDetail.ts"

/** State of one source at one time. */
export interface SourceState {
  /** Time of its last success, in milliseconds since the Unix epoch; null before the first. */
  readonly observedAtMs: number | null
  /** `partial` while part of its work is missing, `stale` while it lags, `unavailable` before its first success. */
  readonly status: "known" | "partial" | "stale" | "unavailable"
  /** Host of the node that it is read from. */
  readonly node?: string | undefined
  /** Blocks since the start whose time is an estimate, because that of the node contradicts the chain's clock. */
  readonly estimatedTimes?: number | undefined
  /** The part of its work that is done, from 0 to 1, where it has an end. */
  readonly share?: number
  /** Of what waits in a bounded place: the part of the bound that is used, from 0 to 1. */
  readonly fill?: number
  /** The reason why it is not current, where there is a word for it. */
  readonly reason?: "backfill_running" | "not_captured" | "source_gap" | "source_stale"
  /** The setting that helps, and the state without it, where it is not current for want of one. */
  readonly advice?: string
  /** Of a feed of blocks: the newest slot, and the gaps that are still read again. */
  readonly slot?: number
  readonly gapsOpen?: number
  /** Of snapshots of memory: the slot of the one that memory was restored from, and its age then. */
  readonly restoredSlot?: number
  readonly restoredAgeMs?: number
  /** Of a service that is asked when a request needs it: the time of its last failure; null before the first. */
  readonly failedAtMs?: number | null
  /** Of the deployments of programs: each of them. */
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
  /** Time at which the source was first seen in its present state, in milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** Null before the first. */
  readonly lastError: SourceError | null
}

/** The states of the stores and background loops of this process. */
export interface SourceMonitor {
  /** Adds a source until the scope closes. `read` is synchronous and must not fail. A later source of that name replaces it. */
  report(source: string, read: (nowMs: number) => SourceState): Effect.Effect<void, never, Scope.Scope>
  /** The state of one source; null when there is none of that name. */
  readonly stateOf: (source: string, nowMs: number) => SourceState | null
  /** Every source, in order of name. */
  readonly sources: (nowMs: number) => ReadonlyArray<MonitoredSource>
  /** Notes a failure. The source need not be reported here. */
  readonly failed: (source: string, cause: unknown, nowMs: number) => void
  /** Notes the state that a source is in now, and returns since when it is. */
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

/** Without a layer, states are kept nowhere. */
export const SourceMonitor = Context.Reference<SourceMonitor>("fathom/health/SourceMonitor", {
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

/** A monitor of its own. */
export const layer: Layer.Layer<never> = Layer.sync(SourceMonitor, make)

/** The state of a source by the time of its last success: `stale` after `limitMs` without one. */
export const stateByAge = (observedAtMs: number | null, limitMs: number, nowMs: number): SourceState => ({
  observedAtMs,
  status: observedAtMs === null ? "unavailable" : nowMs - observedAtMs > limitMs ? "stale" : "known"
})

/**
 * Reports a store that works on request only: stale while its last call failed, else as the database is. Returns the
 * wrapper of its calls.
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
 * Reports another service that is asked when a request needs it: as its last answer was, and unavailable before the first.
 * Returns the wrapper of its calls, which takes the errors that are answers nevertheless.
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
