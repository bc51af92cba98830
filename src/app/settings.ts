/** Every setting that can have a bad value, from the places that read them. */
import { Config, Effect, Option } from "effect"
import * as KeyStorePg from "../access/KeyStorePg.ts"
import * as UsageStorePg from "../access/usage/UsageStorePg.ts"
import * as oidcSettings from "../accounts/oidcSettings.ts"
import * as SessionStorePg from "../accounts/SessionStorePg.ts"
import * as Evaluator from "../alerts/Evaluator.ts"
import * as attributionFeed from "../callouts/attributionFeed.ts"
import { fundingSettings } from "../funding/fundingSettings.ts"
import * as requestLog from "../http/requestLog.ts"
import { Settings } from "../http/Settings.ts"
import * as EvmCandlesHttp from "../market/candles/EvmCandlesHttp.ts"
import { recordSettings } from "../market/store/recordTrades.ts"
import * as TradeStorePg from "../market/store/TradeStorePg.ts"
import { holderLimits } from "../market/holders/followHolders.ts"
import { searchTokens } from "../market/search/TokenSearch.ts"
import { repairSettings } from "../market/repair/RepairWorker.ts"
import { snapshotSettings } from "../market/snapshot/takeSnapshots.ts"
import * as TradeTape from "../market/tape/TradeTape.ts"
import * as AdminServer from "../observability/AdminServer.ts"
import * as Logs from "../observability/Logs.ts"
import * as Traces from "../observability/Traces.ts"
import * as PerpsVenuesHttp from "../perps/PerpsVenuesHttp.ts"
import * as poolDiscovery from "../pools/poolDiscovery.ts"
import { isIndexing } from "../pools/poolIndex/PoolIndex.ts"
import * as proofSettings from "../proofs/proofSettings.ts"
import { hubs, platformFee } from "../quotes/QuoteEngine.ts"
import { staleAfter } from "../solana/accounts/chainSettings.ts"
import { blockSettings } from "../solana/blocks/BlockFeedRpc.ts"
import { geyserPatience } from "../solana/geyser/BlockFeedGeyser.ts"
import { geyserEndpoints } from "../solana/geyser/geyserSettings.ts"
import { historyUrlSetting, rpcSettings, rpcUrlSetting, wsUrlSetting } from "../solana/rpc/rpcSettings.ts"
import { statusTimeout } from "../solana/rpc/TransactionStatusRpc.ts"
import { clickHouseSettings, clickHouseUrl } from "../storage/clickhouse/ClickHouse.ts"
import * as Database from "../storage/Database.ts"
import { valkeyUrl, whenDown } from "../storage/valkey/Valkey.ts"
import * as MarketSessions from "../subscriptions/MarketSessions.ts"
import * as priceSettings from "../tokens/priceSettings.ts"
import * as FetchDocuments from "../tokens/documents/fetchDocuments.ts"
import * as TokenBook from "../tokens/TokenBook.ts"
import * as LiveSessions from "../tracker/LiveSessions.ts"
import { accountsRate } from "../wallets/accounts/WalletAccounts.ts"
import { backfillSettings } from "../wallets/backfill.ts"
import { mostTrades } from "../wallets/WalletIndex.ts"
import { isSimulated, nodeUrl, preloadedMints, quoteEngine } from "./marketSettings.ts"
import { role } from "./role.ts"

const all: ReadonlyArray<Config.Config<unknown>> = [
  AdminServer.settings,
  Logs.settings,
  requestLog.settings,
  Traces.settings,
  Database.settings,
  role,
  valkeyUrl,
  whenDown,
  clickHouseUrl,
  clickHouseSettings,
  KeyStorePg.settings,
  UsageStorePg.settings,
  SessionStorePg.settings,
  oidcSettings.settings,
  Config.flatMap(nodeUrl, (url) => rpcSettings(Option.isSome(url) ? {} : { rpcUrl: "http://127.0.0.1" })),
  wsUrlSetting,
  historyUrlSetting,
  blockSettings,
  // A node answers what a Geyser does not have.
  Config.flatMap(geyserEndpoints(), ({ length }) => (length === 0 ? Config.succeed([]) : rpcUrlSetting)),
  geyserPatience,
  statusTimeout,
  staleAfter,
  quoteEngine,
  preloadedMints([]),
  hubs,
  platformFee,
  poolDiscovery.settings,
  isIndexing,
  proofSettings.refresh,
  proofSettings.accepted,
  proofSettings.isProving,
  proofSettings.budget,
  proofSettings.policy,
  TokenBook.settings,
  FetchDocuments.settings,
  priceSettings.settings,
  TradeTape.limits,
  TradeTape.leastCoverage,
  TradeTape.restorePatience,
  TradeStorePg.settings,
  recordSettings,
  repairSettings,
  snapshotSettings,
  searchTokens,
  holderLimits,
  mostTrades,
  backfillSettings,
  accountsRate,
  LiveSessions.limits,
  MarketSessions.limits,
  Evaluator.settings,
  attributionFeed.terms,
  PerpsVenuesHttp.configured,
  PerpsVenuesHttp.deadline,
  PerpsVenuesHttp.ourBps,
  EvmCandlesHttp.settings,
  Config.option(fundingSettings({})),
  fundingSettings({ url: "http://127.0.0.1" })
]

/** The settings of the HTTP server, once every setting is known to be readable. Fails with the first that is not. */
export const checkedSettings: Effect.Effect<Settings["Service"], Config.ConfigError> = Effect.gen(function* () {
  const http = yield* Effect.provide(Settings, Settings.layerConfig)
  yield* Effect.forEach(all, (config) => Effect.asVoid(config), { discard: true })
  if (yield* isSimulated) {
    yield* (yield* Effect.promise(() => import("./Simulated.ts"))).settings
  }
  return http
})
