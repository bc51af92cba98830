import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Deferred, Duration, Effect, Scope } from "effect"
import { HttpServerError, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { createServer, type Server } from "node:http"
import { Server as NetServer, type Socket } from "node:net"
import { Drain } from "../Drain.ts"
import type { Handle } from "./fastPath.ts"
import { parserOptions, handleRequests } from "./parserErrors.ts"
import { PlainResponse } from "./PlainResponse.ts"
import { fairTurns } from "./fairTurns.ts"
import { Settings, type SettingsShape } from "../Settings.ts"
import type { Upgrade } from "../streams/LiveSocket.ts"
import { makeRequestGate, type RequestGate } from "./requestGate.ts"

/** Address on which the service listens. */
export class Listening extends Context.Service<Listening, { readonly port: number; readonly url: string }>()(
  "fathom/http/NodeServer/Listening"
) {}

type App = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

const open = (settings: SettingsShape): Server =>
  createServer({
    ...parserOptions,
    ServerResponse: PlainResponse,
    headersTimeout: Duration.toMillis(settings.headersTimeout),
    requestTimeout: Duration.toMillis(settings.requestTimeout),
    keepAliveTimeout: Duration.toMillis(settings.keepAliveTimeout)
  })

const listen = (server: Server, { host, port }: SettingsShape) =>
  Effect.callback<void, HttpServerError.ServeError>((resume) => {
    const onError = (cause: Error) => resume(Effect.fail(new HttpServerError.ServeError({ cause })))
    server.once("error", onError)
    server.listen({ host, port }, () => {
      server.off("error", onError)
      resume(Effect.void)
    })
  })

/** How long requests are held while the listener closes, so that pending connections are accepted first. */
const HOLD = Duration.millis(50)

/** How long a connection that was accepted just before the close may take to send its request. */
const LAST_REQUEST_GRACE = Duration.millis(500)

/** Turns of the event loop after the grace, so that requests that have arrived are read even by a late loop. */
const TURNS = 8

const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/**
 * Closes only the listener, in the loop phase after the one that accepts connections. The returned effect completes
 * when every connection has ended. `Server.close` would also close connections without a request.
 */
const closeListener = (server: Server) =>
  Effect.callback<Effect.Effect<void>>((resume) => {
    setImmediate(() => {
      const ended = Deferred.makeUnsafe<void>()
      NetServer.prototype.close.call(server, () => Deferred.doneUnsafe(ended, Effect.void))
      resume(Effect.succeed(Deferred.await(ended)))
    })
  })

/**
 * Returns a function that destroys connections on which no byte has arrived. Node counts them as busy and would wait
 * for them as long as for slow headers.
 */
const trackUnused = (server: Server): (() => void) => {
  const connections = new Set<Socket>()
  server.on("connection", (socket) => {
    connections.add(socket)
    socket.once("close", () => connections.delete(socket))
  })
  return () => connections.forEach((socket) => socket.bytesRead === 0 && socket.destroy())
}

interface Running {
  readonly server: Server
  readonly destroyUnused: () => void
  readonly requestGate: RequestGate
  readonly drain: Drain["Service"]
  readonly settings: SettingsShape
}

/**
 * Shuts down in two phases without losing a request. Phase 1 sends `Connection: close` on every response, ends the
 * streams and keeps accepting. Phase 2 closes the listener, waits LAST_REQUEST_GRACE for connections without a request,
 * then waits for requests in flight. At `drainLimit` it destroys what is left.
 */
const shutDown = Effect.fnUntraced(function* ({ destroyUnused, drain, server, settings, requestGate }: Running) {
  yield* drain.begin
  yield* Effect.logInfo("Draining")
  yield* Effect.sleep(settings.drainQuiet)
  // A closing listener resets connections that it has not accepted. While responses are held no client reconnects, and
  // the idle loop accepts every pending connection.
  const hold = Duration.min(HOLD, settings.drainQuiet)
  requestGate.hold()
  yield* Effect.sleep(hold)
  const ended = yield* closeListener(server)
  requestGate.release()
  const lastRequestGrace = Duration.min(LAST_REQUEST_GRACE, settings.drainQuiet)
  yield* Effect.interruptible(ended).pipe(Effect.timeoutOption(lastRequestGrace))
  yield* Effect.replicateEffect(turn, TURNS, { discard: true })
  server.closeIdleConnections()
  destroyUnused()
  const rest = Duration.subtract(
    settings.drainLimit,
    Duration.sum(settings.drainQuiet, Duration.sum(hold, lastRequestGrace))
  )
  yield* Effect.interruptible(ended).pipe(Effect.timeoutOption(rest))
  server.closeAllConnections()
  // The listener is closed already. This stops the timer that checks connections.
  server.close()
})

const portOf = (server: Server): number => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/**
 * The context without the services of this package. Every request copies its starting context, and layers have closed
 * over the services they need. What is left configures a fiber, such as its clock and its loggers.
 */
const withoutServices = (context: Context.Context<never>): Context.Context<never> =>
  Context.makeUnsafe(new Map(Array.from(context.mapUnsafe).filter(([key]) => !key.startsWith("fathom/"))))

export interface ServeOptions {
  /** Wraps the handler of the app. */
  readonly fastPath?: (defaultHandler: Handle) => Handle
  /** Wraps the handler of every request, including the fast path. */
  readonly measured?: (handle: Handle) => Handle
  /** Handles upgrades. */
  readonly upgrade?: Upgrade
  /** Paths that need no key. */
  readonly openPaths?: ReadonlySet<string>
}

const unwrapped = (handle: Handle): Handle => handle

/** Listens until the scope closes, and drains first. */
export const serve = Effect.fnUntraced(function* (app: App, options: ServeOptions = {}) {
  const { fastPath = unwrapped, measured = unwrapped, openPaths = new Set(), upgrade } = options
  const settings = yield* Settings
  const drain = yield* Drain
  const scope = yield* Effect.scope

  const server = open(settings)
  const destroyUnused = trackUnused(server)
  // Closes before the server does. Requests that run past the limit are interrupted.
  const requests = yield* Scope.fork(scope, "parallel")
  const handle = yield* Effect.updateContext(NodeHttpServer.makeHandler(app, { scope: requests }), withoutServices)
  const requestGate = makeRequestGate(
    fairTurns(fastPath(handle), { nowMs: () => performance.now(), nextTurn: setImmediate, openPaths })
  )
  handleRequests(server, measured(requestGate.handle), upgrade)

  yield* Effect.acquireRelease(listen(server, settings), () =>
    shutDown({ destroyUnused, drain, server, settings, requestGate })
  )
  const port = portOf(server)
  return Listening.of({ port, url: `http://${settings.host}:${port}` })
})
