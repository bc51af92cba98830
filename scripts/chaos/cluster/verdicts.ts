/** The verdicts of a run. */
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import type { QuoteCounts, ReaderCounts } from "../../soak/sockets.ts"
import { areEqual, type BlockDifferences } from "./blockHashes.ts"
import { areLiveAlone, areWhole, haveEach, type ReadStatuses, type ViewCounts } from "./clickHouse.ts"
import type { GapLooks } from "./hiddenGaps.ts"
import type { Answers } from "./load.ts"
import { longest, type Recovery } from "./recovery.ts"

/** Times of a fault; null where the service cannot recover before the fault ends. */
export interface FaultTimes {
  readonly fault: string
  readonly during: Recovery | null
  readonly afterwards: Recovery
  /** Quotes of a process that missed writes beside another process's; null where none did. */
  readonly gaps: Readonly<GapLooks> | null
  /** Reads before, during and after a fault that takes some of them away; null where it takes none. */
  readonly reads: { readonly before: ReadStatuses; readonly during: ReadStatuses; readonly after: ReadStatuses } | null
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
  readonly alerts: { readonly acknowledged: number; readonly lost: number; readonly twice: number }
  /** The most admissions in a window of a minute over all processes. */
  readonly fullest: number
  readonly sockets: Pick<ReaderCounts, "numbered" | "silentGaps">
  /** Readers that got no frame after the last fault. */
  readonly silentReaders: number
  readonly streams: Pick<QuoteCounts, "priced" | "silentGaps">
  /** Quote streams that got no quote after the last fault. */
  readonly silentStreams: number
  /** Every read was answered after the last fault where `areReadsWhole`. */
  readonly answers: Answers & { readonly areReadsWhole: boolean }
}

/** Each verdict by its name: true where it holds. */
export const verdictsOf = (found: Findings) => ({
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
  limits: found.fullest === DEFAULT_PLAN.rest,
  alerts: found.alerts.acknowledged > 0 && found.alerts.lost + found.alerts.twice === 0,
  sockets: found.sockets.numbered > 0 && found.sockets.silentGaps === 0 && found.silentReaders === 0,
  streams: found.streams.priced > 0 && found.streams.silentGaps === 0 && found.silentStreams === 0,
  statuses:
    (found.answers.statuses["200"] ?? 0) > 0 &&
    found.answers.undeclared.length === 0 &&
    (found.answers.unanswered["none"] ?? 0) === 0,
  failures: found.answers.areReadsWhole && Object.keys(found.answers.failed["none"] ?? {}).length === 0
})
