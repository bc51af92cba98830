import { drift } from "../../src/perps/drift.ts"
import { BASE, RECORDED_MS, type Recording } from "./recording.ts"

const l2 = {
  bids: [
    { price: "64980000000", size: "1500000000", sources: { dlob: "1500000000" } },
    { price: "64970000000", size: "2000000000", sources: { vamm: "2000000000" } }
  ],
  asks: [{ price: "65020500000", size: "700000000", sources: { vamm: "200000000", dlob: "500000000" } }],
  marketName: "BTC-PERP",
  marketType: "perp",
  marketIndex: 1,
  ts: RECORDED_MS,
  slot: 347_000_000,
  oracle: 65_000_000_000
}

const fundingRecord = {
  txSig: "5J7",
  slot: 346_990_000,
  recordId: "4021",
  marketIndex: 1,
  cumulativeFundingRateLong: "812345678900",
  cumulativeFundingRateShort: "812345678900",
  markPriceTwap: "65010000000",
  fundingRateLong: "0",
  fundingRateShort: "0"
}

/** The venue as it answered once. */
export const recordedDrift: Recording = {
  key: "drift",
  make: drift({ book: BASE, data: BASE }),
  answers: {
    "GET /l2": l2,
    "GET /fundingRates": {
      fundingRates: [
        { ...fundingRecord, ts: "1780308000", fundingRate: "-999", oraclePriceTwap: "64000000000" },
        // 650,000,000 / 10^9 dollars a coin and hour over 65,000 dollars is a rate of 0.00001, 8.76 % a year.
        { ...fundingRecord, ts: "1780311600", fundingRate: "650000000", oraclePriceTwap: "65000000000" },
        { ...fundingRecord, ts: "1780304400", fundingRate: "-999", oraclePriceTwap: "64000000000" }
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
    takerBps: 3.5,
    makerBps: -0.25,
    step: "0.000000001"
  }
}
