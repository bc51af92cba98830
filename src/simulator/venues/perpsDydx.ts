import { fromAtomic } from "../../domain/decimal.ts"
import type { SimLevel, SimPerp } from "./perpsMarkets.ts"
import {
  type VenueRequest,
  ok,
  refused,
  signed,
  priceOf,
  sizeOf,
  listedOn,
  find,
  type VenueResponse
} from "./perpsShapes.ts"

/** dYdX v4: the indexer. */
export const simDydx = ({ book, nowMs, path, rate8h }: VenueRequest): VenueResponse => {
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
      nextFundingRate: signed(rate8h("dydx", perp, nowMs) * 125n, 15),
      initialMarginFraction: "0.05",
      maintenanceMarginFraction: "0.03",
      openInterest: "1000",
      tickSize: fromAtomic(1n, perp.priceDigits),
      stepSize: fromAtomic(1n, perp.sizeDigits)
    })
    return ok({ markets: Object.fromEntries(listed.map((perp) => [`${perp.symbol}-USD`, market(perp)])) })
  }
  const perp = find("dydx", path.replace("/v4/orderbooks/perpetualMarket/", ""), "-USD")
  if (perp === undefined) {
    return refused(404, { errors: [{ msg: "not found in markets of type perpetual" }] })
  }
  const { asks, bids } = book(perp)
  const level = (one: SimLevel) => ({ price: priceOf(perp, one), size: sizeOf(perp, one) })
  return ok({ bids: bids.map(level), asks: asks.map(level) })
}
