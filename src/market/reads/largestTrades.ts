/** The largest trade of a token in each of its windows. */
import { Effect } from "effect"
import { type Mint, USDC } from "../../domain/Address.ts"
import type { LargestTrade } from "../../api/schemas/TokenStats.ts"
import { COMPLETE, type CoverageReason, incomplete } from "../../domain/Scalar.ts"
import { largestFirst, type LargestFound, largestOf } from "../model/TradesRequest.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import type { Market } from "../tape/Market.ts"
import { dollarsText } from "./measures.ts"
import { tradesCoverage } from "./tradesCoverage.ts"

/** A window, and the number of its trades with an unknown value. */
export interface LargestWindow {
  readonly fromMs: number
  readonly trades: number
  readonly unpriced: number
}

const UNFILTERED = { side: null, wallet: null, pool: null, minUsdNanos: null, toMs: null, before: null }
const NOTHING: LargestFound = { trades: [], clippedAtMs: null }

const lacking = (reason: CoverageReason): LargestTrade => ({
  trade: null,
  status: "unavailable",
  coverage: incomplete(reason)
})

const shown = ({ index, side, signature, slot, timeMs, wallet }: TapeTrade, nanos: bigint): LargestTrade["trade"] => ({
  signature,
  slot,
  index,
  timeMs,
  side,
  wallet,
  valueUsd: dollarsText(nanos)
})

/** The trades of both lists, each once. The store's trade wins, because a repair may have given it another price. */
const joined = (stored: ReadonlyArray<TapeTrade>, recent: ReadonlyArray<TapeTrade>): ReadonlyArray<TapeTrade> => [
  ...stored,
  ...recent.filter((trade) => !stored.some(({ index, slot }) => slot === trade.slot && index === trade.index))
]

/**
 * The largest trade of each window up to the newest block, in the given order. Trades in memory are read at once, so
 * they match windows that are read in the same step. Unknown unless every trade of the window is in memory or in the
 * store.
 */
export const largestTrades = (
  tape: Market["Service"],
  mint: Mint,
  windows: ReadonlyArray<LargestWindow>,
  nowMs: number
): Effect.Effect<ReadonlyArray<LargestTrade>> => {
  const startsMs = windows.map(({ fromMs }) => fromMs).toSorted((a, b) => a - b)
  const request = { mint, startsMs, toSlot: tape.newestSlot() }
  const fromMs = startsMs[0] ?? nowMs
  const recent = largestOf(tape.recent.find({ ...UNFILTERED, mint, fromMs, limit: Number.POSITIVE_INFINITY }), request)
  const stored = tape.stored()

  const largest = (found: LargestFound | null, { fromMs, trades, unpriced }: LargestWindow): LargestTrade => {
    // A swap for USDC is recorded under the other token, so none is recorded for USDC itself.
    if (mint === USDC) {
      return lacking("not_captured")
    }
    const page = { trades: [], next: null, isMissing: found === null }
    const { reason } = tradesCoverage(tape, { mints: [mint], filter: { fromMs, toMs: null } }, page, nowMs)
    if (reason !== null) {
      return lacking(reason)
    }
    const { clippedAtMs, trades: swaps } = found ?? NOTHING
    if (clippedAtMs !== null && clippedAtMs >= fromMs) {
      return lacking("limit_clipped")
    }
    const [first] = joined(swaps, recent)
      .filter(({ timeMs }) => timeMs >= fromMs)
      .toSorted(largestFirst)
    const nanos = first?.volumeUsdNanos ?? null
    if (first === undefined || nanos === null) {
      return trades > 0 ? lacking("mark_unknown") : { trade: null, status: "known", coverage: COMPLETE }
    }
    return unpriced > 0
      ? { trade: shown(first, nanos), status: "partial", coverage: incomplete("mark_unknown") }
      : { trade: shown(first, nanos), status: "known", coverage: COMPLETE }
  }

  const search = stored === null ? Effect.succeed(NOTHING) : stored.trades.largestOf(request)
  return search.pipe(
    Effect.tapError(({ cause }) => Effect.logWarning("Stored trades cannot be read", cause)),
    Effect.orElseSucceed(() => null),
    Effect.map((found) => windows.map((window) => largest(found, window)))
  )
}
