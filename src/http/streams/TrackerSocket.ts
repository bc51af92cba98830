import { Clock, Duration, Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { type WebSocket, WebSocketServer } from "ws"
import { REALTIME_PATH } from "../../api/Tracker.ts"
import type { LiveConnection } from "../../tracker/LiveConnection.ts"
import { LiveSessions } from "../../tracker/LiveSessions.ts"
import { Drain } from "../Drain.ts"
import { Settings } from "../Settings.ts"
import { type Carrier, SocketWire } from "./SocketWire.ts"

/** No message that makes sense is longer, in bytes. */
const MOST_HEARD = 1024
/** How long the other side has to say goodbye before it is cut off. */
const GOODBYE = Duration.seconds(3)
const options = {
  noServer: true,
  perMessageDeflate: false,
  maxPayload: MOST_HEARD,
  closeTimeout: Duration.toMillis(GOODBYE)
}
/** How long after the news that the service stops its connections are closed. */
const NEWS = Duration.millis(500)

/** Takes a connection that wants to be something else than HTTP; false when it is not for here. */
export type Upgrade = (request: IncomingMessage, carrier: Carrier, head: Buffer) => boolean

const urlOf = ({ url = "" }: IncomingMessage): URL | null => URL.parse(url, "http://localhost")

const KEY = /^[+/0-9A-Za-z]{22}==$/u

/** Whether the library will take the handshake: it refuses in words of its own, and ours come from the edge. */
const isHandshake = ({ headers, method }: IncomingMessage): boolean =>
  method === "GET" &&
  headers.upgrade?.toLowerCase() === "websocket" &&
  headers["sec-websocket-version"] === "13" &&
  KEY.test(headers["sec-websocket-key"] ?? "") &&
  headers["sec-websocket-protocol"] === undefined

/** The live connections of the tracker over WebSockets. A ticket that opens nothing is told by a close code. */
export const trackerSocket = Effect.gen(function* () {
  const sessions = yield* LiveSessions
  const drain = yield* Drain
  const { drainQuiet } = yield* Settings
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context())
  const nowMs = () => clock.currentTimeMillisUnsafe()

  const server = new WebSocketServer(options)

  const attend = (ws: WebSocket, connection: LiveConnection): void => {
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
        attend(ws, admission.connection)
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
      // What is lost on a connection that breaks is told by its close.
      ws.on("error", () => undefined)
      // Nothing is heard before there is somebody to hear it.
      ws.pause()
      run(begin(ws, carrier, url.searchParams.get("ticket") ?? ""))
    })
    return true
  }

  const cutOff = Effect.sync(() => server.clients.forEach((ws) => ws.terminate()))
  yield* Effect.addFinalizer(() => cutOff)
  yield* drain.wait.pipe(
    Effect.andThen(sessions.drain(Duration.min(NEWS, drainQuiet))),
    Effect.andThen(Effect.delay(cutOff, "1 second")),
    Effect.forkScoped({ startImmediately: true })
  )
  return upgrade
})
