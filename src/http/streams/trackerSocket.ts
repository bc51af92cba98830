import { Effect } from "effect"
import { REALTIME_PATH } from "../../api/Tracker.ts"
import { LiveSessions } from "../../wallets/tracker/LiveSessions.ts"
import type { SocketPath } from "./LiveSocket.ts"

export const trackerSocket = Effect.map(LiveSessions, (sessions): SocketPath => ({
  path: REALTIME_PATH,
  operation: "tracker.realtime",
  maxMessage: 1024,
  sessions
}))
