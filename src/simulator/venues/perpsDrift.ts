import type { SimLevel } from "./perpsMarkets.ts"
import { type VenueRequest, ok, refused, find, type VenueResponse } from "./perpsShapes.ts"

const HOURS_OF_MONTH = 720
const HOUR_MS = 3_600_000

/** Drift: its order book server and its data service at one address. */
export const simDrift = ({ book, nowMs, path, query, rate8h }: VenueRequest): VenueResponse => {
  const perp = find("drift", query.get("marketName"), "-PERP")
  if (perp === undefined) {
    return refused(400, { error: "Bad Request: unknown market" })
  }
  if (path === "/l2") {
    const { asks, asOfMs, bids } = book(perp)
    const level = ({ lots, ticks }: SimLevel) => {
      const size = (lots * 10n ** BigInt(9 - perp.sizeDigits)).toString()
      return { price: (ticks * 10n ** BigInt(6 - perp.priceDigits)).toString(), size, sources: { dlob: size } }
    }
    const depth = Number(query.get("depth") ?? "100")
    return ok({
      bids: bids.slice(0, depth).map(level),
      asks: asks.slice(0, depth).map(level),
      marketName: `${perp.symbol}-PERP`,
      marketType: "perp",
      marketIndex: perp.id,
      ts: asOfMs,
      slot: Math.floor(asOfMs / 400)
    })
  }
  if (path !== "/fundingRates") {
    return refused(404, { error: "Not Found" })
  }
  const twap = BigInt(Math.round(perp.dollars * 1e6))
  const thisHour = Math.floor(nowMs / HOUR_MS)
  const record = (ago: number) => {
    const hour = Math.max(0, thisHour - ago)
    // Dollars for a coin and hour in 10^-9, from a share of 10^-12 for eight hours of a price in 10^-6.
    const fundingRate = (rate8h("drift", perp, hour * HOUR_MS) * twap) / (8n * 10n ** 9n)
    return {
      ts: String(hour * 3600),
      recordId: String(hour),
      marketIndex: perp.id,
      fundingRate: fundingRate.toString(),
      fundingRateLong: fundingRate.toString(),
      fundingRateShort: fundingRate.toString(),
      oraclePriceTwap: twap.toString(),
      markPriceTwap: twap.toString()
    }
  }
  return ok({ fundingRates: Array.from({ length: HOURS_OF_MONTH }, (_, i) => record(HOURS_OF_MONTH - 1 - i)) })
}
