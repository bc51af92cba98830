import { NodeHttpServer } from "@effect/platform-node"
import { Context, Duration, Effect, Fiber, Scope } from "effect"
import { HttpServerError, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { createServer, type Server } from "node:http"
import { Server as NetServer } from "node:net"
import { Drain } from "./Drain.ts"
import { RequestIds } from "./Exchange.ts"
import { parserOptions, refuseWithEnvelope } from "./parserRefusals.ts"
import { Settings, type SettingsShape } from "./Settings.ts"

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

/** How long a connection that was accepted in the last moment may take to send its request. */
const LAST_CALL = Duration.millis(500)

/** Closes the listener alone, and waits until every connection has ended. `Server.close` would cut those still silent. */
const closeListener = (server: Server) =>
  Effect.callback<void>((resume) => {
    // Accepting belongs to the poll phase; the check phase follows with the fewest connections left unaccepted.
    setImmediate(() => NetServer.prototype.close.call(server, () => resume(Effect.void)))
  })

/**
 * Two phases lose no request. First the listener stays open while every answer asks for its connection to be closed and
 * streams say goodbye, so that whatever is on its way still arrives. Then nothing new is let in: connections without a
 * request get a last call, requests finish, and what has not ended at the limit is cut.
 */
const shutDown = Effect.fnUntraced(function* (server: Server, drain: Drain["Service"], settings: SettingsShape) {
  yield* drain.begin
  yield* Effect.logInfo("Draining")
  yield* Effect.sleep(settings.drainQuiet)
  const closed = yield* Effect.forkDetach(Effect.interruptible(closeListener(server)), { startImmediately: true })
  const lastCall = Duration.min(LAST_CALL, settings.drainQuiet)
  yield* Fiber.await(closed).pipe(Effect.timeoutOption(lastCall))
  server.closeIdleConnections()
  const rest = Duration.subtract(settings.drainLimit, Duration.sum(settings.drainQuiet, lastCall))
  yield* Fiber.await(closed).pipe(Effect.timeoutOption(rest))
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

/** Listens until the scope closes, and drains before it does. */
export const serve = Effect.fnUntraced(function* (app: App) {
  const settings = yield* Settings
  const drain = yield* Drain
  const nextId = yield* RequestIds
  const scope = yield* Effect.scope

  const server = open(settings)
  // Closes before the server does: what is still running when the time is up is interrupted.
  const requests = yield* Scope.fork(scope, "parallel")
  const handle = yield* Effect.updateContext(NodeHttpServer.makeHandler(app, { scope: requests }), withoutServices)
  refuseWithEnvelope(server, nextId, handle)

  yield* Effect.acquireRelease(listen(server, settings), () => shutDown(server, drain, settings))
  const port = portOf(server)
  return Listening.of({ port, url: `http://${settings.host}:${port}` })
})
