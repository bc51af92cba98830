import { NodeHttpServer } from "@effect/platform-node"
import { Context, Duration, Effect, Scope } from "effect"
import { HttpServerError, type HttpServerResponse } from "effect/http"
import { createServer, type Server } from "node:http"
import { Drain } from "./Drain.ts"
import { RequestIds } from "./Exchange.ts"
import { parserOptions, refuseWithEnvelope } from "./parserRefusals.ts"
import { Settings, type SettingsShape } from "./Settings.ts"

/** Where the service listens. */
export class Listening extends Context.Service<Listening, { readonly port: number; readonly url: string }>()(
  "fathom/server/NodeServer/Listening"
) {}

type App<R> = Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, R>

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

/** Closes the listener and the idle connections, and waits for the last answer to leave. */
const close = (server: Server) =>
  Effect.callback<void>((resume) => {
    // The check phase follows the poll phase, in which every connection that is already there is accepted.
    setImmediate(() => server.close(() => resume(Effect.void)))
  })

/**
 * Two phases lose no request. First the listener stays open while every answer asks for its connection to be closed and
 * streams say goodbye, so that whatever is on its way still arrives; then nothing new is let in and the rest is finished.
 */
const shutDown = Effect.fnUntraced(function* (server: Server, drain: Drain["Service"], settings: SettingsShape) {
  yield* drain.begin
  yield* Effect.logInfo("Draining")
  yield* Effect.sleep(settings.drainQuiet)
  yield* Effect.interruptible(close(server)).pipe(
    Effect.timeoutOption(Duration.subtract(settings.drainLimit, settings.drainQuiet)),
    Effect.ensuring(Effect.sync(() => server.closeAllConnections()))
  )
})

const portOf = (server: Server): number => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** Listens until the scope closes, and drains before it does. */
export const serve = Effect.fnUntraced(function* <R>(app: App<R>) {
  const settings = yield* Settings
  const drain = yield* Drain
  const nextId = yield* RequestIds
  const scope = yield* Effect.scope

  const server = open(settings)
  // Closes before the server does: what is still running when the time is up is interrupted.
  const requests = yield* Scope.fork(scope, "parallel")
  const handle = yield* NodeHttpServer.makeHandler(app, { scope: requests })
  refuseWithEnvelope(server, nextId, handle)

  yield* Effect.acquireRelease(listen(server, settings), () => shutDown(server, drain, settings))
  const port = portOf(server)
  return Listening.of({ port, url: `http://${settings.host}:${port}` })
})
