import { dydx } from "../../src/perps/dydx.ts"
import { BASE, RECORDED_MS, type Recording } from "./recording.ts"

const orderbook = {
  bids: [
    { price: "64990", size: "0.0075" },
    { price: "64989", size: "0.12" }
  ],
  asks: [
    { price: "65006", size: "0.0069" },
    { price: "65007", size: "0.05" }
  ]
}

const perpetualMarket = {
  clobPairId: "0",
  ticker: "BTC-USD",
  status: "ACTIVE",
  oraclePrice: "65000.12",
  priceChange24H: "-1550.43998",
  volume24H: "7782607.3308",
  trades24H: 2042,
  nextFundingRate: "-0.00000258536585365854",
  initialMarginFraction: "0.02",
  maintenanceMarginFraction: "0.012",
  openInterest: "228.1848",
  atomicResolution: -10,
  quantumConversionExponent: -9,
  tickSize: "1",
  stepSize: "0.0001",
  stepBaseQuantums: 1_000_000,
  subticksPerTick: 100_000,
  marketType: "CROSS",
  defaultFundingRate1H: "0"
}

/** The venue as it once answered. */
export const recordedDydx: Recording = {
  key: "dydx",
  make: dydx(BASE),
  answers: {
    "GET /v4/perpetualMarkets": {
      markets: {
        "BTC-USD": perpetualMarket,
        "OLD-USD": { ...perpetualMarket, ticker: "OLD-USD", status: "FINAL_SETTLEMENT" }
      }
    },
    "GET /v4/orderbooks/perpetualMarket/BTC-USD": orderbook,
    "GET /v4/height": { height: "61234567", time: new Date(RECORDED_MS).toISOString() }
  },
  book: "GET /v4/orderbooks/perpetualMarket/BTC-USD",
  crossed: { ...orderbook, bids: [{ price: "65006.5", size: "1" }] },
  absent: { "GET /v4/orderbooks/perpetualMarket/BTC-USD": 404 },
  // An hourly rate: -0.000258536585365854 % times 8760.
  meaning: {
    bids: [
      ["64990", "0.0075"],
      ["64989", "0.12"]
    ],
    asks: [
      ["65006", "0.0069"],
      ["65007", "0.05"]
    ],
    fundingAprPct: -2.264780487805,
    fundingIntervalHours: 1,
    takerBps: 5,
    makerBps: 1,
    step: "0.0001"
  }
}
