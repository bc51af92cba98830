import { NodeHttpServer } from "@effect/platform-node"
import { Context, Deferred, Duration, Effect, Scope } from "effect"
import { HttpServerError, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { createServer, type Server } from "node:http"
import { Server as NetServer, type Socket } from "node:net"
import { Drain } from "./Drain.ts"
import { RequestIds } from "./middleware/RequestContext.ts"
import type { Handle } from "./fastQuotePath.ts"
import { parserOptions, refuseWithEnvelope } from "./middleware/parserErrors.ts"
import { PlainResponse } from "./PlainResponse.ts"
import { Settings, type SettingsShape } from "./Settings.ts"
import type { Upgrade } from "./streams/TrackerSocket.ts"
import { makeTurnstile, type RequestGate } from "./requestGate.ts"

/** Where the service listens. */
export class Listening extends Context.Service<Listening, { readonly port: number; readonly url: string }>()(
  "fathom/server/NodeServer/Listening"
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

/** How long requests are held while the listener closes: long enough that whoever is connecting has been accepted. */
const HOLD = Duration.millis(50)

/** How long a connection that was accepted in the last moment may take to send its request. */
const LAST_CALL = Duration.millis(500)

/** Turns of the loop in which a request that has arrived is read, however late the loop is. */
const TURNS = 8

const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/**
 * Closes the listener alone, in the phase of the loop that follows the one in which connections are accepted. The effect it
 * gives waits until every connection has ended. `Server.close` would also cut connections that are still silent.
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
 * Cuts connections that never said anything. To Node they are busy, because a request may be on its way, and it would wait
 * for them as long as for slow headers.
 */
const silencer = (server: Server): (() => void) => {
  const connections = new Set<Socket>()
  server.on("connection", (socket) => {
    connections.add(socket)
    socket.once("close", () => connections.delete(socket))
  })
  return () => connections.forEach((socket) => socket.bytesRead === 0 && socket.destroy())
}

interface Running {
  readonly server: Server
  readonly cutSilent: () => void
  readonly requestGate: RequestGate
  readonly drain: Drain["Service"]
  readonly settings: SettingsShape
}

/**
 * Two phases lose no request. First the listener stays open while every answer asks for its connection to be closed and
 * streams say goodbye, so that whatever is on its way still arrives. Then nothing new is let in: connections without a
 * request get a last call, requests finish, and what has not ended at the limit is cut.
 */
const shutDown = Effect.fnUntraced(function* ({ cutSilent, drain, server, settings, requestGate }: Running) {
  yield* drain.begin
  yield* Effect.logInfo("Draining")
  yield* Effect.sleep(settings.drainQuiet)
  // A closing listener resets connections it has not accepted. With no answer leaving, nobody comes back to connect, and
  // with nothing else to do the server accepts at once whoever has.
  const hold = Duration.min(HOLD, settings.drainQuiet)
  requestGate.hold()
  yield* Effect.sleep(hold)
  const ended = yield* closeListener(server)
  requestGate.release()
  const lastCall = Duration.min(LAST_CALL, settings.drainQuiet)
  yield* Effect.interruptible(ended).pipe(Effect.timeoutOption(lastCall))
  yield* Effect.replicateEffect(turn, TURNS, { discard: true })
  server.closeIdleConnections()
  cutSilent()
  const rest = Duration.subtract(settings.drainLimit, Duration.sum(settings.drainQuiet, Duration.sum(hold, lastCall)))
  yield* Effect.interruptible(ended).pipe(Effect.timeoutOption(rest))
  server.closeAllConnections()
  // The listener is gone already; this ends the watch over slow connections.
  server.close()
})

const portOf = (server: Server): number => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/**
 * Every request copies the context it starts with, so it starts without our services: the layers that need them have
 * closed over them. What remains is what shapes a fiber, such as its clock and its loggers.
 */
const withoutServices = (context: Context.Context<never>): Context.Context<never> =>
  Context.makeUnsafe(new Map(Array.from(context.mapUnsafe).filter(([key]) => !key.startsWith("fathom/"))))

/**
 * Listens until the scope closes, and drains before it does. `express` may answer some requests before the app; `upgrade`
 * takes the connections that are for it.
 */
export const serve = Effect.fnUntraced(function* (
  app: App,
  express: (road: Handle) => Handle = (road) => road,
  upgrade?: Upgrade
) {
  const settings = yield* Settings
  const drain = yield* Drain
  const nextId = yield* RequestIds
  const scope = yield* Effect.scope

  const server = open(settings)
  const cutSilent = silencer(server)
  // Closes before the server does: what is still running when the time is up is interrupted.
  const requests = yield* Scope.fork(scope, "parallel")
  const handle = yield* Effect.updateContext(NodeHttpServer.makeHandler(app, { scope: requests }), withoutServices)
  const requestGate = makeTurnstile(express(handle))
  refuseWithEnvelope(server, nextId, requestGate.handle, upgrade)

  yield* Effect.acquireRelease(listen(server, settings), () =>
    shutDown({ cutSilent, drain, server, settings, requestGate })
  )
  const port = portOf(server)
  return Listening.of({ port, url: `http://${settings.host}:${port}` })
})
