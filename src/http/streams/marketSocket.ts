import { Effect } from "effect"
import { MARKET_REALTIME_PATH } from "../../api/market/Realtime.ts"
import { OPERATION } from "../../subscriptions/charges.ts"
import { MarketSessions } from "../../subscriptions/MarketSessions.ts"
import type { SocketPath } from "./LiveSocket.ts"

/** Live connections of the market. */
export const marketSocket = Effect.map(MarketSessions, (sessions): SocketPath => ({
  path: MARKET_REALTIME_PATH,
  operation: OPERATION,
  maxMessage: 2048,
  sessions
}))
