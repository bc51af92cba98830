import { fromAtomic } from "../../domain/decimal.ts"
import type { SimLevel, SimPerp } from "./perpsMarkets.ts"
import {
  type VenueRequest,
  numberOf,
  ok,
  refused,
  signed,
  priceOf,
  sizeOf,
  find,
  listedOn,
  type VenueResponse
} from "./perpsShapes.ts"

const fee = (value: string) => ({ fee: value, fee_cap: "0.5", fee_floor: "-0.5" })

const marketOf = ({ priceDigits, sizeDigits, symbol }: SimPerp) => ({
  symbol: `${symbol}-USD-PERP`,
  base_currency: symbol,
  quote_currency: "USD",
  settlement_currency: "USDC",
  order_size_increment: fromAtomic(1n, sizeDigits),
  price_tick_size: fromAtomic(1n, priceDigits),
  min_notional: "10",
  asset_kind: "PERP",
  funding_period_hours: 8,
  fee_config: { api_fee: { maker_fee: fee("0.00003"), taker_fee: fee("0.0002") } }
})

/** Paradex: markets, their summaries and their books. */
export const simParadex = ({ book, nowMs, path, query, rate8h }: VenueRequest): VenueResponse => {
  if (path === "/markets" && !query.has("market")) {
    return ok({ results: listedOn("paradex").map(marketOf) })
  }
  const bookOf = /^\/orderbook\/(.+)$/u.exec(path)?.[1] ?? null
  const perp = find("paradex", bookOf ?? query.get("market"), "-USD-PERP")
  if (perp === undefined) {
    return refused(400, { error: "INVALID_REQUEST_PARAMETER", message: "unknown market" })
  }
  const symbol = `${perp.symbol}-USD-PERP`
  if (bookOf !== null) {
    const { asks, asOfMs, bids } = book(perp)
    const level = (one: SimLevel) => [priceOf(perp, one), sizeOf(perp, one)]
    return ok({
      market: symbol,
      seq_no: asOfMs,
      last_updated_at: asOfMs,
      bids: bids.map(level),
      asks: asks.map(level)
    })
  }
  if (path === "/funding/data") {
    // The venue has a rate for every second. Between the times of a request, this one has those of ten seconds.
    const [fromMs, toMs] = [numberOf(query, "start_at"), Math.min(nowMs, numberOf(query, "end_at"))]
    const seconds = Math.max(0, Math.min(10, Math.floor((toMs - fromMs) / 1000)))
    const rateAt = (_: unknown, second: number) => {
      const atMs = fromMs + (seconds - second) * 1000
      const rate = signed(rate8h("paradex", perp, atMs), 12)
      return {
        market: symbol,
        created_at: atMs,
        funding_rate: rate,
        funding_rate_8h: rate,
        funding_period_hours: 8,
        funding_premium: "0",
        funding_index: fromAtomic(BigInt(Math.floor(atMs / 1000)), 6)
      }
    }
    return ok({ next: null, prev: null, results: Array.from({ length: seconds + 1 }, rateAt) })
  }
  if (path === "/markets/summary") {
    const rate = signed(rate8h("paradex", perp, nowMs), 12)
    return ok({ results: [{ symbol, created_at: nowMs, funding_rate: rate, open_interest: "1000" }] })
  }
  return path === "/markets" ? ok({ results: [marketOf(perp)] }) : refused(404, { error: "NOT_FOUND" })
}
