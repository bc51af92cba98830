import { type Config, Effect, Layer } from "effect"
import { HttpRouter, HttpServer, type HttpServerError } from "effect/http"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import type { Idempotency } from "../access/Idempotency.ts"
import type { KeyStore } from "../access/KeyStore.ts"
import type { RateLimiter } from "../access/RateLimiter.ts"
import type { WalletBatch } from "../access/WalletBatch.ts"
import type { Evaluator } from "../alerts/Evaluator.ts"
import type { AlertStore } from "../alerts/AlertStore.ts"
import { Api } from "../api/Api.ts"
import type { CalloutStore } from "../callouts/CalloutStore.ts"
import type { CopyReader } from "../copying/CopyReader.ts"
import type { FundingClient } from "../funding/FundingClient.ts"
import type { MarketReader } from "../market/MarketReader.ts"
import type { TopTraders as TraderRankings } from "../market/TopTraders.ts"
import type { PerpsVenues } from "../perps/PerpsVenues.ts"
import type { QuoteEngine } from "../quotes/QuoteEngine.ts"
import type { ChainFeed } from "../solana/ChainFeed.ts"
import type { TransactionStatus } from "../solana/TransactionStatus.ts"
import type { RiskReader } from "../tokens/RiskReader.ts"
import type { TokenReader } from "../tokens/TokenReader.ts"
import { LiveSessions } from "../tracker/LiveSessions.ts"
import type { Tickets } from "../tracker/Tickets.ts"
import type { TrackerFeed } from "../tracker/TrackerFeed.ts"
import type { TrackerStore } from "../tracker/TrackerStore.ts"
import type { WalletReader } from "../wallets/WalletReader.ts"
import * as Account from "./Account.ts"
import * as AccountFunding from "./AccountFunding.ts"
import * as Alerts from "./Alerts.ts"
import { routerConfig } from "./allowedMethods.ts"
import * as Authorization from "./Authorization.ts"
import * as Callouts from "./Callouts.ts"
import * as Closed from "./Closed.ts"
import * as Copying from "./Copying.ts"
import * as Documents from "./Documents.ts"
import { Drain } from "./Drain.ts"
import * as Edge from "./Edge.ts"
import * as JsonBody from "./JsonBody.ts"
import { expressQuotes } from "./expressQuote.ts"
import { Listening, serve } from "./NodeServer.ts"
import * as Market from "./Market.ts"
import * as Perps from "./Perps.ts"
import * as Refusals from "./Refusals.ts"
import * as Routing from "./Routing.ts"
import type { Settings } from "./Settings.ts"
import * as SharePage from "./SharePage.ts"
import * as Spot from "./Spot.ts"
import * as System from "./System.ts"
import * as Tokens from "./Tokens.ts"
import * as TopTraders from "./TopTraders.ts"
import * as Tracker from "./Tracker.ts"
import { trackerSocket } from "./TrackerSocket.ts"
import * as Wallets from "./Wallets.ts"

/** What the handlers answer from. */
export type Capabilities =
  | AlertStore
  | CalloutStore
  | ChainFeed
  | CopyReader
  | Evaluator
  | FundingClient
  | Idempotency
  | KeyStore
  | MarketReader
  | PerpsVenues
  | QuoteEngine
  | RateLimiter
  | RiskReader
  | Tickets
  | TokenReader
  | TrackerFeed
  | TrackerStore
  | TraderRankings
  | TransactionStatus
  | WalletBatch
  | WalletReader

/** The middleware of a contract: admission, strict bodies, one error envelope. */
export const middleware = Layer.mergeAll(Authorization.layer, JsonBody.layer, Refusals.layer)

/** What surrounds a contract: its documents, its pages, and the edge that every request passes. */
export const surroundings = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) => Layer.mergeAll(Documents.layer(api), SharePage.layer, Edge.layer(api, [...Documents.pages, ...SharePage.pages]))

/** What a served contract stands on. */
export const ground = Layer.mergeAll(
  Drain.layer,
  HttpServer.layerServices,
  Layer.succeed(HttpRouter.RouterConfig, routerConfig)
)

/** One layer per group of the contract. */
const handlers = Layer.mergeAll(
  System.layer,
  Account.layer,
  AccountFunding.layer,
  Spot.layer,
  Routing.layer,
  Market.layer,
  Tokens.layer,
  TopTraders.layer,
  Tracker.layer,
  Wallets.layer,
  Perps.layer,
  Callouts.layer,
  Alerts.layer,
  Copying.layer,
  Closed.layer
)

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(Layer.provide(handlers)),
  surroundings(Api)
).pipe(Layer.provide(middleware))

/** Serves the contract until its scope closes, then drains. The capabilities and the settings are the caller's choice. */
export const layer: Layer.Layer<Listening, HttpServerError.ServeError | Config.ConfigError, Capabilities | Settings> =
  Layer.effect(
    Listening,
    Effect.flatMap(Effect.all([HttpRouter.toHttpEffect(routes), expressQuotes, trackerSocket]), (parts) =>
      serve(...parts)
    )
  ).pipe(Layer.provide([LiveSessions.layer, ground]))
