import { NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { FetchHttpClient, type HttpClient, HttpClientRequest, HttpServer, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { makeExchange } from "../../src/operations/upstreamHttp.ts"

const clients: ReadonlyArray<{ readonly name: string; readonly client: Layer.Layer<HttpClient.HttpClient> }> = [
  { name: "undici", client: NodeHttpClient.layerUndici },
  { name: "fetch", client: FetchHttpClient.layer }
]

describe("an exchange with an upstream", () => {
  it.effect.each(clients)("does not follow redirects over $name", ({ client }) =>
    Effect.gen(function* () {
      let requests = 0
      const server = yield* NodeHttpServer.make(() => createServer(), { port: 0, host: "127.0.0.1" })
      yield* server.serve(
        Effect.sync(() => {
          requests += 1
          return HttpServerResponse.redirect("/elsewhere?key=5ecret")
        })
      )
      const url = HttpServer.formatAddress(server.address)
      const exchange = yield* makeExchange
      const failure = yield* Effect.flip(exchange(HttpClientRequest.get(`${url}/?key=5ecret`), { maxBytes: 1024 }))
      assert.strictEqual(failure.reason, "malformed")
      assert.strictEqual(failure.detail, "HTTP 302")
      assert.notInclude(JSON.stringify(failure) + String(failure), "5ecret")
      assert.strictEqual(requests, 1)
    }).pipe(Effect.provide(client))
  )
})
