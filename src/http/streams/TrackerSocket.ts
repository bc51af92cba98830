import { Clock, Duration, Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { type WebSocket, WebSocketServer } from "ws"
import { REALTIME_PATH } from "../../api/Tracker.ts"
import type { LiveConnection } from "../../tracker/LiveConnection.ts"
import { LiveSessions } from "../../tracker/LiveSessions.ts"
import { Drain } from "../Drain.ts"
import { Settings } from "../Settings.ts"
import { type Carrier, SocketWire } from "./SocketWire.ts"

/** Longest message of a client, in bytes. */
const MAX_MESSAGE = 1024
/** Time that the peer has for its close frame before the socket is destroyed. */
const CLOSE_TIMEOUT = Duration.seconds(3)
const options = {
  noServer: true,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE,
  closeTimeout: Duration.toMillis(CLOSE_TIMEOUT)
}
/** Time between the shutdown notice and the closing of connections. */
const DRAIN_NOTICE = Duration.millis(500)

/** Takes an upgrade; false when it is not an upgrade of the tracker. */
export type Upgrade = (request: IncomingMessage, carrier: Carrier, head: Buffer) => boolean

const urlOf = ({ url = "" }: IncomingMessage): URL | null => URL.parse(url, "http://localhost")

const KEY = /^[+/0-9A-Za-z]{22}==$/u

/** True when the library will accept the handshake. Others are answered in the error envelope. */
const isHandshake = ({ headers, method }: IncomingMessage): boolean =>
  method === "GET" &&
  headers.upgrade?.toLowerCase() === "websocket" &&
  headers["sec-websocket-version"] === "13" &&
  KEY.test(headers["sec-websocket-key"] ?? "") &&
  headers["sec-websocket-protocol"] === undefined

/** The upgrade handler of the tracker's live connections. An invalid ticket is answered with a close code. */
export const trackerSocket = Effect.gen(function* () {
  const sessions = yield* LiveSessions
  const drain = yield* Drain
  const { drainQuiet } = yield* Settings
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context())
  const nowMs = () => clock.currentTimeMillisUnsafe()

  const server = new WebSocketServer(options)

  const listen = (ws: WebSocket, connection: LiveConnection): void => {
    ws.on("message", (data, isBinary) => connection.message(isBinary ? null : String(data), nowMs()))
    ws.on("pong", () => connection.pong(nowMs()))
    ws.on("close", () => run(sessions.closed(connection)))
    if (ws.readyState === ws.CLOSED) {
      run(sessions.closed(connection))
    }
  }

  const begin = (ws: WebSocket, carrier: Carrier, ticket: string) =>
    Effect.map(sessions.connect(ticket, new SocketWire(ws, carrier)), (admission) => {
      if (admission._tag === "Refused") {
        ws.close(admission.refusal.code, admission.refusal.reason)
      } else {
        listen(ws, admission.connection)
      }
      ws.resume()
    }).pipe(
      Effect.catchDefect((defect) => {
        ws.close(1011, "internal error")
        ws.resume()
        return Effect.logError("A live connection could not be opened", defect)
      })
    )

  const upgrade: Upgrade = (request, carrier, head) => {
    const url = urlOf(request)
    if (url?.pathname !== REALTIME_PATH || !isHandshake(request)) {
      return false
    }
    server.handleUpgrade(request, carrier, head, (ws) => {
      // A broken connection is handled at its close event.
      ws.on("error", () => undefined)
      // Messages wait until the connection has been admitted.
      ws.pause()
      run(begin(ws, carrier, url.searchParams.get("ticket") ?? ""))
    })
    return true
  }

  const cutOff = Effect.sync(() => server.clients.forEach((ws) => ws.terminate()))
  yield* Effect.addFinalizer(() => cutOff)
  yield* drain.wait.pipe(
    Effect.andThen(sessions.drain(Duration.min(DRAIN_NOTICE, drainQuiet))),
    Effect.andThen(Effect.delay(cutOff, "1 second")),
    Effect.forkScoped({ startImmediately: true })
  )
  return upgrade
})
