/** Metrics about the states of sources. */
import { Effect } from "effect"
import { Readings } from "./Readings.ts"
import { type MonitoredSource, SourceMonitor, type SourceState } from "./SourceMonitor.ts"

const STATES = ["known", "partial", "stale", "unavailable"] as const satisfies ReadonlyArray<SourceState["status"]>

/** The stages of a block, each with its source. */
const STAGES = { block_feed: "read", blocks: "applied", trades: "stored" } as const

/** How far each stage is behind the newest slot that any source knows. A stage without a block is left out. */
const slotsBehind = (sources: ReadonlyArray<MonitoredSource>) => {
  const newest = Math.max(0, ...sources.map(({ head = 0, slot = 0 }) => Math.max(head, slot)))
  const slotOf = new Map(sources.map(({ slot, source }) => [source, slot]))
  return Object.entries(STAGES).flatMap(([source, stage]) => {
    const slot = slotOf.get(source) ?? 0
    return slot === 0 ? [] : [{ value: newest - slot, labels: { stage } }]
  })
}

/** Reports state, lag, slot, gaps and progress of every source until the scope closes. */
export const sourceReadings = Effect.gen(function* () {
  const readings = yield* Readings
  const monitor = yield* SourceMonitor

  const perSource = (name: string, help: string, valueOf: (source: MonitoredSource, nowMs: number) => number | null) =>
    readings.report({ name, help, kind: "gauge" }, (nowMs) =>
      monitor.sources(nowMs).flatMap((source) => {
        const value = valueOf(source, nowMs)
        return value === null ? [] : [{ value, labels: { source: source.source } }]
      })
    )

  yield* readings.report(
    { name: "fathom_source_state", help: "1 for the state that the source is in, 0 for the others.", kind: "gauge" },
    (nowMs) =>
      monitor
        .sources(nowMs)
        .flatMap(({ source, status }) =>
          STATES.map((state) => ({ value: state === status ? 1 : 0, labels: { source, state } }))
        )
  )
  yield* perSource(
    "fathom_source_lag_seconds",
    "Time since the last message or success of the source, or the age of its newest block; absent before the first.",
    ({ observedAtMs }, nowMs) => (observedAtMs === null ? null : Math.max(0, nowMs - observedAtMs) / 1000)
  )
  yield* perSource("fathom_source_slot", "Newest slot of the chain or of blocks.", ({ slot }) => slot ?? null)
  yield* readings.report(
    {
      name: "fathom_slots_behind",
      help: "Slots from the newest block that was read, applied or stored to the newest slot of the chain.",
      kind: "gauge"
    },
    (nowMs) => slotsBehind(monitor.sources(nowMs))
  )
  yield* perSource(
    "fathom_source_gaps_open",
    "Stretches of the chain that were missed and are read again.",
    ({ gapsOpen }) => gapsOpen ?? null
  )
  yield* perSource(
    "fathom_source_progress_ratio",
    "The part of its work that is done, from 0 to 1, where it has an end.",
    ({ share }) => share ?? null
  )
})
