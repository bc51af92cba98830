/** Figures of the slots that were sent and of those that arrived. */
import { SLOT_MS } from "../../../src/simulator/chain/Bank.ts"
import { percentile } from "../report.ts"
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

/** The time from the sending of each slot to its first trade. `unseen` slots had no trade of the tokens that are watched, or are missing. */
export const lagOf = (
  slots: ReadonlyArray<number>,
  sent: ReadonlyMap<number, SentLine>,
  arrivedMs: ReadonlyMap<number, number>
) => {
  const lags = slots.flatMap((slot) => {
    const [line, atMs] = [sent.get(slot), arrivedMs.get(slot)]
    return line === undefined || atMs === undefined ? [] : [atMs - line.atMs]
  })
  const at = (p: number) => percentile(lags, p)
  return {
    seen: lags.length,
    unseen: slots.length - lags.length,
    slotsP50: inSlots(at(0.5)),
    slotsP99: inSlots(at(0.99)),
    slotsMost: inSlots(at(1)),
    p50Ms: inMs(at(0.5)),
    p99Ms: inMs(at(0.99)),
    mostMs: inMs(at(1))
  }
}
