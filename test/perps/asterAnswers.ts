/**
 * Answers in the form of the venue's documentation of 30 June 2026: github.com/asterdex/api-docs,
 * V1(Legacy)/EN/aster-finance-futures-api.md.
 */
import { aster } from "../../src/perps/aster.ts"
import { BASE, RECORDED_MS, type Recording } from "./recording.ts"

const market = {
  symbol: "BTCUSDT",
  pair: "BTCUSDT",
  contractType: "PERPETUAL",
  status: "TRADING",
  baseAsset: "BTC",
  quoteAsset: "USDT",
  marginAsset: "USDT",
  filters: [
    { filterType: "PRICE_FILTER", maxPrice: "1000000", minPrice: "1", tickSize: "0.1" },
    { filterType: "LOT_SIZE", maxQty: "1000", minQty: "0.001", stepSize: "0.001" },
    { filterType: "MARKET_LOT_SIZE", maxQty: "100", minQty: "0.001", stepSize: "0.001" },
    { filterType: "MAX_NUM_ORDERS", limit: 200 },
    { filterType: "MIN_NOTIONAL", notional: "5" },
    { filterType: "PERCENT_PRICE", multiplierUp: "1.1500", multiplierDown: "0.8500", multiplierDecimal: 4 }
  ]
}

const premium = {
  symbol: "BTCUSDT",
  markPrice: "65000.63104562",
  indexPrice: "65001.80495970",
  lastFundingRate: "0.00010000",
  nextFundingTime: RECORDED_MS + 3_600_000,
  interestRate: "0.00010000",
  time: RECORDED_MS
}

const depth = {
  lastUpdateId: 1_027_024,
  E: RECORDED_MS,
  T: RECORDED_MS - 13,
  bids: [["64999.9", "4.31"]],
  asks: [
    ["65000.1", "0.5"],
    ["65000.2", "12"]
  ]
}

/** The venue as documented. */
export const recordedAster: Recording = {
  key: "aster",
  make: aster(BASE),
  answers: {
    "GET /fapi/v1/exchangeInfo": {
      timezone: "UTC",
      symbols: [
        market,
        { ...market, symbol: "OLDUSDT", status: "SETTLING" },
        { ...market, symbol: "ODDUSDT", filters: [] }
      ]
    },
    "GET /fapi/v1/premiumIndex": [premium, { ...premium, symbol: "ODDUSDT", lastFundingRate: "" }],
    "GET /fapi/v1/fundingInfo": [{ symbol: "BTCUSDT", interestRate: "0.00010000", fundingIntervalHours: 4 }],
    "GET /fapi/v1/depth": depth
  },
  book: "GET /fapi/v1/depth",
  crossed: { ...depth, bids: [["65000.15", "1"]] },
  absent: {},
  // 0.01 % for four hours, six times a day.
  meaning: {
    bids: [["64999.9", "4.31"]],
    asks: [
      ["65000.1", "0.5"],
      ["65000.2", "12"]
    ],
    fundingAprPct: 21.9,
    fundingIntervalHours: 4,
    takerBps: 4,
    makerBps: 0.5,
    step: "0.001"
  }
}
