import { fromAtomic } from "../../domain/decimal.ts"
import type { SimLevel, SimPerp } from "./perpsMarkets.ts"
import { type VenueRequest, ok, refused, find, listedOn, signed, type VenueResponse } from "./perpsShapes.ts"

const HOURS_KEPT = 31 * 24
const MOST_RECORDS = 500
const HOUR_MS = 3_600_000
const SUFFIX = "-PERP"

/** Velocity: its order book server and its data service, at one address. */
export const simVelocity = (request: VenueRequest): VenueResponse => {
  const { path, query } = request
  if (path === "/stats/markets") {
    return ok({ success: true, markets: listedOn("velocity").map(stats) })
  }
  const funded = /^\/market\/(.+)\/fundingRates$/u.exec(path)?.[1]
  const perp = find("velocity", funded ?? query.get("marketName"), SUFFIX)
  if (perp === undefined) {
    return refused(400, { error: "Bad Request: unknown market" })
  }
  if (path === "/l2") {
    return l2(perp, request)
  }
  return funded === undefined ? refused(404, { error: "Not Found" }) : fundingRates(perp, request)
}

const stats = ({ id, sizeDigits, symbol }: SimPerp) => ({
  symbol: `${symbol}${SUFFIX}`,
  marketIndex: id,
  marketType: "perp",
  baseAsset: symbol,
  quoteAsset: "USDT",
  status: "active",
  precision: 9,
  limits: { leverage: { min: 1, max: 20 }, amount: { min: Number(fromAtomic(1n, sizeDigits)), max: 1_000_000 } },
  fees: { maker: -0.000025, taker: 0.00035 },
  openInterest: { long: "1000.000000000", short: "-900.000000000" }
})

const l2 = (perp: SimPerp, { book, query }: VenueRequest) => {
  const { asks, asOfMs, bids } = book(perp)
  const level = ({ lots, ticks }: SimLevel) => {
    const size = (lots * 10n ** BigInt(9 - perp.sizeDigits)).toString()
    return { price: (ticks * 10n ** BigInt(6 - perp.priceDigits)).toString(), size, sources: { dlob: size } }
  }
  const depth = Number(query.get("depth") ?? "100")
  return ok({
    bids: bids.slice(0, depth).map(level),
    asks: asks.slice(0, depth).map(level),
    marketName: `${perp.symbol}${SUFFIX}`,
    marketType: "perp",
    marketIndex: perp.id,
    ts: asOfMs,
    slot: Math.floor(asOfMs / 400)
  })
}

/** The settled rates of the last month by page, newest first. A page is named by how many records come before it. */
const fundingRates = (perp: SimPerp, { nowMs, query, rate8h }: VenueRequest) => {
  const twap = BigInt(Math.round(perp.dollars * 1e6))
  const begin = Number(query.get("page") ?? "0")
  const length = Math.max(0, Math.min(MOST_RECORDS, Number(query.get("limit") ?? "24"), HOURS_KEPT - begin))
  const nextPage = begin + length < HOURS_KEPT ? String(begin + length) : null
  const record = (_: unknown, i: number) => {
    const hour = Math.max(0, Math.floor(nowMs / HOUR_MS) - begin - i)
    // USDT per coin and hour in units of 10^-9, computed from a share in 10^-12 for eight hours and a price in 10^-6.
    const rate = (rate8h("velocity", perp, hour * HOUR_MS) * twap) / (8n * 10n ** 9n)
    const fundingRate = signed(rate, 9)
    return { ts: hour * 3600, marketIndex: perp.id, fundingRate, oraclePriceTwap: signed(twap, 6) }
  }
  return ok({ success: true, records: Array.from({ length }, record), meta: { nextPage } })
}
