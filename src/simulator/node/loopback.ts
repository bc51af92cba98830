import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Scope } from "effect"
import { HttpServer, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { createServer } from "node:http"

/**
 * Listens on a free loopback port and returns the URL. The scope closes all connections; `cut` must close upgraded
 * ones.
 */
export const listen = Effect.fnUntraced(function* (
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, HttpServerRequest.HttpServerRequest>,
  cut: () => void = () => undefined
) {
  // A closing server waits for its clients, so their connections are closed first.
  const serving = yield* Scope.make()
  // Idle connections stay open. Otherwise the server could close one after a long synchronous step, while a client
  // writes to it.
  const http = createServer({ keepAliveTimeout: 0 })
  yield* Effect.addFinalizer((exit) =>
    Effect.suspend(() => {
      cut()
      http.closeAllConnections()
      return Scope.close(serving, exit)
    })
  )
  const options = { port: 0, host: "127.0.0.1", disablePreemptiveShutdown: true }
  const server = yield* NodeHttpServer.make(() => http, options).pipe(Scope.provide(serving))
  // Without a router the server would run the app uninterruptibly.
  yield* server.serve(Effect.interruptible(app)).pipe(Scope.provide(serving))
  return HttpServer.formatAddress(server.address)
})
