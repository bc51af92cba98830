/** The rows of a long run, and the verdicts on them. */
import { percentile } from "../bench/report.ts"

/** One row: the state of the service at its end, and what it answered since the row before. */
export interface SoakRow {
  /** Minutes since the begin of the measurement. */
  readonly minute: number
  readonly descriptors: number
  /** Heap of the main thread after a collection, in megabytes. */
  readonly heapMb: number
  readonly workersMb: number
  readonly externalMb: number
  readonly residentMb: number
  /** Quotes that were answered, and their time from request to answer. */
  readonly quotes: number
  readonly wallP50Ms: number | null
  readonly wallP99Ms: number | null
  /** Processor time of the main thread for a quote, over bursts of quotes. */
  readonly processorP50Ms: number | null
  readonly processorP99Ms: number | null
  readonly loopP99Ms: number
  readonly loopMaxMs: number
  /** Partitions of trades: how many there are, and how many were made and dropped since the row before. */
  readonly partitions: number
  readonly partitionsMade: number
  readonly partitionsDropped: number
  readonly gapsOpen: number
  /** Counters of loss since the start of the service, summed. */
  readonly losses: number
  readonly databaseRestarts: number
  readonly nodeRestarts: number
}

/** Quotes of one row in full. */
export interface QuoteSamples {
  readonly wallMs: ReadonlyArray<number>
  readonly processorMs: ReadonlyArray<number>
}

/** One verdict; null where the run was too short for it. */
export interface SoakVerdict {
  readonly holds: boolean | null
  readonly figure: number | null
  readonly bound: number
}

/** Rows under which no verdict on a trend is given. */
const FEWEST_ROWS = 8
/** Descriptors that may be added between the first and the last quarter: connections come and go. */
const MORE_DESCRIPTORS = 5
/** Growth of the heap over the last half of a run, as a share of its middle value, that counts as a trend. */
const HEAP_GROWTH = 0.05
const P99_DRIFT = 0.2

const median = (values: ReadonlyArray<number>): number => percentile(values, 0.5) ?? Number.NaN

/** The middle slope of all pairs of points with distances of one: no single point moves it. */
export const medianSlope = (values: ReadonlyArray<number>): number =>
  median(values.flatMap((later, j) => values.slice(0, j).map((earlier, i) => (later - earlier) / (j - i))))

const quarters = <A>(rows: ReadonlyArray<A>): readonly [ReadonlyArray<A>, ReadonlyArray<A>] => {
  const length = Math.floor(rows.length / 4)
  return [rows.slice(0, length), rows.slice(-length)]
}

const verdict = (figure: number | null, bound: number): SoakVerdict => ({
  holds: figure === null ? null : figure <= bound,
  figure,
  bound
})

/** Descriptors added between the first and the last quarter. */
export const descriptorsFlat = (rows: ReadonlyArray<Pick<SoakRow, "descriptors">>): SoakVerdict => {
  const [first, last] = quarters(rows.map(({ descriptors }) => descriptors))
  return verdict(rows.length < FEWEST_ROWS ? null : median(last) - median(first), MORE_DESCRIPTORS)
}

/** Growth of the heap after collection over the last half of the rows, as a share of its middle value. */
export const heapFlat = (rows: ReadonlyArray<Pick<SoakRow, "heapMb">>): SoakVerdict => {
  const half = rows.slice(Math.floor(rows.length / 2)).map(({ heapMb }) => heapMb)
  const growth = (medianSlope(half) * (half.length - 1)) / median(half)
  return verdict(rows.length < FEWEST_ROWS ? null : growth, HEAP_GROWTH)
}

/** How much the 99th percentile of all samples grew from the first quarter of the rows to the last. */
export const p99Steady = (rows: ReadonlyArray<ReadonlyArray<number>>): SoakVerdict => {
  const [first, last] = quarters(rows).map((quarter) => percentile(quarter.flat(), 0.99))
  const isShort = rows.length < FEWEST_ROWS || first === null || first === undefined
  return verdict(isShort || last === null || last === undefined ? null : last / first - 1, P99_DRIFT)
}

/** Nothing of a kind was lost; `count` is null where it could not be counted, which does not hold. */
export const noneLost = (count: number | null): SoakVerdict => ({ holds: count === 0, figure: count, bound: 0 })
