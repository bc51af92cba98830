import { paradex } from "../../src/perps/paradex.ts"
import { BASE, RECORDED_MS, type Recording } from "./recording.ts"

const askBids = {
  market: "BTC-USD-PERP",
  seq_no: 12_345_678,
  last_updated_at: RECORDED_MS,
  bids: [
    ["64995.1", "0.4"],
    ["64990", "3"]
  ],
  asks: [
    ["65004.9", "1.2"],
    ["65010", "0"]
  ],
  best_bid_api: ["64995.1", "0.4"],
  best_ask_api: ["65004.9", "1.2"]
}

const fee = (value: string) => ({ fee: value, fee_cap: "0.5", fee_floor: "-0.5" })

/** The venue as it once answered. */
export const recordedParadex: Recording = {
  key: "paradex",
  make: paradex(BASE),
  answers: {
    "GET /markets": {
      results: [
        {
          symbol: "BTC-USD-PERP",
          base_currency: "BTC",
          quote_currency: "USD",
          settlement_currency: "USDC",
          order_size_increment: "0.00001",
          price_tick_size: "0.1",
          min_notional: "10",
          max_order_size: "100",
          asset_kind: "PERP",
          market_kind: "cross",
          funding_period_hours: 8,
          interest_rate: "0.0001",
          fee_config: {
            api_fee: { maker_fee: fee("0.00003"), taker_fee: fee("0.0002") },
            interactive_fee: { maker_fee: fee("0"), taker_fee: fee("0") }
          }
        }
      ]
    },
    "GET /markets/summary": {
      results: [
        {
          symbol: "BTC-USD-PERP",
          oracle_price: "65000.5",
          mark_price: "65000.1",
          last_traded_price: "65001",
          bid: "64995.1",
          ask: "65004.9",
          volume_24h: "123456.78",
          created_at: RECORDED_MS,
          open_interest: "150.1",
          funding_rate: "0.0001"
        }
      ]
    },
    "GET /orderbook/BTC-USD-PERP": askBids
  },
  book: "GET /orderbook/BTC-USD-PERP",
  crossed: { ...askBids, bids: [["65005", "1"]] },
  absent: { "GET /markets": 400, "GET /orderbook/BTC-USD-PERP": 404 },
  // The documented baseline of 0.01 % for eight hours.
  meaning: {
    bids: [
      ["64995.1", "0.4"],
      ["64990", "3"]
    ],
    asks: [["65004.9", "1.2"]],
    fundingAprPct: 10.95,
    fundingIntervalHours: 8,
    takerBps: 2,
    makerBps: 0.3,
    step: "0.00001"
  }
}
