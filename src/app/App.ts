/**
 * The composition root. Reads top to bottom. `roles.ts` chooses layers by role, `Upstreams.ts` by market; nothing else
 * chooses implementations.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { Effect, Layer, Option } from "effect"
import * as IdempotencyPg from "../access/IdempotencyPg.ts"
import * as UsageStorePg from "../access/usage/UsageStorePg.ts"
import { WalletBatch } from "../access/WalletBatch.ts"
import * as OidcClientHttp from "../access/accounts/OidcClientHttp.ts"
import * as AlertStorePg from "../alerts/AlertStorePg.ts"
import * as CalloutStorePg from "../callouts/CalloutStorePg.ts"
import { replayRoutes } from "../chain/recording/replayRoutes.ts"
import { CopyReader } from "../wallets/copying/CopyReader.ts"
import * as FollowStorePg from "../wallets/copying/FollowStorePg.ts"
import * as Readings from "../operations/Readings.ts"
import * as SourceMonitor from "../operations/SourceMonitor.ts"
import * as Server from "../http/server/Server.ts"
import { noteStates } from "../http/handlers/sources.ts"
import * as requestLog from "../http/server/requestLog.ts"
import { MeasureRequests } from "../http/server/requestMetrics.ts"
import { Settings } from "../http/Settings.ts"
import * as TokenLaunches from "../market/reads/tokenLaunches.ts"
import * as FollowHolders from "../market/reads/followHolders.ts"
import * as CollectAfterBlocks from "../market/tape/collectAfterBlocks.ts"
import * as LearnPools from "../market/tape/LearnPools.ts"
import * as tokenActivity from "../market/reads/tokenActivity.ts"
import { WatchedWallets } from "../market/tape/WatchedWallets.ts"
import * as DayFilesDisk from "../market/export/DayFilesDisk.ts"
import { MarketReader } from "../market/reads/MarketReader.ts"
import { TopTraders } from "../market/reads/TopTraders.ts"
import { TradesReader } from "../market/reads/TradesReader.ts"
import { TokenSearch } from "../market/reads/TokenSearch.ts"
import * as AdminServer from "../operations/AdminServer.ts"
import * as Logs from "../operations/Logs.ts"
import * as Traces from "../operations/Traces.ts"
import { ProgramWatch } from "../quotes/execution/ProgramWatch.ts"
import * as PastMarkets from "../past/PastMarkets.ts"
import * as ReplayFills from "../past/ReplayFills.ts"
import * as ProofStorePg from "../quotes/execution/ProofStorePg.ts"
import * as ExecutedQuotes from "../quotes/ExecutedQuotes.ts"
import { PoolBook } from "../quotes/pools/PoolBook.ts"
import * as VenueProofs from "../quotes/VenueProofs.ts"
import { QuoteEngine } from "../quotes/QuoteEngine.ts"
import * as Database from "../storage/Database.ts"
import * as DiskReadings from "../storage/diskReadings.ts"
import { AuditReader } from "../tokens/AuditReader.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { RiskReader } from "../tokens/risk/RiskReader.ts"
import * as SignalReader from "../tokens/risk/SignalReader.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { TokenReader } from "../tokens/TokenReader.ts"
import { MarketFeed } from "../live/market/MarketFeed.ts"
import { TrackerFeed } from "../wallets/tracker/TrackerFeed.ts"
import * as TrackerStorePg from "../wallets/tracker/TrackerStorePg.ts"
import * as OwnerLinks from "../wallets/tracker/OwnerLinks.ts"
import { WatchList } from "../wallets/tracker/WatchList.ts"
import * as HistoryStorePg from "../wallets/HistoryStorePg.ts"
import * as IdentityStorePg from "../wallets/IdentityStorePg.ts"
import { WalletAccounts } from "../wallets/WalletAccounts.ts"
import { accountsWithFills, layerPriced, layerWithFills } from "../wallets/fillTrades.ts"
import { LedgerReader } from "../wallets/LedgerReader.ts"
import { loadIdentities } from "../wallets/reviewedIdentities.ts"
import { WalletIndex } from "../wallets/WalletIndex.ts"
import { WalletReader } from "../wallets/WalletReader.ts"
import { accountStores } from "./accountStore.ts"
import { keyStore } from "./keyStore.ts"
import { quoteEngine } from "./marketSettings.ts"
import * as roles from "./roles.ts"
import * as Startup from "./Startup.ts"
import { documents, evm, funding, market, perps, seed } from "./Upstreams.ts"

const platform = Layer.mergeAll(NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor, NodeServices.layer)

const engine = Layer.unwrap(
  Effect.map(quoteEngine, (kind) => (kind === "router" ? QuoteEngine.layerRouter : QuoteEngine.layerNative))
)

/** Pools and the engine that prices them. The market that they are read from is provided below. */
const pools = engine.pipe(Layer.provideMerge(roles.poolBook))

/** Pools, engine and market without a service around them, for a command that prices one trade. */
export const standaloneQuotes = pools.pipe(Layer.provideMerge(market), Layer.provide(platform))

/**
 * Pools, engine and market of a service: with the pool index where there is one, and with the market's mints being
 * loaded.
 */
const loadedQuotes = Startup.preloaded.pipe(
  Layer.provide(TokenBook.layer),
  Layer.provideMerge(pools.pipe(Layer.provide(roles.poolIndex))),
  Layer.provideMerge(market)
)

const watchedWallets = Layer.effect(
  WatchedWallets,
  WatchList.useSync(({ follows }) => ({ has: follows }))
).pipe(Layer.provide(WatchList.layer))
const tape = roles.market.pipe(Layer.provide([PriceBook.layer, roles.stores, watchedWallets]))

const newPools = LearnPools.layer.pipe(Layer.provide(tape))

const collections = CollectAfterBlocks.layer.pipe(Layer.provide(tape))

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

const alerts = roles.alerts.pipe(
  Layer.provideMerge(alertStore),
  Layer.provide([tape, TokenBook.layer, PriceBook.layer, holders])
)

const copying = CopyReader.layer.pipe(Layer.provide([followStore, PriceBook.layer, TokenBook.layer]))

const walletAccounts = WalletAccounts.layer.pipe(Layer.provide(tape))

const fillTrades = layerPriced.pipe(Layer.provide(roles.stores))

const tracker = roles.activity.pipe(
  Layer.provideMerge([trackerStore, TrackerFeed.layer, OwnerLinks.layer.pipe(Layer.provide(identityStore))]),
  Layer.provideMerge(WatchList.layer),
  Layer.provide([tape, TokenBook.layer, PriceBook.layer, walletAccounts, fillTrades])
)

const ledger = layerWithFills.pipe(
  Layer.provide([LedgerReader.layerBackfill, fillTrades]),
  Layer.provide(HistoryStorePg.layer.pipe(Layer.provide(Database.layer)))
)

const wallets = WalletReader.layer.pipe(
  Layer.provide([
    identityStore,
    ledger,
    WalletIndex.layerStored.pipe(Layer.provide([tape, roles.stores, watchedWallets])),
    PriceBook.layer,
    tape,
    accountsWithFills.pipe(Layer.provide(walletAccounts))
  ])
)

const programWatch = ProgramWatch.layer.pipe(Layer.provide(ProofStorePg.layer), Layer.provide(Database.layer))

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
  collections,
  PastMarkets.layer(engine.pipe(Layer.provideMerge(PoolBook.layer))),
  DayFilesDisk.layer.pipe(Layer.provide(Database.layer)),
  DiskReadings.layer,
  roles.poolIndexKeeper,
  roles.executions,
  roles.proofs.pipe(Layer.provideMerge(programWatch))
)

const access = Layer.mergeAll(
  keyStore,
  WalletBatch.layer.pipe(Layer.provideMerge(roles.sharedState)),
  UsageStorePg.layer.pipe(Layer.provide(Database.layer)),
  accountStores,
  OidcClientHttp.layer,
  IdempotencyPg.layer.pipe(Layer.provide(Database.layer))
).pipe(Layer.provide([roles.cleansUp, roles.sharedState]))

const demoData = seed.pipe(Layer.provide([alertStore, calloutStore, followStore, identityStore, trackerStore, tape]))

const measuring = Layer.effect(
  MeasureRequests,
  Effect.map(AdminServer.settings, ({ port }) => Option.isSome(port))
)

export const layer = Startup.layer.pipe(
  Layer.provideMerge(Server.layer),
  Layer.provide([capabilities, access, Settings.layerConfig, demoData, TokenBook.layer]),
  // The database starts while the market does.
  Layer.provideMerge(noteStates),
  Layer.provide([
    loadedQuotes,
    Database.layer,
    ReplayFills.layer,
    AdminServer.layerWith(replayRoutes),
    measuring,
    requestLog.layerConfig
  ]),
  Layer.provide([SourceMonitor.layer, Readings.layer, Traces.layer, VenueProofs.layer, ExecutedQuotes.layer]),
  Layer.provide([platform, Logs.layer])
)
