/** The verdicts of a run. */
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import type { QuoteCounts, ReaderCounts } from "../../soak/sockets.ts"
import { areEqual, type BlockDifferences } from "./blockHashes.ts"
import { areLiveAlone, areWhole, haveEach, type ReadStatuses, type ViewCounts } from "./clickHouse.ts"
import type { GapLooks } from "./hiddenGaps.ts"
import type { Answers } from "./load.ts"
import { isHeld, type Proof, PROPERTIES } from "./proofs.ts"
import { longest, type Recovery } from "./recovery.ts"
import type { BudgetKind } from "./scene.ts"

/** Times of a fault; null where the service cannot recover before the fault ends. */
export interface FaultTimes {
  readonly fault: string
  readonly during: Recovery | null
  readonly afterwards: Recovery
  /** Quotes of a process that missed writes beside another process's; null where none did. */
  readonly gaps: Readonly<GapLooks> | null
  /** Reads before, during and after a fault that takes some of them away; null where it takes none. */
  readonly reads: { readonly before: ReadStatuses; readonly during: ReadStatuses; readonly after: ReadStatuses } | null
  readonly proofs: ReadonlyArray<Proof>
}

/** The most admissions in a window of a minute over all processes of a kind, of the key of that kind. */
export interface BudgetCounts {
  /** In windows in which Valkey was there, of those that processes decided together. With `refuse` these are all. */
  readonly fullest: number
  /** Decided alone although Valkey was there, because its answer took longer than 2 s. With `local` they are not in `fullest`. */
  readonly late: number
  /** In all windows. */
  readonly fullestWithLosses: number
  /** While no process could reach Valkey. */
  readonly alone: number
}

/** The findings of a run. */
export interface Findings {
  readonly times: ReadonlyArray<FaultTimes>
  readonly behind: ReadonlyArray<string>
  readonly stored: BlockDifferences
  /** Counts of the views of ClickHouse; null where trades are in PostgreSQL. */
  readonly storedViews: ViewCounts | null
  readonly replicas: ReadonlyArray<
    BlockDifferences & { readonly views: { readonly compared: number; readonly differences: number } }
  >
  readonly alerts: {
    readonly acknowledged: number
    readonly lost: number
    readonly twice: number
    readonly trades: { readonly fired: number; readonly again: number; readonly twice: number }
  }
  readonly budgets: Readonly<Record<BudgetKind, BudgetCounts>>
  /** True when some fault took Valkey away from every process. */
  readonly isValkeyLost: boolean
  readonly sockets: Pick<ReaderCounts, "numbered" | "silentGaps">
  /** Readers that got no frame after the last fault. */
  readonly silentReaders: number
  readonly streams: Pick<QuoteCounts, "priced" | "silentGaps">
  /** Quote streams that got no quote after the last fault. */
  readonly silentStreams: number
  /** Every read was answered after the last fault where `areReadsWhole`. */
  readonly answers: Answers & { readonly areReadsWhole: boolean }
}

/** Limits that hold whatever happens: each window is exact with `refuse`, and at most twice as full with `local`. */
const areBounded = ({ refuse, local }: Findings["budgets"], isValkeyLost: boolean): boolean =>
  refuse.fullest === DEFAULT_PLAN.rest &&
  refuse.fullestWithLosses === DEFAULT_PLAN.rest &&
  refuse.alone + refuse.late === 0 &&
  local.fullest === DEFAULT_PLAN.rest &&
  local.fullestWithLosses <= 2 * DEFAULT_PLAN.rest &&
  (local.alone > 0 || !isValkeyLost)

/** The property of a fault: true when it held wherever it was looked for, and null when no fault of the run has it. */
const proofsOf = (times: ReadonlyArray<FaultTimes>) => {
  const proofs = times.flatMap((time) => time.proofs)
  return Object.fromEntries(
    PROPERTIES.flatMap((name) => {
      const of = proofs.filter(({ property }) => property === name)
      return of.length === 0 ? [] : [[name, of.every(isHeld)] as const]
    })
  )
}

/** Each verdict by its name: true where it holds. A property that no fault of the run has is left out. */
export const verdictsOf = (found: Findings): Readonly<Record<string, boolean>> => ({
  recovered: found.times.every(
    ({ afterwards, during }) => longest(during === null ? [afterwards] : [during, afterwards]) !== null
  ),
  replicas:
    found.behind.length === 0 &&
    found.replicas.length > 0 &&
    found.replicas.every((each) => areEqual(each) && each.views.compared > 0 && each.views.differences === 0),
  stored: areEqual(found.stored) && (found.storedViews === null || haveEach(found.storedViews)),
  history: found.times.every(
    ({ reads }) => reads === null || (areWhole(reads.before) && areLiveAlone(reads.during) && areWhole(reads.after))
  ),
  gaps: found.times.every(({ gaps }) => gaps === null || (gaps.compared > 0 && gaps.hidden === 0)),
  limits: areBounded(found.budgets, found.isValkeyLost),
  alerts:
    found.alerts.acknowledged > 1 &&
    found.alerts.trades.again > 0 &&
    found.alerts.lost + found.alerts.twice + found.alerts.trades.twice === 0,
  sockets: found.sockets.numbered > 0 && found.sockets.silentGaps === 0 && found.silentReaders === 0,
  streams: found.streams.priced > 0 && found.streams.silentGaps === 0 && found.silentStreams === 0,
  statuses:
    (found.answers.statuses["200"] ?? 0) > 0 &&
    found.answers.undeclared.length === 0 &&
    (found.answers.unanswered["none"] ?? 0) === 0,
  failures: found.answers.areReadsWhole && Object.keys(found.answers.failed["none"] ?? {}).length === 0,
  ...proofsOf(found.times)
})
