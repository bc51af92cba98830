/** The coverage of a page of trades. */
import type { Mint } from "../../domain/Address.ts"
import { type Coverage, type CoverageReason, incomplete } from "../../domain/Scalar.ts"
import type { TradeFilter } from "../model/TradesRequest.ts"
import { lackingNow } from "../tape/freshness.ts"
import type { Market } from "../tape/Market.ts"

/** A page of rows, newest first. */
interface Found {
  readonly trades: ReadonlyArray<{ readonly timeMs: number }>
  readonly next: object | null
  /** True when the store did not answer. */
  readonly isMissing: boolean
}

interface Request {
  readonly mints: ReadonlyArray<Mint>
  readonly filter: Pick<TradeFilter, "fromMs" | "toMs">
}

type Tape = Market["Service"]

const secondOf = (timeMs: number): number => Math.floor(timeMs / 1000)

/** From this second on the page has every trade. A token whose launch was seen has no earlier trade. */
const startOf = (tape: Tape, { filter: { fromMs }, mints }: Request, { next, trades }: Found): number => {
  const oldest = trades.at(-1)
  if (next !== null && oldest !== undefined) {
    return secondOf(oldest.timeMs)
  }
  const [first, ...others] = mints.map((mint) => tape.launches.of(mint)?.createdAtMs ?? null)
  const began = others.length > 0 || first === undefined || first === null ? null : first
  const from = Math.max(fromMs ?? Number.NEGATIVE_INFINITY, began ?? Number.NEGATIVE_INFINITY)
  // Blocks before the launch contain no trade of the token. The second of the launch may have begun before the record.
  return from === began ? secondOf(from) + 1 : secondOf(from)
}

/** Why trades at the newer end are missing; null when none are. */
export const lackingAtEnd = (tape: Tape, toMs: number | null, nowMs: number): CoverageReason | null => {
  const lacking = lackingNow(tape, nowMs)
  const readToMs = lacking === "backfill_running" ? tape.state.now * 1000 : (tape.heardAtMs() ?? 0)
  return toMs === null || toMs > readToMs ? lacking : null
}

/** Why trades at the older end are missing, apart from blocks that were not read. */
const lackingAtStart = (tape: Tape, start: number, found: Found, nowMs: number): CoverageReason | null => {
  const stored = tape.stored()
  if (found.isMissing) {
    return "deadline"
  }
  if (stored === null) {
    return tape.recent.hasDropped && found.next === null ? "limit_clipped" : null
  }
  return start < nowMs / 1000 - stored.candles.keptSeconds("1s") ? "resolution_retention" : null
}

/** The coverage of the time between the ends of a page. */
export const tradesCoverage = (tape: Tape, request: Request, found: Found, nowMs: number): Coverage => {
  const { toMs } = request.filter
  const start = startOf(tape, request, found)
  const lacking = lackingAtEnd(tape, toMs, nowMs) ?? lackingAtStart(tape, start, found, nowMs)
  if (lacking !== null) {
    return incomplete(lacking)
  }
  const end = toMs === null ? tape.state.now : Math.min(tape.state.now, secondOf(toMs - 1))
  const { share: _share, ...coverage } = tape.recordedFrom(start, Math.max(start, end))
  return coverage
}
