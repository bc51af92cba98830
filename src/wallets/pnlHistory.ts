/** Profit of a wallet by UTC day. Unknown figures are null; known ones are exact. */
import type { Mint } from "../domain/Address.ts"
import { numberText, tenTo } from "../domain/decimal.ts"
import type { Rational } from "../domain/rational.ts"
import type { WalletDay } from "../api/schemas/WalletPositions.ts"
import { applyEvent, beginsPosition, emptyPosition, type MintEvent, type Position } from "./ledger.ts"
import { unreadPosition } from "./wholeEvents.ts"
import { sumOf, usdTextOrNull, valueOf } from "./pnl.ts"

const DAY_MS = 86_400_000

/** The days of a history and the prices at their ends. */
export interface HistoryRequest {
  /** In milliseconds since the Unix epoch. The history ends with the day of this time. */
  readonly nowMs: number
  /** Most days, today included. */
  readonly days: number
  /** Micro-dollars for one smallest unit at the end of a day that begins at this time; null when unknown. */
  readonly priceAt: (position: Position, dayMs: number) => Rational | null
  /** True for mints whose held units are not known. */
  readonly isUnread?: (mint: Mint) => boolean
  /** Units held now, if they were read; null when the events have them. */
  readonly unitsOf?: (mint: Mint) => bigint | null
}

/** Sums of one day, in nano-dollars. */
interface DaySums {
  realized: bigint | null
  knownRealized: bigint | null
  cost: bigint | null
  proceeds: bigint | null
  trades: number
}

const noSums = (): DaySums => ({ realized: 0n, knownRealized: 0n, cost: 0n, proceeds: 0n, trades: 0 })

/** Start of the UTC day of a time. */
const dayOf = (timeMs: number): number => timeMs - (timeMs % DAY_MS)

/** The position after the event, with the sums of this event alone. */
const applied = (position: Position, event: MintEvent): Position =>
  applyEvent({ ...position, realizedNanos: 0n, knownRealizedNanos: 0n, boughtNanos: 0n, proceedsNanos: 0n }, event)

const added = (sums: DaySums, event: MintEvent, after: Position): DaySums => ({
  realized: sumOf([sums.realized, after.realizedNanos]),
  knownRealized: sumOf([sums.knownRealized, after.isUnread === true ? null : after.knownRealizedNanos]),
  cost: sumOf([sums.cost, after.boughtNanos]),
  proceeds: sumOf([sums.proceeds, after.proceedsNanos]),
  trades: sums.trades + event.trades.length
})

/** The known part of values; null when some are unknown and nothing else is held. */
const knownPart = (values: ReadonlyArray<bigint | null>): bigint | null => {
  const known = values.filter((value) => value !== null)
  const sum = known.reduce((all, value) => all + value, 0n)
  return sum === 0n && known.length < values.length ? null : sum
}

const rowOf = (dayMs: number, sums: DaySums, values: ReadonlyArray<bigint | null>, nowMs: number): WalletDay => ({
  day: new Date(dayMs).toISOString().slice(0, 10),
  fromMs: dayMs,
  throughMs: Math.min(dayMs + DAY_MS - 1, nowMs),
  realized: usdTextOrNull(sums.realized),
  knownRealized: usdTextOrNull(sums.knownRealized),
  costUsd: usdTextOrNull(sums.cost),
  proceedsUsd: usdTextOrNull(sums.proceeds),
  trades: sums.trades,
  valueUsd: usdTextOrNull(sumOf(values)),
  knownValueUsd: usdTextOrNull(knownPart(values)),
  unvalued: values.filter((value) => value === null).length
})

/** The days from the first event on, the oldest first; events come in chain order. Empty without events. */
export const dailyPnl = (
  events: ReadonlyArray<MintEvent & { readonly mint: Mint }>,
  { days, isUnread = () => false, nowMs, priceAt, unitsOf = () => null }: HistoryRequest
): ReadonlyArray<WalletDay> => {
  const [first] = events
  if (first === undefined) {
    return []
  }
  const positions = new Map<Mint, Position>()
  const from = Math.max(dayOf(first.timeMs), dayOf(nowMs) - (days - 1) * DAY_MS)
  const rows: Array<WalletDay> = []
  let at = 0
  for (let dayMs = from; dayMs <= dayOf(nowMs); dayMs += DAY_MS) {
    let sums = noSums()
    for (let event = events[at]; event !== undefined && event.timeMs < dayMs + DAY_MS; event = events[++at]) {
      const known = positions.get(event.mint)
      if (known !== undefined || beginsPosition(event)) {
        const next = applied(known ?? emptyPosition(event.mint), event)
        const after = isUnread(event.mint) ? unreadPosition(next) : next
        positions.set(event.mint, after)
        sums = event.timeMs < dayMs ? sums : added(sums, event, after)
      }
    }
    const isToday = dayMs === dayOf(nowMs)
    const values = Array.from(positions.values(), (position) => {
      const units = isToday && !isUnread(position.mint) ? unitsOf(position.mint) : null
      return valueOf(units ?? position.held, priceAt(position, dayMs))
    })
    rows.push(rowOf(dayMs, sums, values, nowMs))
  }
  return rows
}

/**
 * A candle's price of a whole token as micro-dollars for one smallest unit; null unless the price is a positive number.
 */
export const unitPrice = (priceUsd: number, decimals: number): Rational | null => {
  const [whole = "", fraction = ""] = (priceUsd > 0 ? numberText(priceUsd) : null)?.split(".") ?? []
  return whole === ""
    ? null
    : { numerator: BigInt(whole + fraction) * 1_000_000n, denominator: tenTo(fraction.length) * tenTo(decimals) }
}
