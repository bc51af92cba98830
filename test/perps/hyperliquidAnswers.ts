import { hyperliquid } from "../../src/perps/hyperliquid.ts"
import { BASE, RECORDED_MS, type Recording } from "./recording.ts"

const l2Book = {
  coin: "BTC",
  time: RECORDED_MS,
  levels: [
    [
      { px: "64990.0", sz: "0.5", n: 3 },
      { px: "64980.0", sz: "1.25", n: 7 }
    ],
    [
      { px: "65010.0", sz: "0.3", n: 2 },
      { px: "65020.0", sz: "2.0", n: 9 }
    ]
  ]
}

const context = {
  dayNtlVlm: "1169046.29406",
  markPx: "65000.0",
  midPx: "65000.0",
  openInterest: "688.11",
  oraclePx: "64995.0",
  premium: "0.00003",
  prevDayPx: "64000.0"
}

/** The lists of the venue and of its builders. */
export const allPerpMetas = [
  {
    universe: [
      { name: "BTC", szDecimals: 5, maxLeverage: 40, marginTableId: 56 },
      { name: "FTT", szDecimals: 1, maxLeverage: 3, isDelisted: true }
    ],
    marginTables: [],
    collateralToken: 0
  }
]

/** The venue as it once answered. */
export const recordedHyperliquid: Recording = {
  key: "hl",
  make: hyperliquid(BASE),
  answers: {
    "POST /info metaAndAssetCtxs": [
      {
        universe: [
          { name: "BTC", szDecimals: 5, maxLeverage: 40, marginTableId: 56 },
          { name: "FTT", szDecimals: 1, maxLeverage: 3, isDelisted: true }
        ],
        marginTables: [
          [
            56,
            {
              description: "tiered 40x",
              marginTiers: [
                { lowerBound: "0.0", maxLeverage: 40 },
                { lowerBound: "150000000.0", maxLeverage: 20 }
              ]
            }
          ]
        ]
      },
      [
        { ...context, funding: "0.0000125" },
        { ...context, funding: "0.0" }
      ]
    ],
    "POST /info l2Book": l2Book
  },
  book: "POST /info l2Book",
  crossed: { ...l2Book, levels: [[{ px: "65011.0", sz: "1.0", n: 1 }], [{ px: "65010.0", sz: "1.0", n: 1 }]] },
  absent: {},
  // The documented default: 0.01 % for eight hours, an eighth of it every hour, is 10.95 % a year.
  meaning: {
    bids: [
      ["64990", "0.5"],
      ["64980", "1.25"]
    ],
    asks: [
      ["65010", "0.3"],
      ["65020", "2"]
    ],
    fundingAprPct: 10.95,
    fundingIntervalHours: 1,
    takerBps: 4.5,
    makerBps: 1.5,
    step: "0.00001"
  }
}
