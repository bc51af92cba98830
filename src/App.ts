import { NodeHttpClient, NodeServices, NodeSocket } from "@effect/platform-node"
import { Clock, Config, ConfigProvider, Effect, Layer, Option, Schedule, Schema } from "effect"
import type { HttpClient, HttpServerError } from "effect/http"
import type { Socket } from "effect/socket"
import * as IdempotencyPg from "./access/IdempotencyPg.ts"
import * as KeyStorePg from "./access/KeyStorePg.ts"
import { RateLimiter } from "./access/RateLimiter.ts"
import { WalletBatch } from "./access/WalletBatch.ts"
import * as AlertStorePg from "./alerts/AlertStorePg.ts"
import { Evaluator } from "./alerts/Evaluator.ts"
import { OpeningAlerts, setOpening } from "./alerts/opening.ts"
import * as CalloutStorePg from "./callouts/CalloutStorePg.ts"
import { Opening, postOpening } from "./callouts/opening.ts"
import { Attributions, attributeTrades, linksOf } from "./callouts/attributionFeed.ts"
import { CopyReader } from "./copying/CopyReader.ts"
import { CopySource, keepCopies } from "./copying/copySource.ts"
import * as FollowStorePg from "./copying/FollowStorePg.ts"
import { Address, type Mint, USDC } from "./domain/Address.ts"
import { type QuoteRequest, SpotQuote } from "./domain/Quote.ts"
import { FundingClient } from "./funding/FundingClient.ts"
import * as FundingClientHttp from "./funding/FundingClientHttp.ts"
import type { EvmCandles } from "./market/EvmCandles.ts"
import * as EvmCandlesHttp from "./market/EvmCandlesHttp.ts"
import { MarketReader } from "./market/MarketReader.ts"
import * as tokenActivity from "./market/tokenActivity.ts"
import { TopTraders } from "./market/TopTraders.ts"
import { TradeFeed } from "./market/TradeFeed.ts"
import * as TradeStorePg from "./market/TradeStorePg.ts"
import { TradeTape } from "./market/TradeTape.ts"
import * as Database from "./postgres/Database.ts"
import type { PerpsVenues } from "./perps/PerpsVenues.ts"
import * as PerpsVenuesHttp from "./perps/PerpsVenuesHttp.ts"
import { PoolBook } from "./quotes/PoolBook.ts"
import { QuoteEngine } from "./quotes/QuoteEngine.ts"
import { recordedMints, standInMints } from "./quotes/recordedMints.ts"
import { MarketSource } from "./server/MarketSource.ts"
import * as Server from "./server/Server.ts"
import { Settings } from "./server/Settings.ts"
import * as Welcome from "./server/Welcome.ts"
import { fillsFrom } from "./simulator/followersJournal.ts"
import { WELCOME } from "./simulator/fundingWorld.ts"
import { EvmCandleSource } from "./simulator/EvmCandleSource.ts"
import { FundingDesk } from "./simulator/FundingDesk.ts"
import { PerpsSimulator } from "./simulator/PerpsSimulator.ts"
import { SimulatorThread } from "./simulator/SimulatorThread.ts"
import { alertsOf } from "./simulator/alerts.ts"
import { calloutLinksOf } from "./simulator/calloutLinks.ts"
import { calloutsOf } from "./simulator/callouts.ts"
import { identitiesOf } from "./simulator/identities.ts"
import { trackedWalletsOf } from "./simulator/trackedWallets.ts"
import * as BlockFeedRpc from "./solana/BlockFeedRpc.ts"
import type { ChainFeed, ChainUnavailable } from "./solana/ChainFeed.ts"
import * as ChainFeedDump from "./solana/ChainFeedDump.ts"
import * as ChainFeedRpc from "./solana/ChainFeedRpc.ts"
import { TransactionStatus } from "./solana/TransactionStatus.ts"
import * as TransactionStatusRpc from "./solana/TransactionStatusRpc.ts"
import { AuditReader } from "./tokens/AuditReader.ts"
import { PriceBook } from "./tokens/PriceBook.ts"
import { RiskReader } from "./tokens/RiskReader.ts"
import { TokenBook } from "./tokens/TokenBook.ts"
import { TokenReader } from "./tokens/TokenReader.ts"
import * as KeepActivity from "./tracker/keepActivity.ts"
import { OpeningWallets, trackOpening } from "./tracker/opening.ts"
import { Tickets } from "./tracker/Tickets.ts"
import { TrackerFeed } from "./tracker/TrackerFeed.ts"
import * as TrackerStorePg from "./tracker/TrackerStorePg.ts"
import { WatchList } from "./tracker/WatchList.ts"
import { blockWorker } from "./trades/decodeBlock.ts"
import * as IdentityStorePg from "./wallets/IdentityStorePg.ts"
import { LedgerReader } from "./wallets/LedgerReader.ts"
import { InventedIdentities, loadIdentities } from "./wallets/openingIdentities.ts"
import { WalletIndex } from "./wallets/WalletIndex.ts"
import { WalletReader } from "./wallets/WalletReader.ts"

/** Mints to load at start: those that `PRELOAD_MINTS` names, else these. */
const preloaded = (mints: ReadonlyArray<Mint>) =>
  Config.Array(Address, "PRELOAD_MINTS").pipe(Config.withDefault(mints))

/** A real node: `SOLANA_RPC_URL` and, where it differs, `SOLANA_WS_URL`. */
const node = Layer.mergeAll(
  ChainFeedRpc.layer(),
  TransactionStatusRpc.layer(),
  TradeFeed.layer.pipe(Layer.provide(BlockFeedRpc.layer({ worker: blockWorker }))),
  Layer.effect(
    MarketSource,
    Effect.map(preloaded([USDC]), (mints) =>
      MarketSource.of({ description: "a Solana node", sandbox: false, mints })
    )
  )
)

/** A recorded market: a folder of account dumps. */
const recording = (folder: string) =>
  Layer.effect(
    MarketSource,
    Effect.map(recordedMints, (mints) =>
      MarketSource.of({ description: `the recording in ${folder}`, sandbox: true, mints })
    )
  ).pipe(
    Layer.provideMerge([
      ChainFeedDump.layer(folder, { complete: standInMints }),
      TransactionStatus.layerUnreachable,
      TradeFeed.layerSilent
    ])
  )

/** The market of our own, behind the same client that a real node would be. */
const simulation = Layer.unwrap(
  Effect.map(SimulatorThread, ({ fills, follows, mints, pastSlots, rpcUrl, wallets, wsUrl }) =>
    Layer.mergeAll(
      ChainFeedRpc.layer({ rpcUrl, wsUrl }),
      TransactionStatusRpc.layer({ rpcUrl }),
      TradeFeed.layerSandbox.pipe(
        Layer.provide(
          BlockFeedRpc.layer({
            worker: blockWorker,
            rpcUrl,
            ...(pastSlots > 0 && { blocks: { catchUp: 2 * pastSlots } })
          })
        )
      ),
      Layer.effect(
        MarketSource,
        Effect.map(preloaded(mints.map(({ address }) => address)), (chosen) =>
          MarketSource.of({ description: "a simulated market", sandbox: true, mints: chosen })
        )
      ),
      Layer.succeed(OpeningAlerts, alertsOf(mints)),
      Layer.effect(
        CopySource,
        Effect.map(fillsFrom(fills), (told) => ({ accountId: WELCOME, follows, fills: told }))
      ),
      Layer.succeed(OpeningWallets, trackedWalletsOf(wallets)),
      Layer.effect(
        InventedIdentities,
        Effect.map(Clock.currentTimeMillis, (nowMs) => identitiesOf({ nowMs, wallets }))
      ),
      Layer.effect(
        Opening,
        Effect.map(Clock.currentTimeMillis, (nowMs) => calloutsOf({ nowMs, mints, wallets }))
      ),
      Layer.effect(
        Attributions,
        Effect.map(Clock.currentTimeMillis, (nowMs) =>
          linksOf(calloutLinksOf(calloutsOf({ nowMs, mints, wallets }), nowMs))
        )
      )
    )
  )
).pipe(Layer.provide(SimulatorThread.layerConfig))

type Market = Layer.Layer<
  ChainFeed | TransactionStatus | TradeFeed | MarketSource,
  Config.ConfigError | ChainUnavailable | ChainFeedDump.DumpUnreadable | HttpServerError.ServeError,
  HttpClient.HttpClient | Socket.WebSocketConstructor
>

const market: Market = Layer.unwrap(
  Effect.gen(function* () {
    const folder = yield* Config.option(Config.String("ACCOUNTS_DIR"))
    const rpcUrl = yield* Config.option(Config.String("SOLANA_RPC_URL"))
    const chosen: Market = Option.isSome(folder) ? recording(folder.value) : Option.isSome(rpcUrl) ? node : simulation
    return chosen
  })
)

const engine = Layer.unwrap(
  Effect.map(
    Config.Literals(["native", "router"], "QUOTE_ENGINE").pipe(Config.withDefault("native" as const)),
    (kind) => (kind === "router" ? QuoteEngine.layerRouter : QuoteEngine.layerNative)
  )
)

/** The funding service of our own, behind the same client that a real one would be. */
const fundingDesk = Layer.unwrap(
  Effect.map(FundingDesk, ({ token, url }) => FundingClientHttp.layer({ token, url }))
).pipe(Layer.provide(FundingDesk.layerConfig))

type Funding = Layer.Layer<FundingClient, Config.ConfigError | HttpServerError.ServeError, HttpClient.HttpClient>

/** Where `FUNDING_URL` says, or our own beside a simulated market: nobody's real money is shown beside invented wallets. */
const funding: Funding = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* Config.option(Config.String("FUNDING_URL"))
    const folder = yield* Config.option(Config.String("ACCOUNTS_DIR"))
    const rpcUrl = yield* Config.option(Config.String("SOLANA_RPC_URL"))
    const beside: Funding =
      Option.isSome(folder) || Option.isSome(rpcUrl) ? FundingClient.layerUnconfigured : fundingDesk
    return Option.isSome(url) ? FundingClientHttp.layer() : beside
  })
)

const quotes = engine.pipe(Layer.provideMerge(PoolBook.layer), Layer.provideMerge(market))

/** A source of candles of our own, behind the same client that a real one would be. */
const evmSource = Layer.unwrap(Effect.map(EvmCandleSource, ({ url }) => EvmCandlesHttp.layer(url))).pipe(
  Layer.provide(EvmCandleSource.layerConfig)
)

type Evm = Layer.Layer<EvmCandles, Config.ConfigError | HttpServerError.ServeError, HttpClient.HttpClient>

/** Where `EVM_CANDLES_URL` says; our own beside a simulated market, and none beside a real one. */
const evm: Evm = Layer.unwrap(
  Effect.gen(function* () {
    const folder = yield* Config.option(Config.String("ACCOUNTS_DIR"))
    const rpcUrl = yield* Config.option(Config.String("SOLANA_RPC_URL"))
    const chosen: Evm = Option.isSome(folder) || Option.isSome(rpcUrl) ? EvmCandlesHttp.layer() : evmSource
    return chosen
  })
)

/** Trades that outlive the process. */
const tradeStore = TradeStorePg.layer.pipe(Layer.provide(Database.layer))

const tape = TradeTape.layer.pipe(Layer.provide([PriceBook.layer, tradeStore]))

const tokens = Layer.mergeAll(TokenReader.layer, RiskReader.layer.pipe(Layer.provide(AuditReader.layer))).pipe(
  Layer.provide([TokenBook.layer, PriceBook.layer, tokenActivity.layer.pipe(Layer.provide(tape))])
)

const reads = Layer.mergeAll(MarketReader.layer, TopTraders.layer).pipe(
  Layer.provide([tape, TokenBook.layer, PriceBook.layer, evm])
)

type Perps = Layer.Layer<PerpsVenues, Config.ConfigError | HttpServerError.ServeError, HttpClient.HttpClient>

/** Perpetual futures venues of our own. */
const simulatedPerps: Perps = Layer.unwrap(Effect.map(PerpsSimulator, ({ urls }) => PerpsVenuesHttp.layer(urls))).pipe(
  Layer.provide(PerpsSimulator.layerConfig)
)

/** Those of our own beside a simulated market, unless somebody has said where others are. */
const perps: Perps = Layer.unwrap(
  Effect.gen(function* () {
    const folder = yield* Config.option(Config.String("ACCOUNTS_DIR"))
    const rpcUrl = yield* Config.option(Config.String("SOLANA_RPC_URL"))
    const isReal = Option.isSome(folder) || Option.isSome(rpcUrl) || (yield* PerpsVenuesHttp.isConfigured)
    return isReal ? PerpsVenuesHttp.layer() : simulatedPerps
  })
)

const platform = Layer.mergeAll(NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor, NodeServices.layer)

/** A market that is not real hands out keys that say so, unless somebody decided otherwise. */
const keyEnvironment = Layer.unwrap(
  Effect.map(Config.option(Config.String("SOLANA_RPC_URL")), (rpcUrl) =>
    Option.isSome(rpcUrl)
      ? Layer.empty
      : ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ KEY_ENVIRONMENT: "test" }))
  )
)

const keyStore = KeyStorePg.layer.pipe(Layer.provide([Database.layer, keyEnvironment]))

/** The same keys for a short command, which works beside a service that is running on the same data. */
export const keyStoreBeside = KeyStorePg.layer.pipe(Layer.provide([Database.layerBeside, keyEnvironment]))

const callouts = attributeTrades.pipe(
  Layer.provide(Layer.effectDiscard(postOpening)),
  Layer.provideMerge(CalloutStorePg.layer),
  Layer.provide([tape, Database.layer])
)

const alerts = Layer.mergeAll(Evaluator.layer, Layer.effectDiscard(setOpening)).pipe(
  Layer.provideMerge(AlertStorePg.layer),
  Layer.provide([tape, TokenBook.layer, Database.layer])
)

const copying = Layer.mergeAll(CopyReader.layer, keepCopies).pipe(
  Layer.provide([FollowStorePg.layer.pipe(Layer.provide(Database.layer)), PriceBook.layer, TokenBook.layer])
)

const tracker = Layer.mergeAll(KeepActivity.layer, Layer.effectDiscard(trackOpening)).pipe(
  Layer.provideMerge([TrackerStorePg.layer, TrackerFeed.layer]),
  Layer.provideMerge([WatchList.layer, Tickets.layerMemory]),
  Layer.provide([tape, TokenBook.layer, PriceBook.layer, Database.layer])
)

const identities = Layer.effectDiscard(loadIdentities).pipe(
  Layer.provideMerge(IdentityStorePg.layer),
  Layer.provide(Database.layer)
)

const wallets = WalletReader.layer.pipe(
  Layer.provide([
    identities,
    LedgerReader.layerNone,
    WalletIndex.layerStored.pipe(Layer.provide([tape, tradeStore])),
    PriceBook.layer
  ])
)

/** The whole service. This file is the only place that chooses an implementation. */
export const layer = Welcome.layer.pipe(
  Layer.provideMerge(Server.layer),
  Layer.provide([
    keyStore,
    RateLimiter.layerMemory,
    WalletBatch.layerMemory,
    IdempotencyPg.layer.pipe(Layer.provide(Database.layer)),
    Settings.layerConfig,
    funding,
    perps
  ]),
  Layer.provide([tokens, tracker, callouts, copying, reads, alerts, wallets]),
  Layer.provide(quotes),
  Layer.provide(platform)
)

const asJson = Schema.encodeEffect(Schema.fromJsonString(SpotQuote))

/** One quote as JSON, without HTTP or a database. Waits up to 20 seconds for the pools to be read. */
export const quoteOnce = (trade: Pick<QuoteRequest, "inputMint" | "outputMint" | "amount">) =>
  QuoteEngine.use((engine) => engine.quote({ ...trade, slippageBps: 50 })).pipe(
    Effect.retry({
      schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 400 })),
      while: ({ _tag }) => _tag === "StateCold" || _tag === "StateStale"
    }),
    Effect.flatMap(asJson),
    Effect.provide(quotes.pipe(Layer.provide(platform)))
  )
