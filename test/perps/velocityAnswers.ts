/**
 * Answers in the form of the venue's documentation of 9 July 2026. The book is from
 * docs.velocity.exchange/developers/ecosystem-builders/orderbook-and-ws, markets and funding records from
 * data.velocity.exchange/playground.
 */
import { velocity } from "../../src/perps/velocity.ts"
import { BASE, RECORDED_MS, type Recording } from "./recording.ts"

const l2 = {
  bids: [
    { price: "64980000000", size: "1500000000", sources: { dlob: "1500000000" } },
    { price: "64970000000", size: "2000000000", sources: { vamm: "2000000000" } }
  ],
  asks: [{ price: "65020500000", size: "700000000", sources: { vamm: "200000000", indicative: "500000000" } }],
  marketName: "BTC-PERP",
  marketType: "perp",
  marketIndex: 1,
  ts: RECORDED_MS,
  slot: 474_184_487,
  bestBidPrice: "64980000000",
  bestAskPrice: "65020500000",
  oracle: 65_000_000_000,
  marketSlot: 474_184_461
}

const stats = {
  symbol: "BTC-PERP",
  marketIndex: 1,
  marketType: "perp",
  baseAsset: "BTC",
  quoteAsset: "USDT",
  status: "active",
  precision: 9,
  limits: { leverage: { min: 1, max: 20 }, amount: { min: 0.0001, max: 20 } },
  fees: { maker: -0.000025, taker: 0.0004 },
  oraclePrice: "65000.000000",
  fundingRate: { long: "-0.001", short: "0.001" },
  openInterest: { long: "0.335000000", short: "-0.020600000" }
}

/** The venue as documented. */
export const recordedVelocity: Recording = {
  key: "velocity",
  make: velocity({ book: BASE, data: BASE }),
  answers: {
    "GET /stats/markets": {
      success: true,
      markets: [
        { symbol: "USDT", marketIndex: 0, marketType: "spot", status: "active", oraclePrice: "1.000000" },
        stats,
        { ...stats, symbol: "OLD-PERP", status: "settlement" },
        { ...stats, symbol: "ODD-PERP", fees: { maker: null, taker: "none" } }
      ]
    },
    "GET /l2": l2,
    "GET /market/BTC-PERP/fundingRates": {
      success: true,
      records: [
        { ts: 1_780_308_000, fundingRate: "-0.999", oraclePriceTwap: "64000.000000" },
        // 0.65 USDT a coin and hour over 65,000 is a rate of 0.00001, 8.76 % a year.
        { ts: 1_780_311_600, fundingRate: "0.650000000", oraclePriceTwap: "65000.000000" }
      ]
    }
  },
  book: "GET /l2",
  crossed: { ...l2, bids: [{ price: "65020600000", size: "1", sources: {} }] },
  absent: { "GET /l2": 400 },
  meaning: {
    bids: [
      ["64980", "1.5"],
      ["64970", "2"]
    ],
    asks: [["65020.5", "0.7"]],
    fundingAprPct: 8.76,
    fundingIntervalHours: 1,
    takerBps: 4,
    makerBps: -0.25,
    step: "0.000000001"
  }
}
