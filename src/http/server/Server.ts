import { type Config, Effect, Layer } from "effect"
import { HttpRouter, HttpServer, type HttpServerError } from "effect/http"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import type { AccountStore } from "../../access/accounts/AccountStore.ts"
import type { OidcClient } from "../../access/accounts/OidcClient.ts"
import type { SessionStore } from "../../access/accounts/SessionStore.ts"
import type { CallerLimits } from "../../access/CallerLimits.ts"
import type { Idempotency } from "../../access/Idempotency.ts"
import type { KeyStore } from "../../access/KeyStore.ts"
import type { RateLimiter } from "../../access/RateLimiter.ts"
import type { UsageStore } from "../../access/usage/UsageStore.ts"
import type { WalletBatch } from "../../access/WalletBatch.ts"
import type { AlertStore } from "../../alerts/AlertStore.ts"
import type { Evaluator } from "../../alerts/Evaluator.ts"
import { Api } from "../../api/Api.ts"
import type { CalloutStore } from "../../callouts/CalloutStore.ts"
import type { ChainFeed } from "../../chain/ChainFeed.ts"
import type { TransactionStatus } from "../../chain/rpc/TransactionStatus.ts"
import type { FundingClient } from "../../funding/FundingClient.ts"
import type { MarketFeed } from "../../live/market/MarketFeed.ts"
import { MarketSessions } from "../../live/market/MarketSessions.ts"
import type { MarketTickets } from "../../live/market/MarketTickets.ts"
import type { MarketReader } from "../../market/reads/MarketReader.ts"
import type { TokenSearch } from "../../market/reads/TokenSearch.ts"
import type { TopTraders as TraderRankings } from "../../market/reads/TopTraders.ts"
import type { TradesReader } from "../../market/reads/TradesReader.ts"
import type { PerpsVenues } from "../../perps/PerpsVenues.ts"
import type { QuoteEngine } from "../../quotes/QuoteEngine.ts"
import { QuoteTicks } from "../../quotes/QuoteTicks.ts"
import type { RiskReader } from "../../tokens/risk/RiskReader.ts"
import type { TokenReader } from "../../tokens/TokenReader.ts"
import type { CopyReader } from "../../wallets/copying/CopyReader.ts"
import { LiveSessions } from "../../wallets/tracker/LiveSessions.ts"
import type { Tickets } from "../../wallets/tracker/Tickets.ts"
import type { TrackerFeed } from "../../wallets/tracker/TrackerFeed.ts"
import type { TrackerStore } from "../../wallets/tracker/TrackerStore.ts"
import type { WalletReader } from "../../wallets/WalletReader.ts"
import { Drain } from "../Drain.ts"
import * as Account from "../handlers/Account.ts"
import * as AccountFunding from "../handlers/AccountFunding.ts"
import * as AccountKeys from "../handlers/AccountKeys.ts"
import * as Alerts from "../handlers/Alerts.ts"
import * as Callouts from "../handlers/Callouts.ts"
import * as Closed from "../handlers/Closed.ts"
import * as Copying from "../handlers/Copying.ts"
import * as Exports from "../handlers/Exports.ts"
import * as Launches from "../handlers/Launches.ts"
import * as Market from "../handlers/Market.ts"
import * as MarketRealtime from "../handlers/MarketRealtime.ts"
import * as MarketStreams from "../handlers/MarketStreams.ts"
import * as Perps from "../handlers/Perps.ts"
import * as Pools from "../handlers/Pools.ts"
import * as PriceAt from "../handlers/PriceHistory.ts"
import * as ReplayFills from "../handlers/ReplayFills.ts"
import * as Routing from "../handlers/Routing.ts"
import * as Screen from "../handlers/Screen.ts"
import * as Search from "../handlers/Search.ts"
import * as Sessions from "../handlers/Sessions.ts"
import * as Spot from "../handlers/Spot.ts"
import * as System from "../handlers/System.ts"
import * as TokenBatch from "../handlers/TokenBatch.ts"
import * as Tokens from "../handlers/Tokens.ts"
import * as TopTraders from "../handlers/TopTraders.ts"
import * as Tracker from "../handlers/Tracker.ts"
import * as Trades from "../handlers/Trades.ts"
import * as Wallets from "../handlers/Wallets.ts"
import { InnerApp } from "../middleware/innerRequests.ts"
import * as CompatRoutes from "../compat/CompatRoutes.ts"
import { layer as mcp } from "../mcp/McpRoute.ts"
import { MCP_PATH } from "../mcp/paths.ts"
import { routerConfig } from "../middleware/routes.ts"
import * as Authorization from "../middleware/Authorization.ts"
import * as ErrorEnvelope from "../middleware/ErrorEnvelope.ts"
import * as JsonBody from "../middleware/JsonBody.ts"
import * as RequestLifecycle from "../middleware/RequestLifecycle.ts"
import * as ApiDocument from "../pages/ApiDocument.ts"
import * as ProviderSignIn from "../pages/ProviderSignIn.ts"
import * as ReferencePages from "../pages/ReferencePages.ts"
import * as SharePage from "../pages/SharePage.ts"
import * as WebApp from "../pages/WebApp.ts"
import * as WellKnown from "../pages/WellKnown.ts"
import type { Settings } from "../Settings.ts"
import { liveSockets } from "../streams/LiveSocket.ts"
import { marketSocket } from "../streams/marketSocket.ts"
import { trackerSocket } from "../streams/trackerSocket.ts"
import { fastPath, Handlers, noteHandlers } from "./fastPath.ts"
import { Listening, serve } from "./NodeServer.ts"
import { quoteShortcut } from "./plainQuoteQuery.ts"
import { openPaths } from "./openPaths.ts"
import { requestLog } from "./requestLog.ts"
import { operationNames, requestMetrics } from "./requestMetrics.ts"

/** Services that the handlers require. */
export type Capabilities =
  | AccountStore
  | AlertStore
  | CallerLimits
  | CalloutStore
  | ChainFeed
  | CopyReader
  | Evaluator
  | FundingClient
  | Idempotency
  | KeyStore
  | MarketFeed
  | MarketReader
  | MarketTickets
  | OidcClient
  | PerpsVenues
  | QuoteEngine
  | RateLimiter
  | RiskReader
  | SessionStore
  | Tickets
  | TokenReader
  | TrackerFeed
  | TrackerStore
  | TokenSearch
  | TradesReader
  | TraderRankings
  | TransactionStatus
  | UsageStore
  | WalletBatch
  | WalletReader

/** The middleware of a contract: admission, strict bodies, error envelope. */
export const middleware = Layer.mergeAll(Authorization.layer, JsonBody.layer, ErrorEnvelope.layer)

/** Paths that answer GET outside a contract. */
const pages = [
  ...SharePage.pages,
  ...ProviderSignIn.pages,
  ...WebApp.pages,
  ...WellKnown.pages,
  ...ReferencePages.pages()
]

/** Routes beside a contract: its pages, and the middleware around every request. */
export const surroundings = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) =>
  Layer.mergeAll(
    SharePage.layer,
    ProviderSignIn.layer,
    WebApp.layer,
    WellKnown.layer,
    ReferencePages.layer,
    RequestLifecycle.layer(api, pages, (path) => path === MCP_PATH || CompatRoutes.isCompat(path))
  )

/** Services that every served contract requires. */
export const ground = Layer.mergeAll(
  Drain.layer,
  HttpServer.layerServices,
  Layer.succeed(HttpRouter.RouterConfig, routerConfig)
)

const handlers = Layer.mergeAll(
  System.layer,
  Account.layer,
  AccountKeys.layer,
  Sessions.layer,
  AccountFunding.layer,
  Spot.layer,
  Routing.layer,
  Market.layer,
  Tokens.layer,
  TopTraders.layer,
  MarketRealtime.layer,
  MarketStreams.layer,
  Trades.layer,
  Pools.layer,
  PriceAt.layer,
  TokenBatch.layer,
  Screen.layer,
  Launches.layer,
  Search.layer,
  Tracker.layer,
  Wallets.layer,
  Perps.layer,
  Callouts.layer,
  Alerts.layer,
  Copying.layer,
  Exports.layer,
  ReplayFills.layer,
  Closed.layer
)

const routes = Layer.mergeAll(
  Layer.mergeAll(HttpApiBuilder.layer(Api), noteHandlers(Api)).pipe(Layer.provide(handlers)),
  ApiDocument.layer,
  mcp,
  CompatRoutes.layer,
  surroundings(Api)
).pipe(Layer.provide(middleware))

const nameOf = operationNames(Api, pages)

/** Serves the contract until its scope closes, then drains. */
export const layer: Layer.Layer<Listening, HttpServerError.ServeError | Config.ConfigError, Capabilities | Settings> =
  Layer.effect(
    Listening,
    Effect.flatMap(
      Effect.all([
        HttpRouter.toHttpEffect(routes),
        Effect.flatMap(quoteShortcut, (shortcut) => fastPath(Api, shortcut)),
        Effect.flatMap(Effect.all([trackerSocket, marketSocket]), liveSockets),
        requestMetrics(nameOf),
        requestLog(nameOf)
      ]),
      ([app, quickly, upgrade, measured, logged]) =>
        Effect.andThen(
          InnerApp.use((inner) => Effect.sync(() => void (inner.app = app))),
          serve(app, {
            fastPath: quickly,
            measured: (handle) => measured(logged(handle)),
            upgrade,
            openPaths: openPaths(Api, pages)
          })
        )
    )
  ).pipe(
    Layer.provide([LiveSessions.layer, MarketSessions.layer, ground, InnerApp.layer, Handlers.layer]),
    Layer.provide(QuoteTicks.layer)
  )
