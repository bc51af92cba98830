import { lighter } from "../../src/perps/lighter.ts"
import { BASE, RECORDED_MS, type Recording } from "./recording.ts"

const order = (price: string, remaining: string) => ({
  order_index: 281_475_565_888_172,
  order_id: "281475565888172",
  owner_account_index: 134_436,
  initial_base_amount: "5.00000",
  remaining_base_amount: remaining,
  price,
  order_expiry: RECORDED_MS + 86_400_000
})

const orderBookOrders = {
  code: 200,
  total_asks: 1,
  asks: [order("65001.5", "0.20000")],
  total_bids: 2,
  bids: [order("64999.0", "1.32370"), order("64999.5", "0.10000")]
}

const orderBookDetail = {
  symbol: "BTC",
  market_id: 1,
  market_type: "perp",
  status: "active",
  taker_fee: "0.0280",
  maker_fee: "0.0040",
  liquidation_fee: "1.0000",
  min_base_amount: "0.00020",
  min_quote_amount: "10.000000",
  supported_size_decimals: 5,
  supported_price_decimals: 1,
  supported_quote_decimals: 6,
  last_trade_price: 65_000.1,
  open_interest: 3955.9
}

/** The venue as it once answered. */
export const recordedLighter: Recording = {
  key: "lighter",
  make: lighter(BASE),
  answers: {
    "GET /api/v1/orderBookDetails": {
      code: 200,
      order_book_details: [
        orderBookDetail,
        { ...orderBookDetail, symbol: "OLD", market_id: 2, status: "inactive" },
        { ...orderBookDetail, symbol: "NEW", market_id: 3 }
      ]
    },
    "GET /api/v1/funding-rates": {
      code: 200,
      funding_rates: [
        { market_id: 1, exchange: "binance", symbol: "BTC", rate: 0.0009 },
        { market_id: 1, exchange: "lighter", symbol: "BTC", rate: 0.000_048 },
        { market_id: 2, exchange: "lighter", symbol: "OLD", rate: 0 }
      ]
    },
    "GET /api/v1/orderBookOrders": orderBookOrders
  },
  book: "GET /api/v1/orderBookOrders",
  crossed: { ...orderBookOrders, bids: [order("65002.0", "1.00000")] },
  absent: {},
  // A rate for eight hours. An eighth of it is paid every hour: 0.0048 % times 1095.
  meaning: {
    bids: [
      ["64999.5", "0.1"],
      ["64999", "1.3237"]
    ],
    asks: [["65001.5", "0.2"]],
    fundingAprPct: 5.256,
    fundingIntervalHours: 1,
    takerBps: 2.8,
    makerBps: 0.4,
    step: "0.00001"
  }
}
