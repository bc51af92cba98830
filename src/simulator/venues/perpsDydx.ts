import { fromAtomic } from "../../domain/decimal.ts"
import type { SimLevel, SimPerp } from "./perpsMarkets.ts"
import {
  type VenueRequest,
  ok,
  hourly,
  hoursBetween,
  numberOf,
  refused,
  priceOf,
  sizeOf,
  listedOn,
  find,
  type VenueResponse
} from "./perpsShapes.ts"

/** dYdX v4: the indexer. */
export const simDydx = (request: VenueRequest): VenueResponse => {
  const { book, nowMs, path, rate8h } = request
  const listed = listedOn("dydx")
  if (path === "/v4/height") {
    const [first] = listed
    const asOfMs = first === undefined ? nowMs : book(first).asOfMs
    return ok({ height: String(Math.floor(asOfMs / 1000)), time: new Date(asOfMs).toISOString() })
  }
  if (path === "/v4/perpetualMarkets") {
    const market = (perp: SimPerp) => ({
      clobPairId: String(perp.id),
      ticker: `${perp.symbol}-USD`,
      status: "ACTIVE",
      nextFundingRate: hourly(rate8h("dydx", perp, nowMs)),
      initialMarginFraction: "0.05",
      maintenanceMarginFraction: "0.03",
      openInterest: "1000",
      tickSize: fromAtomic(1n, perp.priceDigits),
      stepSize: fromAtomic(1n, perp.sizeDigits)
    })
    return ok({ markets: Object.fromEntries(listed.map((perp) => [`${perp.symbol}-USD`, market(perp)])) })
  }
  const funded = /^\/v4\/historicalFunding\/(.+)$/u.exec(path)?.[1]
  const perp = find("dydx", funded ?? path.replace("/v4/orderbooks/perpetualMarket/", ""), "-USD")
  if (perp === undefined) {
    return refused(404, { errors: [{ msg: "not found in markets of type perpetual" }] })
  }
  if (funded !== undefined) {
    return historicalFunding(perp, request)
  }
  const { asks, bids } = book(perp)
  const level = (one: SimLevel) => ({ price: priceOf(perp, one), size: sizeOf(perp, one) })
  return ok({ bids: bids.map(level), asks: asks.map(level) })
}

/** Rates up to a time, newest first, at most 100. */
const historicalFunding = (perp: SimPerp, { nowMs, query, rate8h }: VenueRequest): VenueResponse => {
  const limit = Math.min(100, numberOf(query, "limit") || 100)
  const lastMs = Math.min(nowMs, Date.parse(query.get("effectiveBeforeOrAt") ?? "") || nowMs)
  const hours = hoursBetween(lastMs - limit * 3_600_000 + 1, lastMs, limit, nowMs).toReversed()
  return ok({
    historicalFunding: hours.map((atMs) => ({
      ticker: `${perp.symbol}-USD`,
      rate: hourly(rate8h("dydx", perp, atMs)),
      price: String(perp.dollars),
      effectiveAt: new Date(atMs).toISOString(),
      effectiveAtHeight: String(Math.floor(atMs / 1000))
    }))
  })
}
