import { fromAtomic } from "../../domain/decimal.ts"
import type { SimLevel } from "./perpsMarkets.ts"
import { type VenueRequest, ok, refused, signed, priceOf, sizeOf, find, type VenueResponse } from "./perpsShapes.ts"

const fee = (value: string) => ({ fee: value, fee_cap: "0.5", fee_floor: "-0.5" })

/** Paradex: markets, their summaries and their books. */
export const simParadex = ({ book, nowMs, path, query, rate8h }: VenueRequest): VenueResponse => {
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
  if (path === "/markets/summary") {
    const rate = signed(rate8h("paradex", perp, nowMs), 12)
    return ok({ results: [{ symbol, created_at: nowMs, funding_rate: rate, open_interest: "1000" }] })
  }
  const market = {
    symbol,
    base_currency: perp.symbol,
    quote_currency: "USD",
    settlement_currency: "USDC",
    order_size_increment: fromAtomic(1n, perp.sizeDigits),
    price_tick_size: fromAtomic(1n, perp.priceDigits),
    min_notional: "10",
    asset_kind: "PERP",
    funding_period_hours: 8,
    fee_config: { api_fee: { maker_fee: fee("0.00003"), taker_fee: fee("0.0002") } }
  }
  return path === "/markets" ? ok({ results: [market] }) : refused(404, { error: "NOT_FOUND" })
}
