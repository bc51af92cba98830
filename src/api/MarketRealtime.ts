import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { RateLimited } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { NoQuery } from "./parameters.ts"
import { MarketSession, MAX_SUBSCRIPTIONS, subscriptionCosts } from "./schemas/MarketFrame.ts"

/** Path of market sockets. A session issues the ticket. */
export const MARKET_REALTIME_PATH = "/api/v1/market/realtime"

const { allTrades, candles, freshness, graduations, holders, launches, liquidity, movers, price, screen, trades } =
  subscriptionCosts

/** Tickets of the market socket. */
export class MarketRealtimeGroup extends HttpApiGroup.make("marketRealtime")
  .add(
    HttpApiEndpoint.get("session", `${MARKET_REALTIME_PATH}/session`, {
      query: NoQuery,
      success: MarketSession,
      error: [RateLimited]
    })
      .annotate(
        OpenApi.Summary,
        "A ticket for a market connection; in a minute at most 10, or twice the connections of the plan if that is more"
      )
      .annotate(
        OpenApi.Description,
        `The socket takes \`{"op":"subscribe","id","channel",...}\` and \`{"op":"unsubscribe","id"}\`, ${MAX_SUBSCRIPTIONS} subscriptions at a time. Each subscription costs units of the \`rest\` budget in every minute that begins: trades of a mint, pool or wallet ${trades}, all trades above \`minUsd\` ${allTrades}, liquidity ${liquidity}, candles ${candles}, price ${price}, launches ${launches}, graduations ${graduations}, movers ${movers}, a screen ${screen}, holders ${holders}, freshness ${freshness}. Each tick of a quote costs 1 unit of the \`quote\` budget instead. When the budget is spent, the subscription ends with a frame that says so.`
      )
  )
  .middleware(Authorization)
  .annotate(
    OpenApi.Description,
    "Live trades, changes of liquidity, candles, prices, quotes and rankings over a WebSocket."
  ) {}
