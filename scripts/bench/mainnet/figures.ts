/** Figures of the slots that were sent and of the slots that arrived. */
import { SLOT_MS } from "../../../src/simulator/chain/Bank.ts"
import { atMost, type Bound, missedOf, percentile } from "../report.ts"
import type { SentLine } from "./startChain.ts"

const round = (value: number, digits: number) => Number(value.toFixed(digits))

const inSlots = (ms: number | null) => (ms === null ? null : round(ms / SLOT_MS, 2))
const inMs = (ms: number | null) => (ms === null ? null : Math.round(ms))

/** Rates of what was sent, in a second of the chain's own slots, and the cost of sending. */
export const sentOf = (lines: ReadonlyArray<SentLine>) => {
  const [first, last] = [lines[0], lines.at(-1)]
  const seconds = first === undefined || last === undefined ? 0 : (last.atMs - first.atMs + SLOT_MS) / 1000
  const sum = (value: (line: SentLine) => number) => lines.reduce((all, line) => all + value(line), 0)
  const perSecond = (value: (line: SentLine) => number) => (seconds === 0 ? null : round(sum(value) / seconds, 1))
  return {
    slots: lines.length,
    slotsPerSecond: perSecond(() => 1),
    transactionsPerSecond: perSecond(({ transactions }) => transactions),
    swapsPerSecond: perSecond(({ swaps }) => swaps),
    writesPerSecond: perSecond(({ writes }) => writes),
    megabytesPerSecond: perSecond(({ bytes }) => bytes / 1e6),
    mostLateMs: Math.max(0, ...lines.map(({ lateMs }) => lateMs)),
    mostWaitingMb: round(Math.max(0, ...lines.map(({ waiting }) => waiting)) / 1e6, 1),
    senderCores: seconds === 0 ? null : round(sum(({ cpuMs }) => cpuMs) / 1000 / seconds, 3)
  }
}

/**
 * The time from the sending of each slot to its first trade. Trades arrive in the order of slots. `missing` slots are newer than the
 * newest slot with a trade, and at least as late as the time to `endedMs`. `unseen` slots are older: they had no trade of the watched
 * tokens, or were missed, which `gaps` counts.
 */
export const lagOf = (
  slots: ReadonlyArray<number>,
  sent: ReadonlyMap<number, Pick<SentLine, "atMs">>,
  arrivedMs: ReadonlyMap<number, number>,
  endedMs: number
) => {
  const newest = Math.max(...arrivedMs.keys())
  const lines = slots.flatMap((slot) => {
    const line = sent.get(slot)
    return line === undefined ? [] : [{ slot, sentMs: line.atMs, atMs: arrivedMs.get(slot) }]
  })
  const seen = lines.flatMap(({ atMs, sentMs }) => (atMs === undefined ? [] : [atMs - sentMs]))
  const missing = lines.flatMap(({ sentMs, slot }) => (slot > newest ? [endedMs - sentMs] : []))
  const lags = seen.concat(missing)
  const at = (p: number) => percentile(lags, p)
  return {
    seen: seen.length,
    unseen: slots.length - lags.length,
    missing: missing.length,
    slotsP50: inSlots(at(0.5)),
    slotsP99: inSlots(at(0.99)),
    slotsMost: inSlots(at(1)),
    p50Ms: inMs(at(0.5)),
    p99Ms: inMs(at(0.99)),
    mostMs: inMs(at(1))
  }
}

/** Least part of the slots that the time allows, most slots behind the newest one, and most part of quotes without a 200. */
const LEAST_SENT = 0.95
const MOST_BEHIND = 10
const MOST_UNANSWERED = 0.01

/** What a service on two quiet cores must reach. */
const TARGETS = { lagSlots: 1.5, quoteMs: 5, memoryMb: 2_000, decodingMs: 60 }
/** The thread that reads, decodes and packs blocks. */
const DECODING = "geyser"

/** The figures of a run that decide whether it counts. */
export interface RunFigures {
  /** The end of the chain's process in words; null while it runs. */
  readonly chainEnded: string | null
  /** Time that was measured. */
  readonly seconds: number
  readonly sent: { readonly slots: number }
  readonly lag: { readonly seen: number; readonly slotsP99: number | null }
  /** Null where the market has no slot. */
  readonly behindSlots: number | null
  /** `count` are those that were answered 200; `unsent` ones were not sent because too many were unanswered. */
  readonly quotes: {
    readonly count: number
    readonly statuses: Readonly<Record<string, number>>
    readonly unsent: number
    readonly p99Ms: number | null
  }
  readonly memoryMb: { readonly service: number }
  /** Processor time of a slot by thread, in milliseconds; null where no block was applied. */
  readonly slotMs: { readonly threads: Readonly<Record<string, number>> } | null
  /** Slots that the service missed; null where they could not be counted. */
  readonly gaps: number | null
  readonly lostReaders: number
  readonly blocksApplied: number
}

/** The bounds of the targets. */
export const boundsOf = ({
  lag,
  memoryMb,
  quotes,
  slotMs
}: Pick<RunFigures, "lag" | "memoryMb" | "quotes" | "slotMs">): ReadonlyArray<Bound> => [
  atMost("Lag at p99, in slots", lag.slotsP99, TARGETS.lagSlots),
  atMost("Quotes at p99, in ms", quotes.p99Ms, TARGETS.quoteMs),
  atMost("Memory, in MB", memoryMb.service, TARGETS.memoryMb),
  atMost("Decoding a slot, in ms", slotMs?.threads[DECODING] ?? null, TARGETS.decodingMs)
]

/** Reasons for which a run does not count, as sentences; none for one that does. */
export const failuresOf = ({
  behindSlots,
  blocksApplied,
  chainEnded,
  gaps,
  lag,
  lostReaders,
  quotes,
  seconds,
  sent
}: RunFigures): ReadonlyArray<string> => {
  const due = Math.floor((1000 * seconds) / SLOT_MS)
  const asked = Object.values(quotes.statuses).reduce((sum, count) => sum + count, quotes.unsent)
  const unanswered = asked - quotes.count
  return missedOf([
    [chainEnded !== null, `The process of the chain ended: ${chainEnded}.`],
    [sent.slots < LEAST_SENT * due, `${sent.slots} slots were sent of the ${due} that the time allows.`],
    [lag.seen === 0, "No trade was seen."],
    [behindSlots === null, "The market has no slot."],
    [behindSlots !== null && behindSlots > MOST_BEHIND, `The market was ${behindSlots} slots behind at the end.`],
    [asked === 0, "No quote was asked for."],
    [unanswered > MOST_UNANSWERED * asked, `${unanswered} of ${asked} quotes were not answered 200.`],
    [gaps !== 0, gaps === null ? "Gaps could not be counted." : `${gaps} gaps were left.`],
    [lostReaders > 0, `${lostReaders} trade streams were lost.`],
    [blocksApplied <= 0, "No block was applied."]
  ])
}
