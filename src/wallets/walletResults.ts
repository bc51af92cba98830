/** Win rate, hold times, streaks and drawdown of a wallet. Pure. */
import type { ClosedPosition, Drawdown, WalletResults } from "../api/schemas/WalletPerformance.ts"
import { fractionOf } from "../domain/rational.ts"
import { NANOS_PER_USD } from "../domain/units.ts"
import type { WalletDay } from "../api/schemas/WalletPositions.ts"
import { isOpen, isTraded, type Position } from "./ledger.ts"
import { percent, usdText } from "./pnl.ts"

interface Known {
  readonly position: Position
  readonly realized: bigint
}

/** Rows of results in a list of closed positions, the first closed first. */
const streaksOf = (results: ReadonlyArray<bigint | null>): WalletResults["streaks"] => {
  let [current, longestWon, longestLost] = [0, 0, 0]
  for (const realized of results) {
    if (realized === null || realized === 0n) {
      current = 0
    } else {
      current = realized > 0n ? Math.max(current, 0) + 1 : Math.min(current, 0) - 1
    }
    longestWon = Math.max(longestWon, current)
    longestLost = Math.max(longestLost, -current)
  }
  return { longestWon, longestLost, current }
}

const nanosOf = (usd: string): bigint => {
  const { denominator, numerator } = fractionOf(usd.replace("-", ""))
  return ((usd.startsWith("-") ? -numerator : numerator) * NANOS_PER_USD) / denominator
}

/** The largest fall of the summed profit below an earlier height. Null when a day is unknown. */
const drawdownOf = (days: ReadonlyArray<Pick<WalletDay, "day" | "realized">>): Drawdown | null => {
  let [sum, height, heightDay]: [bigint, bigint, string | null] = [0n, 0n, null]
  let [fall, fromDay, throughDay]: [bigint, string | null, string | null] = [0n, null, null]
  for (const { day, realized } of days) {
    if (realized === null) {
      return null
    }
    sum += nanosOf(realized)
    if (sum > height) {
      ;[height, heightDay] = [sum, day]
    }
    if (height - sum > fall) {
      ;[fall, fromDay, throughDay] = [height - sum, heightDay, day]
    }
  }
  return { usd: usdText(fall), fromDay, throughDay }
}

const closedBody = ({ position, realized }: Known): ClosedPosition => ({
  mint: position.mint,
  realized: usdText(realized),
  roiPct: percent(realized, position.boughtNanos)
})

/** The results of the positions of a wallet, and of its days, the oldest first. */
export const walletResults = (
  all: ReadonlyArray<Position>,
  days: ReadonlyArray<Pick<WalletDay, "day" | "realized">>
): WalletResults => {
  const positions = all.filter(isTraded)
  const closed = positions
    .filter((position) => !isOpen(position))
    .toSorted((a, b) => (a.lastAtMs ?? 0) - (b.lastAtMs ?? 0) || (a.mint < b.mint ? -1 : 1))
  const known = closed.flatMap((position): ReadonlyArray<Known> =>
    position.realizedNanos === null ? [] : [{ position, realized: position.realizedNanos }]
  )
  const ranked = known.toSorted((a, b) => (a.realized === b.realized ? 0 : a.realized > b.realized ? -1 : 1))
  const holds = closed.map(({ firstAtMs, lastAtMs }) => (lastAtMs ?? 0) - (firstAtMs ?? 0)).toSorted((a, b) => a - b)
  const won = known.filter(({ realized }) => realized > 0n).length
  const [best] = ranked
  const worst = ranked.at(-1)
  return {
    positions: positions.length,
    closed: closed.length,
    known: known.length,
    won,
    lost: known.filter(({ realized }) => realized < 0n).length,
    winRatePct: percent(BigInt(won), BigInt(known.length)),
    holdMs: {
      shortest: holds[0] ?? null,
      median: holds[Math.floor((holds.length - 1) / 2)] ?? null,
      longest: holds.at(-1) ?? null
    },
    best: best === undefined ? null : closedBody(best),
    worst: worst === undefined ? null : closedBody(worst),
    streaks: streaksOf(closed.map(({ realizedNanos }) => realizedNanos)),
    drawdown: drawdownOf(days)
  }
}
