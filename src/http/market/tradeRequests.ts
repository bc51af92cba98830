/** Queries of trades as filters of the reader, and the places of their cursors. */
import type { TokenTradesQuery } from "../../api/market/Trades.ts"
import { NANOS_PER_USD } from "../../domain/units.ts"
import type { TradeFilter, TradePlace } from "../../market/store/TradesRequest.ts"
import { rational } from "../handlers/marketRequests.ts"
import type { OrderKey } from "../middleware/cursor.ts"

const WHOLE = /^(?:0|[1-9][0-9]{0,15})$/u

const toMs = (second: number | undefined): number | null => (second === undefined ? null : second * 1000)

/** Nano-dollars of decimal text, rounded up: a value is at least the text exactly when it is at least these. */
const nanosOf = (text: string): bigint => {
  const { denominator, numerator } = rational(text)
  return (numerator * NANOS_PER_USD + denominator - 1n) / denominator
}

/** The filter of a query. */
export const tradeFilter = ({ from, minUsd, pool, side, to, wallet }: typeof TokenTradesQuery.Type): TradeFilter => ({
  side: side ?? null,
  wallet: wallet ?? null,
  pool: pool ?? null,
  minUsdNanos: minUsd === undefined ? null : nanosOf(minUsd),
  fromMs: toMs(from),
  toMs: toMs(to)
})

/** The place of a cursor's key; null for a key that is none. */
export const placeOfKey = ([slot = "", index = "", ...more]: OrderKey): TradePlace | null =>
  more.length === 0 && WHOLE.test(slot) && WHOLE.test(index) ? { slot: Number(slot), index: Number(index) } : null
