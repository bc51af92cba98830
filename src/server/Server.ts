import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer, type HttpServerError } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { KeyStore } from "../access/KeyStore.ts"
import type { RateLimiter } from "../access/RateLimiter.ts"
import { Api } from "../api/Api.ts"
import type { ChainFeed } from "../solana/ChainFeed.ts"
import * as Account from "./Account.ts"
import * as Authorization from "./Authorization.ts"
import { routerConfig } from "./allowedMethods.ts"
import * as Documents from "./Documents.ts"
import { Drain } from "./Drain.ts"
import * as Edge from "./Edge.ts"
import * as JsonBody from "./JsonBody.ts"
import { Listening, serve } from "./NodeServer.ts"
import * as Refusals from "./Refusals.ts"
import type { Settings } from "./Settings.ts"
import * as System from "./System.ts"

/** What the handlers answer from. */
export type Capabilities = KeyStore | RateLimiter | ChainFeed

/** One layer per group of the contract, and the middleware they share. */
const handlers = Layer.mergeAll(System.layer, Account.layer).pipe(
  Layer.provide([Authorization.layer, JsonBody.layer, Refusals.layer])
)

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }),
  Documents.layer,
  Edge.layer(Documents.pages)
).pipe(Layer.provide(handlers))

/** Serves the contract until its scope closes, then drains. The capabilities and the settings are the caller's choice. */
export const layer: Layer.Layer<Listening, HttpServerError.ServeError, Capabilities | Settings> = Layer.effect(
  Listening,
  Effect.flatMap(HttpRouter.toHttpEffect(routes), serve)
).pipe(Layer.provide([Drain.layer, HttpServer.layerServices, Layer.succeed(HttpRouter.RouterConfig, routerConfig)]))
