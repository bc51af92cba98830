import { Clock, Duration, Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { type WebSocket, WebSocketServer } from "ws"
import { UsageStore } from "../../access/usage/UsageStore.ts"
import type { OpenConnection, SessionBook } from "../../live/liveSessions.ts"
import { Drain } from "../Drain.ts"
import { invalidHeader, type RawError } from "../middleware/rawResponse.ts"
import { Settings } from "../Settings.ts"
import { type Carrier, SocketWire } from "./SocketWire.ts"

/** How long the peer may take for its close frame before the socket is destroyed. */
const CLOSE_TIMEOUT = Duration.seconds(3)
const options = {
  noServer: true,
  perMessageDeflate: false,
  // The library would cut a connection with many pings off, without a close frame.
  autoPong: false,
  closeTimeout: Duration.toMillis(CLOSE_TIMEOUT)
}
/** Time between the shutdown notice and the closing of connections. */
const DRAIN_NOTICE = Duration.millis(500)

/** Takes an upgrade, or returns the error to answer. */
export type Upgrade = (request: IncomingMessage, carrier: Carrier, head: Buffer) => RawError | null

const urlOf = ({ url = "" }: IncomingMessage): URL | null => URL.parse(url, "http://localhost")

const KEY = /^[+/0-9A-Za-z]{22}==$/u

const elsewhere: RawError = { code: "upgrade_required", headers: { upgrade: "HTTP/1.1" } }
const notGet: RawError = { code: "method_not_allowed", headers: { allow: "GET" } }
const otherProtocol: RawError = {
  code: "upgrade_required",
  message: "This path answers WebSocket connections of version 13 only.",
  headers: { upgrade: "websocket", "sec-websocket-version": "13" }
}
const KEY_NAME = "Sec-WebSocket-Key"
const noKey = invalidHeader(KEY_NAME, "missing", `${KEY_NAME} is required.`)
const badKey = invalidHeader(KEY_NAME, "format", `${KEY_NAME} must be 16 bytes in base64.`)
const SUBPROTOCOL = "Sec-WebSocket-Protocol"
const subprotocol = invalidHeader(SUBPROTOCOL, "unknown", `${SUBPROTOCOL} must be left out: there are no subprotocols.`)

/** The error of a handshake that the library would reject; null for one that it accepts. */
const handshakeFault = ({ headers, method }: IncomingMessage): RawError | null => {
  if (headers.upgrade?.toLowerCase() !== "websocket") {
    return otherProtocol
  }
  if (method !== "GET") {
    return notGet
  }
  if (headers["sec-websocket-version"] !== "13") {
    return otherProtocol
  }
  const key = headers["sec-websocket-key"]
  if (key === undefined) {
    return noKey
  }
  if (!KEY.test(key)) {
    return badKey
  }
  return headers["sec-websocket-protocol"] === undefined ? null : subprotocol
}

/** A path that answers WebSocket connections. */
export interface SocketPath {
  readonly path: string
  /** Name of the connections in the usage of keys. */
  readonly operation: string
  /** Longest message of a client, in bytes. */
  readonly maxMessage: number
  readonly sessions: SessionBook
}

/** The upgrade handler of live connections. An invalid ticket is answered with a close code. */
export const liveSockets = Effect.fnUntraced(function* (paths: ReadonlyArray<SocketPath>) {
  const drain = yield* Drain
  const usage = yield* UsageStore
  const { drainQuiet } = yield* Settings
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context())
  const nowMs = () => clock.currentTimeMillisUnsafe()

  const servers = new Map(
    paths.map((path) => [
      path.path,
      { ...path, server: new WebSocketServer({ ...options, maxPayload: path.maxMessage }) }
    ])
  )

  const listen = (
    { operation, sessions }: SocketPath,
    ws: WebSocket,
    connection: OpenConnection,
    wire: SocketWire
  ): void => {
    const { accountId, keyId: id } = connection.stream.grant
    const stop = usage.open({ id, accountId }, operation, () => wire.sentBytes())
    const closed = () => {
      stop()
      run(sessions.closed(connection))
    }
    ws.on("message", (data, isBinary) => connection.message(isBinary ? null : String(data), nowMs()))
    ws.on("ping", (data) => {
      if (connection.pinged(nowMs())) {
        ws.pong(data)
      }
    })
    ws.on("pong", () => connection.pong(nowMs()))
    ws.on("close", closed)
    if (ws.readyState === ws.CLOSED) {
      closed()
    }
  }

  const begin = (path: SocketPath, ws: WebSocket, wire: SocketWire, ticket: string) =>
    Effect.map(path.sessions.connect(ticket, wire), (admission) => {
      if (admission._tag === "Refused") {
        ws.close(admission.refusal.code, admission.refusal.reason)
      } else {
        listen(path, ws, admission.connection, wire)
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
    const path = url === null ? undefined : servers.get(url.pathname)
    const fault = path === undefined ? elsewhere : handshakeFault(request)
    if (url === null || path === undefined || fault !== null) {
      return fault
    }
    path.server.handleUpgrade(request, carrier, head, (ws) => {
      // A broken connection is handled at its close event.
      ws.on("error", () => undefined)
      // Messages wait until the connection has been admitted.
      ws.pause()
      run(begin(path, ws, new SocketWire(ws, carrier), url.searchParams.get("ticket") ?? ""))
    })
    return null
  }

  const cutOff = Effect.sync(() => servers.forEach(({ server }) => server.clients.forEach((ws) => ws.terminate())))
  yield* Effect.addFinalizer(() => cutOff)
  yield* drain.wait.pipe(
    Effect.andThen(
      Effect.forEach(paths, ({ sessions }) => sessions.drain(Duration.min(DRAIN_NOTICE, drainQuiet)), {
        concurrency: "unbounded",
        discard: true
      })
    ),
    Effect.andThen(Effect.delay(cutOff, "1 second")),
    Effect.forkScoped({ startImmediately: true })
  )
  return upgrade
})
