import { Effect } from "effect"
import { MARKET_REALTIME_PATH } from "../../api/MarketRealtime.ts"
import { OPERATION } from "../../live/market/charges.ts"
import { MarketSessions } from "../../live/market/MarketSessions.ts"
import type { SocketPath } from "./LiveSocket.ts"

export const marketSocket = Effect.map(MarketSessions, (sessions): SocketPath => ({
  path: MARKET_REALTIME_PATH,
  operation: OPERATION,
  maxMessage: 8192,
  sessions
}))
