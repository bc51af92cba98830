/** The composition root: with `Upstreams.ts` the only file that chooses implementations. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { Effect, Layer, Option } from "effect"
import { CallerLimits } from "../access/CallerLimits.ts"
import * as IdempotencyPg from "../access/IdempotencyPg.ts"
import { RateLimiter } from "../access/RateLimiter.ts"
import * as UsageStorePg from "../access/usage/UsageStorePg.ts"
import { WalletBatch } from "../access/WalletBatch.ts"
import * as OidcClientHttp from "../accounts/OidcClientHttp.ts"
import * as AlertStorePg from "../alerts/AlertStorePg.ts"
import { Evaluator } from "../alerts/Evaluator.ts"
import * as CalloutStorePg from "../callouts/CalloutStorePg.ts"
import { CopyReader } from "../copying/CopyReader.ts"
import * as FollowStorePg from "../copying/FollowStorePg.ts"
import * as Readings from "../health/Readings.ts"
import * as SourceMonitor from "../health/SourceMonitor.ts"
import * as Server from "../http/Server.ts"
import { noteStates } from "../http/sources.ts"
import * as requestLog from "../http/requestLog.ts"
import { MeasureRequests } from "../http/requestMetrics.ts"
import { Settings } from "../http/Settings.ts"
import * as TokenLaunches from "../market/launches/tokenLaunches.ts"
import * as FollowHolders from "../market/holders/followHolders.ts"
import * as LearnPools from "../market/tape/LearnPools.ts"
import * as TradeStorePg from "../market/store/TradeStorePg.ts"
import * as tokenActivity from "../market/views/tokenActivity.ts"
import { TradeTape } from "../market/tape/TradeTape.ts"
import { WatchedWallets } from "../market/tape/WatchedWallets.ts"
import { MarketReader } from "../market/views/MarketReader.ts"
import { TopTraders } from "../market/views/TopTraders.ts"
import { TradesReader } from "../market/views/TradesReader.ts"
import { TokenSearch } from "../market/search/TokenSearch.ts"
import * as AdminServer from "../observability/AdminServer.ts"
import * as Logs from "../observability/Logs.ts"
import * as Traces from "../observability/Traces.ts"
import { PoolBook } from "../pools/PoolBook.ts"
import { isProving } from "../proofs/proofSettings.ts"
import { ProgramWatch } from "../proofs/ProgramWatch.ts"
import * as ProofStorePg from "../proofs/ProofStorePg.ts"
import * as VenueProofs from "../quotes/VenueProofs.ts"
import { QuoteEngine } from "../quotes/QuoteEngine.ts"
import { clickHouseUrl } from "../storage/clickhouse/ClickHouse.ts"
import * as Database from "../storage/Database.ts"
import { CleansUp } from "../storage/purge.ts"
import { valkeyUrl } from "../storage/valkey/Valkey.ts"
import { AuditReader } from "../tokens/AuditReader.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { RiskReader } from "../tokens/RiskReader.ts"
import * as SignalReader from "../tokens/signals/SignalReader.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { TokenReader } from "../tokens/TokenReader.ts"
import * as KeepActivity from "../tracker/keepActivity.ts"
import { MarketFeed } from "../subscriptions/MarketFeed.ts"
import { MarketTickets } from "../subscriptions/MarketTickets.ts"
import { Tickets } from "../tracker/tickets/Tickets.ts"
import { TrackerFeed } from "../tracker/TrackerFeed.ts"
import * as TrackerStorePg from "../tracker/TrackerStorePg.ts"
import * as OwnerLinks from "../tracker/OwnerLinks.ts"
import { WatchList } from "../tracker/WatchList.ts"
import * as HistoryStorePg from "../wallets/HistoryStorePg.ts"
import * as IdentityStorePg from "../wallets/IdentityStorePg.ts"
import { WalletAccounts } from "../wallets/accounts/WalletAccounts.ts"
import { LedgerReader } from "../wallets/LedgerReader.ts"
import { loadIdentities } from "../wallets/reviewedIdentities.ts"
import { WalletIndex } from "../wallets/WalletIndex.ts"
import { WalletReader } from "../wallets/WalletReader.ts"
import { accountStores } from "./accountStore.ts"
import { keyStore } from "./keyStore.ts"
import { quoteEngine } from "./marketSettings.ts"
import { isKeeper, role } from "./role.ts"
import { poolIndex, poolIndexKeeper } from "./poolIndex.ts"
import * as Startup from "./Startup.ts"
import { documents, evm, funding, market, perps, seed } from "./Upstreams.ts"

const platform = Layer.mergeAll(NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor, NodeServices.layer)

const engine = Layer.unwrap(
  Effect.map(quoteEngine, (kind) => (kind === "router" ? QuoteEngine.layerRouter : QuoteEngine.layerNative))
)

/** Pools and the engine that prices them, without the market that they are read from. */
const pools = engine.pipe(Layer.provideMerge(PoolBook.layer))

/** Pools, the engine that prices them, and their market, without a service around them: for a command that prices one trade. */
export const standaloneQuotes = pools.pipe(Layer.provideMerge(market), Layer.provide(platform))

/** The same for a service, with the index of pools where there is one, and with the market's mints on their way into memory. */
const loadedQuotes = Startup.preloaded.pipe(
  Layer.provide(TokenBook.layer),
  Layer.provideMerge(pools.pipe(Layer.provide(poolIndex))),
  Layer.provideMerge(market)
)

/** A layer for the processes that evaluate and clean up, another for the others. */
const byDuty = <A, E, R>(keeper: Layer.Layer<A, E, R>, other: Layer.Layer<A, E, R>) =>
  Layer.unwrap(Effect.map(isKeeper, (keeps) => (keeps ? keeper : other)))

/** Trades in PostgreSQL, or in ClickHouse where `CLICKHOUSE_URL` is set, whose modules only that loads. */
const tradeStore = Layer.unwrap(
  Effect.gen(function* () {
    const [keeps, url] = [yield* isKeeper, yield* clickHouseUrl]
    if (Option.isNone(url)) {
      return (keeps ? TradeStorePg.layer : TradeStorePg.layerWithoutCleanup).pipe(Layer.provide(Database.layer))
    }
    const history = yield* Effect.promise(() => import("./ClickHouseTrades.ts"))
    return history.layer(url.value, keeps)
  })
)
const watchedWallets = Layer.effect(
  WatchedWallets,
  WatchList.useSync(({ follows }) => ({ has: follows }))
).pipe(Layer.provide(WatchList.layer))
const roleTape = Layer.unwrap(
  Effect.gen(function* () {
    const [own, url] = [yield* role, yield* valkeyUrl]
    if (own === "all" || Option.isNone(url)) {
      return TradeTape.layer
    }
    const shared = yield* Effect.promise(() => import("./RoleTape.ts"))
    return shared.layer(url.value, own === "ingest")
  })
)
const tape = roleTape.pipe(Layer.provide([PriceBook.layer, tradeStore, watchedWallets]))

const newPools = LearnPools.layer.pipe(Layer.provide(tape))

const holders = FollowHolders.layer.pipe(Layer.provide(tape))

const calloutStore = CalloutStorePg.layer.pipe(Layer.provide(Database.layer))
const alertStore = AlertStorePg.layer.pipe(Layer.provide(Database.layer))
const followStore = FollowStorePg.layer.pipe(Layer.provide(Database.layer))
const trackerStore = TrackerStorePg.layer.pipe(Layer.provide([Database.layer, WatchList.layer]))
const identityStore = Layer.effectDiscard(loadIdentities).pipe(
  Layer.provideMerge(IdentityStorePg.layer),
  Layer.provide(Database.layer)
)

const launches = TokenLaunches.layer.pipe(Layer.provide(tape))

const tokens = Layer.mergeAll(TokenReader.layer, RiskReader.layer.pipe(Layer.provide(AuditReader.layer))).pipe(
  Layer.provide(SignalReader.layer.pipe(Layer.provide(launches))),
  Layer.provide([TokenBook.layer, PriceBook.layer, tokenActivity.layer.pipe(Layer.provide(tape)), holders, documents])
)

const reads = Layer.mergeAll(
  MarketFeed.layer,
  MarketReader.layer,
  TokenSearch.layer,
  TopTraders.layer,
  TradesReader.layer
).pipe(Layer.provide([tape, TokenBook.layer, PriceBook.layer, evm, holders]))

const alerts = byDuty(Evaluator.layer, Evaluator.layerReads).pipe(
  Layer.provideMerge(alertStore),
  Layer.provide([tape, TokenBook.layer, PriceBook.layer, holders])
)

const copying = CopyReader.layer.pipe(Layer.provide([followStore, PriceBook.layer, TokenBook.layer]))

/** State that processes share: in memory, or in Valkey where `VALKEY_URL` is set, whose modules only that loads. */
const sharedState = Layer.unwrap(
  Effect.flatMap(valkeyUrl, (url) =>
    Option.isNone(url)
      ? Effect.succeed(
          Layer.mergeAll(
            RateLimiter.layerMemory,
            CallerLimits.layerMemory,
            Tickets.layerMemory,
            MarketTickets.layerMemory
          )
        )
      : Effect.map(
          Effect.promise(() => import("./SharedState.ts")),
          (shared) => shared.layer(url.value)
        )
  )
)

const walletAccounts = WalletAccounts.layer.pipe(Layer.provide(tape))

const tracker = byDuty(KeepActivity.layer, Layer.empty).pipe(
  Layer.provideMerge([trackerStore, TrackerFeed.layer, OwnerLinks.layer.pipe(Layer.provide(identityStore))]),
  Layer.provideMerge(WatchList.layer),
  Layer.provide([tape, TokenBook.layer, PriceBook.layer, walletAccounts])
)

const ledger = LedgerReader.layerBackfill.pipe(Layer.provide(HistoryStorePg.layer.pipe(Layer.provide(Database.layer))))

const wallets = WalletReader.layer.pipe(
  Layer.provide([
    identityStore,
    ledger,
    WalletIndex.layerStored.pipe(Layer.provide([tape, tradeStore, watchedWallets])),
    PriceBook.layer,
    tape,
    walletAccounts
  ])
)

const programWatch = ProgramWatch.layer.pipe(Layer.provide(ProofStorePg.layer), Layer.provide(Database.layer))

/** Proofs of the quoted programs where `PROVE` is `on`, whose modules only that loads, in the processes that evaluate and clean up. */
const proofs = Layer.unwrap(
  Effect.gen(function* () {
    const isAsked = (yield* isKeeper) && (yield* isProving)
    return isAsked ? (yield* Effect.promise(() => import("./Proofs.ts"))).layer : Layer.empty
  })
).pipe(Layer.provideMerge(programWatch))

const capabilities = Layer.mergeAll(
  tokens,
  tracker,
  calloutStore,
  copying,
  reads,
  alerts,
  wallets,
  funding,
  perps,
  newPools,
  poolIndexKeeper,
  proofs
)

const access = Layer.mergeAll(
  keyStore,
  WalletBatch.layer.pipe(Layer.provideMerge(sharedState)),
  UsageStorePg.layer.pipe(Layer.provide(Database.layer)),
  accountStores,
  OidcClientHttp.layer,
  IdempotencyPg.layer.pipe(Layer.provide(Database.layer))
).pipe(Layer.provide(Layer.effect(CleansUp, isKeeper)))

const demoData = seed.pipe(Layer.provide([alertStore, calloutStore, followStore, identityStore, trackerStore, tape]))

const measuring = Layer.effect(
  MeasureRequests,
  Effect.map(AdminServer.settings, ({ port }) => Option.isSome(port))
)

/** The whole service. */
export const layer = Startup.layer.pipe(
  Layer.provideMerge(Server.layer),
  Layer.provide([capabilities, access, Settings.layerConfig, demoData, TokenBook.layer]),
  // The database starts while the market does.
  Layer.provideMerge(noteStates),
  Layer.provide([loadedQuotes, Database.layer, AdminServer.layer, measuring, requestLog.layerConfig]),
  Layer.provide([SourceMonitor.layer, Readings.layer, Traces.layer, VenueProofs.layer]),
  Layer.provide([platform, Logs.layer])
)
