/** Every setting that can have a bad value, as the modules read them. */
import { Config, Effect, Option } from "effect"
import * as KeyStorePg from "../access/KeyStorePg.ts"
import * as UsageStorePg from "../access/usage/UsageStorePg.ts"
import * as oidcSettings from "../access/accounts/oidcSettings.ts"
import * as SessionStorePg from "../access/accounts/SessionStorePg.ts"
import * as Evaluator from "../alerts/Evaluator.ts"
import * as attributionFeed from "../callouts/attributionFeed.ts"
import { fundingSettings } from "../funding/fundingSettings.ts"
import * as requestLog from "../http/server/requestLog.ts"
import { Settings } from "../http/Settings.ts"
import * as EvmCandlesHttp from "../market/reads/EvmCandlesHttp.ts"
import { recordSettings } from "../market/tape/recordTrades.ts"
import { exportsMib } from "../market/export/DayFilesDisk.ts"
import * as MarketStoresPg from "../market/history/MarketStoresPg.ts"
import { holderLimits } from "../market/reads/followHolders.ts"
import { searchTokens } from "../market/reads/TokenSearch.ts"
import { repairSettings } from "../market/tape/RepairWorker.ts"
import { snapshotSettings } from "../market/tape/takeSnapshots.ts"
import { leastCoverage, limits, restorePatience } from "../market/tape/makeMarket.ts"
import * as AdminServer from "../operations/AdminServer.ts"
import * as Logs from "../operations/Logs.ts"
import * as Traces from "../operations/Traces.ts"
import * as PerpsVenuesHttp from "../perps/PerpsVenuesHttp.ts"
import * as poolDiscovery from "../quotes/pools/poolDiscovery.ts"
import { isIndexing } from "../quotes/pools/PoolIndex.ts"
import { executeBudget, learnVenues } from "../quotes/execution/executionSettings.ts"
import * as proofSettings from "../quotes/execution/proofSettings.ts"
import { hubs, platformFee } from "../quotes/QuoteEngine.ts"
import { staleAfter } from "../chain/accounts/chainSettings.ts"
import { blockSettings } from "../chain/blocks/BlockFeedRpc.ts"
import { geyserDecoders, geyserPatience, geyserRace } from "../chain/geyser/BlockFeedGeyser.ts"
import { geyserEndpoints } from "../chain/geyser/geyserSettings.ts"
import { historyUrlSetting, rpcSettings, rpcUrlSetting, wsUrlSetting } from "../chain/rpc/rpcSettings.ts"
import { importParts } from "../chain/importing/importSettings.ts"
import { isRecording, recordBounds, recordDir } from "../chain/recording/recordSettings.ts"
import { isReplaying, replaySettings } from "../chain/recording/replaySettings.ts"
import { statusTimeout } from "../chain/rpc/TransactionStatusRpc.ts"
import { busMib } from "../storage/bus/BlockBus.ts"
import { clickHouseSettings, clickHouseUrl } from "../storage/clickhouse/ClickHouse.ts"
import * as Database from "../storage/Database.ts"
import { valkeyUrl, whenDown } from "../storage/valkey/Valkey.ts"
import * as MarketSessions from "../live/market/MarketSessions.ts"
import * as priceSettings from "../tokens/priceSettings.ts"
import * as FetchDocuments from "../tokens/documents/fetchDocuments.ts"
import * as TokenBook from "../tokens/TokenBook.ts"
import * as LiveSessions from "../wallets/tracker/LiveSessions.ts"
import { accountsRate } from "../wallets/WalletAccounts.ts"
import { backfillSettings } from "../wallets/backfill.ts"
import { mostTrades } from "../wallets/WalletIndex.ts"
import { namesReadBy } from "./environment.ts"
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
  busMib,
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
  // The node serves what the Geyser does not have.
  Config.flatMap(geyserEndpoints(), ({ length }) => (length === 0 ? Config.succeed([]) : rpcUrlSetting)),
  geyserPatience,
  geyserRace,
  geyserDecoders,
  statusTimeout,
  importParts,
  isRecording,
  recordBounds,
  recordDir,
  isReplaying,
  replaySettings,
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
  executeBudget,
  learnVenues,
  TokenBook.settings,
  FetchDocuments.settings,
  priceSettings.settings,
  limits,
  leastCoverage,
  restorePatience,
  MarketStoresPg.settings,
  exportsMib,
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

/** Settings that are free text, and paths, which `checkPaths` looks at. */
const texts = [
  "ACCOUNTS_DIR",
  "BACKUP_DIR",
  "FUNDING_TOKEN",
  "HOST",
  "IDENTITIES_FILE",
  "KEY_PEPPER",
  "KEY_PEPPER_BEFORE",
  "OIDC_CLIENT_ID",
  "OIDC_CLIENT_SECRET",
  "PUBLIC_URL",
  "READY_FILE"
].map((name) => Config.option(Config.String(name)))

const simulated = Effect.map(
  Effect.promise(() => import("./Simulated.ts")),
  ({ settings }) => settings
)

/** The settings of the HTTP server, after every setting was checked. Fails with the first bad one. */
export const checkedSettings: Effect.Effect<Settings["Service"], Config.ConfigError> = Effect.gen(function* () {
  const http = yield* Effect.provide(Settings, Settings.layerConfig)
  yield* Effect.forEach(all, (config) => Effect.asVoid(config), { discard: true })
  if (yield* isSimulated) {
    yield* yield* simulated
  }
  return http
})

/** The names of all settings. Names of the simulator are among them only with a simulated market. */
export const settingNames: Effect.Effect<ReadonlySet<string>, Config.ConfigError> = Effect.gen(function* () {
  const own = [...all, ...texts, ...((yield* isSimulated) ? [yield* simulated] : [])]
  return yield* namesReadBy(
    Effect.andThen(
      Effect.provide(Settings, Settings.layerConfig),
      Effect.forEach(own, (config) => Effect.asVoid(config), { discard: true })
    )
  )
})
