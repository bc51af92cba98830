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
  listedOn,
  type VenueResponse
} from "./perpsShapes.ts"

const detail = ({ id, priceDigits, sizeDigits, symbol }: SimPerp) => ({
  symbol,
  market_id: id,
  market_type: "perp",
  status: "active",
  taker_fee: "0.0000",
  maker_fee: "0.0000",
  min_base_amount: fromAtomic(1n, sizeDigits),
  min_quote_amount: "10.000000",
  supported_size_decimals: sizeDigits,
  supported_price_decimals: priceDigits,
  open_interest: 1000
})

/** Lighter: order books and funding. */
export const simLighter = ({ book, nowMs, path, query, rate8h }: VenueRequest): VenueResponse => {
  const listed = listedOn("lighter")
  if (path === "/api/v1/orderBookDetails") {
    return ok({ code: 200, order_book_details: listed.map(detail) })
  }
  if (path === "/api/v1/funding-rates") {
    const rate = (perp: SimPerp) => ({
      market_id: perp.id,
      exchange: "lighter",
      symbol: perp.symbol,
      rate: Number(signed(rate8h("lighter", perp, nowMs), 12))
    })
    return ok({ code: 200, funding_rates: listed.map(rate) })
  }
  const perp = listed.find(({ id }) => String(id) === query.get("market_id"))
  if (path === "/api/v1/fundings" && perp !== undefined) {
    const [fromMs, toMs] = [1000 * numberOf(query, "start_timestamp"), 1000 * numberOf(query, "end_timestamp")]
    const fundings = hoursBetween(fromMs, toMs, 500, nowMs).map((atMs) => {
      const rate = rate8h("lighter", perp, atMs)
      // Percent of an hour without a sign: a rate for eight hours has twelve digits.
      const text = signed((rate < 0n ? -rate : rate) * 125n, 13)
      return { timestamp: atMs / 1000, value: "0", rate: text, direction: rate < 0n ? "short" : "long" }
    })
    return ok({ code: 200, resolution: "1h", fundings })
  }
  if (path !== "/api/v1/orderBookOrders" || perp === undefined) {
    return refused(400, { code: 20001, message: "invalid param" })
  }
  const { asks, bids } = book(perp)
  const order = (one: SimLevel, i: number) => ({
    order_index: i,
    order_id: String(i),
    initial_base_amount: sizeOf(perp, one),
    remaining_base_amount: sizeOf(perp, one),
    price: priceOf(perp, one)
  })
  return ok({
    code: 200,
    total_asks: asks.length,
    asks: asks.map(order),
    total_bids: bids.length,
    bids: bids.map(order)
  })
}
