import { fromAtomic } from "../../domain/decimal.ts"
import type { SimLevel, SimPerp } from "./perpsMarkets.ts"
import {
  type VenueRequest,
  hoursBetween,
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

const HOUR_MS = 3_600_000
const QUOTE = "USDT"

const market = ({ priceDigits, sizeDigits, symbol }: SimPerp) => {
  const lot = { minQty: fromAtomic(1n, sizeDigits), maxQty: "1000000", stepSize: fromAtomic(1n, sizeDigits) }
  return {
    symbol: `${symbol}${QUOTE}`,
    pair: `${symbol}${QUOTE}`,
    contractType: "PERPETUAL",
    status: "TRADING",
    baseAsset: symbol,
    quoteAsset: QUOTE,
    filters: [
      { filterType: "PRICE_FILTER", tickSize: fromAtomic(1n, priceDigits) },
      { filterType: "LOT_SIZE", ...lot },
      { filterType: "MARKET_LOT_SIZE", ...lot },
      { filterType: "MIN_NOTIONAL", notional: "5" }
    ]
  }
}

/** Aster: markets, funding and books, like Binance's futures API. */
export const simAster = ({ book, nowMs, path, query, rate8h }: VenueRequest): VenueResponse => {
  const listed = listedOn("aster")
  switch (path) {
    case "/fapi/v1/exchangeInfo":
      return ok({ timezone: "UTC", serverTime: nowMs, symbols: listed.map(market) })
    case "/fapi/v1/fundingInfo":
      return ok(listed.map(({ symbol }) => ({ symbol: `${symbol}${QUOTE}`, fundingIntervalHours: 8 })))
    case "/fapi/v1/premiumIndex":
      return ok(
        listed.map((perp) => ({
          symbol: `${perp.symbol}${QUOTE}`,
          lastFundingRate: signed(rate8h("aster", perp, nowMs), 12),
          nextFundingTime: Math.ceil(nowMs / (8 * HOUR_MS)) * 8 * HOUR_MS,
          time: nowMs
        }))
      )
    case "/fapi/v1/fundingRate": {
      const perp = find("aster", query.get("symbol"), QUOTE)
      const [fromMs, toMs, most] = ["startTime", "endTime", "limit"].map((name) => numberOf(query, name))
      return perp === undefined
        ? refused(400, { code: -1121, msg: "Invalid symbol." })
        : ok(
            hoursBetween(fromMs ?? 0, toMs ?? nowMs, 1000, nowMs)
              .filter((atMs) => atMs % (8 * HOUR_MS) === 0)
              .slice(0, most)
              .map((atMs) => ({
                symbol: `${perp.symbol}${QUOTE}`,
                fundingTime: atMs,
                fundingRate: signed(rate8h("aster", perp, atMs), 12)
              }))
          )
    }
    case "/fapi/v1/depth": {
      const perp = find("aster", query.get("symbol"), QUOTE)
      return perp === undefined ? refused(400, { code: -1121, msg: "Invalid symbol." }) : depth(perp, book(perp))
    }
    default:
      return refused(404, { code: -5000, msg: "Path not found" })
  }
}

const depth = (perp: SimPerp, { asks, asOfMs, bids }: ReturnType<VenueRequest["book"]>) => {
  const level = (one: SimLevel) => [priceOf(perp, one), sizeOf(perp, one)]
  return ok({ lastUpdateId: asOfMs, E: asOfMs, T: asOfMs, bids: bids.map(level), asks: asks.map(level) })
}
