/** How well swaps are decoded, as a source and as metrics. */
import { Effect } from "effect"
import type { ProgramDecoding } from "../../api/schemas/ProgramDecoding.ts"
import { outcomes } from "../../chain/decoding/swapChecks.ts"
import { STALE_BLOCK_MS } from "../../chain/sourceFreshness.ts"
import { type Sample, Readings } from "../../operations/Readings.ts"
import { SourceMonitor, type SourceState, stateByAge } from "../../operations/SourceMonitor.ts"
import { type HourlyChecks, seenIn, type WatchedProgram } from "../memory/DecodingWatch.ts"
import type { MarketReads } from "./MarketReads.ts"

type Decoding = ReturnType<MarketReads["decoding"]>

const hourOf = ({ counts, startMs, tags }: HourlyChecks): ProgramDecoding["hours"][number] => ({
  startMs,
  seen: seenIn(counts),
  confirmed: counts.confirmed,
  contradicted: counts.contradicted,
  unchecked: counts.no_evidence,
  leftOut: { oneSided: counts.one_sided, unmoved: counts.unmoved },
  unknown: counts.unknown,
  unknownInstructions: Object.fromEntries(tags)
})

const programOf = ({ dex, drift, hours, share, swaps }: WatchedProgram): ProgramDecoding => ({
  dex,
  confirmedShare: share,
  swaps,
  shareBefore: drift?.before ?? null,
  driftSinceMs: drift?.sinceMs ?? null,
  detail: drift?.detail ?? null,
  hours: hours.map(hourOf)
})

/** The state of the source `decoding`: partial while a program drifts, stale while no block comes. */
export const decodingState = (decoding: Decoding, nowMs: number): SourceState => {
  const programs = decoding.read()
  const state = stateByAge(decoding.newestMs, STALE_BLOCK_MS, nowMs)
  const hasDrift = programs.some(({ drift }) => drift !== null)
  return {
    ...state,
    status: state.status === "known" && hasDrift ? "partial" : state.status,
    decoding: programs.map(programOf)
  }
}

/** Reports the source and its metrics until the scope closes. */
export const reportDecoding = Effect.fnUntraced(function* (decoding: MarketReads["decoding"]) {
  const readings = yield* Readings
  yield* (yield* SourceMonitor).report("decoding", (nowMs) => decodingState(decoding(), nowMs))
  const perProgram = (name: string, help: string, valueOf: (program: WatchedProgram) => number | null) =>
    readings.report({ name, help, kind: "gauge" }, () =>
      decoding()
        .read()
        .flatMap((program): ReadonlyArray<Sample> => {
          const value = valueOf(program)
          return value === null ? [] : [{ value, labels: { dex: program.dex } }]
        })
    )
  yield* readings.report(
    {
      name: "fathom_decoded_swaps_total",
      help: "Swaps seen, by program and by whether event or balances confirm the decoded amounts.",
      kind: "counter"
    },
    () =>
      decoding()
        .read()
        .flatMap(({ dex, total }) => outcomes.map((outcome) => ({ value: total[outcome], labels: { dex, outcome } })))
  )
  yield* perProgram(
    "fathom_decoding_confirmed_ratio",
    "Confirmed part of the program's swaps in the last ten minutes; absent without a swap.",
    ({ share }) => share
  )
  yield* perProgram(
    "fathom_decoding_confirmed_before_ratio",
    "Confirmed part of the program's swaps before it drifted; absent without a drift, and where it is not known.",
    ({ drift }) => drift?.before ?? null
  )
  yield* perProgram(
    "fathom_decoding_drift_since_seconds",
    "Since when fewer of the program's swaps are confirmed than usual, in seconds since the Unix epoch; absent without a drift.",
    ({ drift }) => (drift === null ? null : drift.sinceMs / 1000)
  )
})
