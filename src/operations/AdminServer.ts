/** The server for operators. It serves `GET /metrics`, and routes of the market where it has some, on a separate port. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Config, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { wholeNumber } from "../domain/countSetting.ts"
import { processReadings } from "./processReadings.ts"
import { prometheusText } from "./prometheus.ts"
import { sourceReadings } from "./sourceReadings.ts"

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

const Port = wholeNumber({ minimum: 0, maximum: 65_535 })

/**
 * Settings: `ADMIN_PORT` (no server when it is not set; 0 takes a free port) and `ADMIN_HOST` (loopback by default).
 */
export const settings = Config.all({
  port: Config.option(Config.schema(Port, "ADMIN_PORT")),
  host: Config.String("ADMIN_HOST").pipe(Config.withDefault("127.0.0.1"))
})

const routes = HttpRouter.add(
  "GET",
  "/metrics",
  Effect.map(prometheusText, (text) => HttpServerResponse.text(text, { contentType: CONTENT_TYPE }))
)

interface Listener {
  readonly host: string
  readonly port: number
}

/** Serves metrics and these routes at this address until the scope closes. */
export const serve = ({ host, port }: Listener, more: Layer.Layer<never, never, HttpRouter.HttpRouter> = Layer.empty) =>
  HttpRouter.serve(Layer.merge(routes, more), { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(Layer.effectDiscard(Effect.all([processReadings, sourceReadings]))),
    Layer.provideMerge(
      Layer.effectDiscard(
        HttpServer.addressFormattedWith((url) => Effect.logInfo("Metrics are served", { url: `${url}/metrics` }))
      )
    ),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { host, port }))
  )

/** Serves metrics and these routes when `ADMIN_PORT` is set. */
export const layerWith = (more: Layer.Layer<never, never, HttpRouter.HttpRouter>) =>
  Layer.unwrap(
    Effect.map(settings, ({ host, port }) =>
      Option.match(port, {
        onNone: () => Layer.empty,
        onSome: (given) => Layer.effectDiscard(Layer.build(serve({ host, port: given }, more)))
      })
    )
  )

/** Serves metrics when `ADMIN_PORT` is set. */
export const layer = layerWith(Layer.empty)
