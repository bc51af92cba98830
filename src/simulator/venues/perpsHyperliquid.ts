import type { SimLevel, SimPerp } from "./perpsMarkets.ts"
import {
  type VenueRequest,
  hourly,
  hoursBetween,
  ok,
  refused,
  priceOf,
  sizeOf,
  listedOn,
  type VenueResponse
} from "./perpsShapes.ts"

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

const tiers = [
  { lowerBound: "0.0", maxLeverage: 20 },
  { lowerBound: "5000000.0", maxLeverage: 10 }
]

const types = new Set<unknown>(["metaAndAssetCtxs", "perpDexs", "allPerpMetas", "l2Book", "fundingHistory"])

/** A builder's exchange, and the venue's own as null. */
const builders = [null, { name: "xyz", fullName: "XYZ", deployer: `0x${"1".repeat(40)}`, oracleUpdater: null }]

/** Past funding of a market, oldest first, at most 500 rates. */
const fundingHistory = (perp: SimPerp, { body, nowMs, rate8h }: VenueRequest): VenueResponse =>
  ok(
    hoursBetween(Number(fieldOf(body, "startTime")), Number(fieldOf(body, "endTime") ?? nowMs), 500, nowMs).map(
      (time) => ({ coin: perp.symbol, fundingRate: hourly(rate8h("hl", perp, time)), premium: "0.0", time })
    )
  )

/** The list of a builder, or of the venue itself. */
const listOf = (dex: unknown) => {
  const isBuilder = typeof dex === "string" && dex !== ""
  const listed = listedOn("hl").filter(({ symbol }) =>
    isBuilder ? symbol.startsWith(`${dex}:`) : !symbol.includes(":")
  )
  const entry = ({ sizeDigits, symbol }: SimPerp) => ({
    name: symbol,
    szDecimals: sizeDigits,
    maxLeverage: 20,
    marginTableId: 51,
    ...(isBuilder && { growthMode: "enabled", deployerFeeScale: "1.0" })
  })
  const meta = {
    universe: listed.map(entry),
    marginTables: [[51, { description: "tiered 20x", marginTiers: tiers }]]
  }
  return { listed, meta }
}

/** The markets of a builder, or those of the venue itself; null for an unknown builder. */
const contexts = (dex: unknown, { nowMs, rate8h }: VenueRequest): VenueResponse => {
  const { listed, meta } = listOf(dex)
  return ok(
    listed.length === 0
      ? null
      : [
          meta,
          listed.map((perp) => ({ funding: hourly(rate8h("hl", perp, nowMs)), openInterest: "1000.0", premium: "0.0" }))
        ]
  )
}

/** Hyperliquid: `POST /info`. */
export const simHyperliquid = (request: VenueRequest): VenueResponse => {
  const { body, book, path } = request
  const type = fieldOf(body, "type")
  if (path !== "/info" || !types.has(type)) {
    return refused(422, "Failed to deserialize the JSON body into the target type")
  }
  if (type === "perpDexs") {
    return ok(builders)
  }
  if (type === "allPerpMetas") {
    return ok(builders.map((builder) => listOf(builder?.name).meta))
  }
  if (type === "metaAndAssetCtxs") {
    return contexts(fieldOf(body, "dex"), request)
  }
  const perp = listedOn("hl").find(({ symbol }) => symbol === fieldOf(body, "coin"))
  if (perp === undefined) {
    return refused(500, null)
  }
  if (type === "fundingHistory") {
    return fundingHistory(perp, request)
  }
  const { asks, asOfMs, bids } = book(perp)
  const level = (one: SimLevel) => ({ px: priceOf(perp, one), sz: sizeOf(perp, one), n: 1 })
  return ok({ coin: perp.symbol, time: asOfMs, levels: [bids.slice(0, 20).map(level), asks.slice(0, 20).map(level)] })
}
