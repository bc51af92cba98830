import type { SimLevel, SimPerp } from "./perpsMarkets.ts"
import { type VenueRequest, ok, refused, signed, priceOf, sizeOf, listedOn, type VenueResponse } from "./perpsShapes.ts"

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

const tiers = [
  { lowerBound: "0.0", maxLeverage: 20 },
  { lowerBound: "5000000.0", maxLeverage: 10 }
]

/** Hyperliquid: `POST /info`. */
export const simHyperliquid = ({ body, book, nowMs, path, rate8h }: VenueRequest): VenueResponse => {
  const listed = listedOn("hl")
  const type = fieldOf(body, "type")
  if (path !== "/info" || (type !== "metaAndAssetCtxs" && type !== "l2Book")) {
    return refused(422, "Failed to deserialize the JSON body into the target type")
  }
  if (type === "metaAndAssetCtxs") {
    // A rate for eight hours has twelve digits, so one eighth of it has fifteen.
    const funding = (perp: SimPerp) => signed(rate8h("hl", perp, nowMs) * 125n, 15)
    return ok([
      {
        universe: listed.map(({ sizeDigits, symbol }) => ({
          name: symbol,
          szDecimals: sizeDigits,
          maxLeverage: 20,
          marginTableId: 51
        })),
        marginTables: [[51, { description: "tiered 20x", marginTiers: tiers }]]
      },
      listed.map((perp) => ({ funding: funding(perp), openInterest: "1000.0", premium: "0.0" }))
    ])
  }
  const perp = listed.find(({ symbol }) => symbol === fieldOf(body, "coin"))
  if (perp === undefined) {
    return refused(500, null)
  }
  const { asks, asOfMs, bids } = book(perp)
  const level = (one: SimLevel) => ({ px: priceOf(perp, one), sz: sizeOf(perp, one), n: 1 })
  return ok({ coin: perp.symbol, time: asOfMs, levels: [bids.slice(0, 20).map(level), asks.slice(0, 20).map(level)] })
}
