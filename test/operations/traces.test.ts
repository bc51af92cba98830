import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import * as Traces from "../../src/operations/Traces.ts"

interface Received {
  readonly path: string | undefined
  readonly body: string
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Array<Buffer> = []
  for await (const part of request) {
    parts.push(part as Buffer)
  }
  return Buffer.concat(parts).toString("utf8")
}

/** A collector for OTLP over HTTP that keeps what it receives. */
const collector = Effect.acquireRelease(
  Effect.promise(async () => {
    const received: Array<Received> = []
    const server = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        received.push({ path: request.url, body })
        response.setHeader("content-type", "application/json").end("{}")
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return { server, received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }),
  ({ server }) => Effect.sync(() => server.close())
)

const traced = (settings: Record<string, string>) =>
  Traces.layer.pipe(
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings))),
    Layer.provide(NodeHttpClient.layerUndici)
  )

const work = Effect.void.pipe(Effect.withSpan("inner"), Effect.withSpan("outer", { attributes: { mint: "M" } }))

describe("traces", () => {
  it.effect("reach a collector with their spans when the scope closes", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector
      yield* Effect.scoped(
        Effect.provide(work, traced({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER_ARG: "1" }))
      )
      const [{ body, path }] = received as [Received]
      assert.strictEqual(path, "/v1/traces")
      const { resourceSpans } = JSON.parse(body) as {
        readonly resourceSpans: ReadonlyArray<{
          readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Record<string, unknown>> }>
        }>
      }
      const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
      assert.sameMembers(
        spans.map(({ name }) => name),
        ["inner", "outer"]
      )
      const [inner, outer] = ["inner", "outer"].map((name) => spans.find((span) => span["name"] === name))
      assert.strictEqual(inner?.["parentSpanId"], outer?.["spanId"])
      assert.include(body, '"fathom"')
    })
  )

  it.effect("are all left out when the share is zero", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector
      yield* Effect.scoped(
        Effect.provide(work, traced({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER_ARG: "0" }))
      )
      assert.deepStrictEqual(received, [])
    })
  )

  it.effect("go nowhere without an endpoint", () => Effect.scoped(Effect.provide(work, traced({}))))

  it.effect("need a share between 0 and 1", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(Effect.scoped(Layer.build(traced({ OTEL_TRACES_SAMPLER_ARG: "2" }))))
      assert.include(String(failure), "OTEL_TRACES_SAMPLER_ARG")
    })
  )
})
