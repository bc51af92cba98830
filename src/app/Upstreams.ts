/** Where everything comes from that is not ours: the chain, the venues, the funding service. Ours, invented, where nobody says. */
import { Clock, Config, Effect, Layer, Option } from "effect"
import type { HttpClient, HttpServerError } from "effect/http"
import type { Socket } from "effect/socket"
import { OpeningAlerts } from "../alerts/opening.ts"
import { Opening } from "../callouts/opening.ts"
import { Attributions, linksOf } from "../callouts/attributionFeed.ts"
import { CopySource } from "../copying/copySource.ts"
import { Address, type Mint, USDC } from "../domain/Address.ts"
import { FundingClient } from "../funding/FundingClient.ts"
import * as FundingClientHttp from "../funding/FundingClientHttp.ts"
import type { EvmCandles } from "../market/candles/EvmCandles.ts"
import * as EvmCandlesHttp from "../market/candles/EvmCandlesHttp.ts"
import { TradeFeed } from "../market/tape/TradeFeed.ts"
import type { PerpsVenues } from "../perps/PerpsVenues.ts"
import * as PerpsVenuesHttp from "../perps/PerpsVenuesHttp.ts"
import { recordedMints, standInMints } from "../pools/recordedMints.ts"
import { MarketSource } from "./MarketSource.ts"
import { fillsFrom } from "../simulator/traders/followersJournal.ts"
import { WELCOME } from "../simulator/venues/fundingWorld.ts"
import { EvmCandleSource } from "../simulator/venues/EvmCandleSource.ts"
import { FundingService } from "../simulator/venues/FundingService.ts"
import { PerpsSimulator } from "../simulator/venues/PerpsSimulator.ts"
import { SimulatorThread } from "../simulator/SimulatorThread.ts"
import { alertsOf } from "../simulator/seed/alerts.ts"
import { calloutLinksOf } from "../simulator/seed/calloutLinks.ts"
import { calloutsOf } from "../simulator/seed/callouts.ts"
import { identitiesOf } from "../simulator/seed/identities.ts"
import { trackedWalletsOf } from "../simulator/seed/trackedWallets.ts"
import type { ChainFeed, ChainUnavailable } from "../solana/accounts/ChainFeed.ts"
import * as ChainFeedDump from "../solana/accounts/ChainFeedDump.ts"
import * as ChainFeedRpc from "../solana/accounts/ChainFeedRpc.ts"
import { rpcUrlSetting } from "../solana/rpc/rpcSettings.ts"
import { TransactionStatus } from "../solana/rpc/TransactionStatus.ts"
import * as TransactionStatusRpc from "../solana/rpc/TransactionStatusRpc.ts"
import { OpeningWallets } from "../tracker/opening.ts"
import { TradeBlocks } from "../trades/blocks/TradeBlocks.ts"
import { InventedIdentities } from "../wallets/openingIdentities.ts"

/** Mints to load at start: those that `PRELOAD_MINTS` names, else these. */
const preloaded = (mints: ReadonlyArray<Mint>) => Config.Array(Address, "PRELOAD_MINTS").pipe(Config.withDefault(mints))

/** A real node: `SOLANA_RPC_URL` and, where it differs, `SOLANA_WS_URL`. */
const node = Layer.mergeAll(
  ChainFeedRpc.layer(),
  TransactionStatusRpc.layer(),
  TradeFeed.layer.pipe(Layer.provide(TradeBlocks.layerRpc())),
  Layer.effect(
    MarketSource,
    Effect.map(preloaded([USDC]), (mints) => MarketSource.of({ description: "a Solana node", sandbox: false, mints }))
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
          TradeBlocks.layerRpc({
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

/** Where somebody wants the market from; null leaves it to us. */
const wanted = Effect.gen(function* () {
  const folder = yield* Config.option(Config.String("ACCOUNTS_DIR"))
  const rpcUrl = yield* Config.option(rpcUrlSetting)
  return Option.isSome(folder) ? { folder: folder.value } : Option.isSome(rpcUrl) ? ("node" as const) : null
})

type Market = Layer.Layer<
  ChainFeed | TransactionStatus | TradeFeed | MarketSource,
  Config.ConfigError | ChainUnavailable | ChainFeedDump.DumpUnreadable | HttpServerError.ServeError,
  HttpClient.HttpClient | Socket.WebSocketConstructor
>

/** The chain: a recording where `ACCOUNTS_DIR` names one, a node where `SOLANA_RPC_URL` does, else one of our own. */
export const market: Market = Layer.unwrap(
  Effect.map(wanted, (source): Market =>
    source === null ? simulation : source === "node" ? node : recording(source.folder)
  )
)

/** The funding service of our own, behind the same client that a real one would be. */
const fundingDesk = Layer.unwrap(
  Effect.map(FundingService, ({ token, url }) => FundingClientHttp.layer({ token, url }))
).pipe(Layer.provide(FundingService.layerConfig))

type Funding = Layer.Layer<FundingClient, Config.ConfigError | HttpServerError.ServeError, HttpClient.HttpClient>

/** Where `FUNDING_URL` says, or our own beside a simulated market: nobody's real money is shown beside invented wallets. */
export const funding: Funding = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* Config.option(Config.String("FUNDING_URL"))
    const beside: Funding = (yield* wanted) === null ? fundingDesk : FundingClient.layerUnconfigured
    return Option.isSome(url) ? FundingClientHttp.layer() : beside
  })
)

/** A source of candles of our own, behind the same client that a real one would be. */
const evmSource = Layer.unwrap(Effect.map(EvmCandleSource, ({ url }) => EvmCandlesHttp.layer(url))).pipe(
  Layer.provide(EvmCandleSource.layerConfig)
)

type Evm = Layer.Layer<EvmCandles, Config.ConfigError | HttpServerError.ServeError, HttpClient.HttpClient>

/** Where `EVM_CANDLES_URL` says; our own beside a simulated market, and none beside a real one. */
export const evm: Evm = Layer.unwrap(
  Effect.map(wanted, (source): Evm => (source === null ? evmSource : EvmCandlesHttp.layer()))
)

type Perps = Layer.Layer<PerpsVenues, Config.ConfigError | HttpServerError.ServeError, HttpClient.HttpClient>

/** Perpetual futures venues of our own. */
const simulatedPerps: Perps = Layer.unwrap(Effect.map(PerpsSimulator, ({ urls }) => PerpsVenuesHttp.layer(urls))).pipe(
  Layer.provide(PerpsSimulator.layerConfig)
)

/** Those of our own beside a simulated market, unless somebody has said where others are. */
export const perps: Perps = Layer.unwrap(
  Effect.gen(function* () {
    const isReal = (yield* wanted) !== null || (yield* PerpsVenuesHttp.isConfigured)
    return isReal ? PerpsVenuesHttp.layer() : simulatedPerps
  })
)
