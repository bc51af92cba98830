/** The external systems: chain, perps venues, funding service and EVM candles. Simulated ones stand in beside a simulated market. */
import { Config, Effect, Layer, Option } from "effect"
import type { HttpClient, HttpServerError } from "effect/http"
import type { Socket } from "effect/socket"
import { type Mint, USDC } from "../domain/Address.ts"
import { FundingClient } from "../funding/FundingClient.ts"
import * as FundingClientHttp from "../funding/FundingClientHttp.ts"
import type { EvmCandles } from "../market/candles/EvmCandles.ts"
import * as EvmCandlesHttp from "../market/candles/EvmCandlesHttp.ts"
import { TradeFeed } from "../market/tape/TradeFeed.ts"
import type { PerpsVenues } from "../perps/PerpsVenues.ts"
import * as PerpsVenuesHttp from "../perps/PerpsVenuesHttp.ts"
import { recordedMints, standInMints } from "../pools/recordedMints.ts"
import * as Seed from "../simulator/seed/Seed.ts"
import { simulatorConfig } from "../simulator/Simulator.ts"
import { SimulatorThread } from "../simulator/SimulatorThread.ts"
import { answersConfig, EvmCandleSource } from "../simulator/venues/EvmCandleSource.ts"
import { fundingAilmentConfig } from "../simulator/venues/fundingFaults.ts"
import { FundingService } from "../simulator/venues/FundingService.ts"
import { healthConfig, PerpsSimulator } from "../simulator/venues/PerpsSimulator.ts"
import type { ChainFeed, ChainUnavailable } from "../solana/accounts/ChainFeed.ts"
import * as ChainFeedDump from "../solana/accounts/ChainFeedDump.ts"
import * as ChainFeedRpc from "../solana/accounts/ChainFeedRpc.ts"
import { TransactionStatus } from "../solana/rpc/TransactionStatus.ts"
import * as TransactionStatusRpc from "../solana/rpc/TransactionStatusRpc.ts"
import { TradeBlocks } from "../trades/blocks/TradeBlocks.ts"
import { chosenMarket, isSimulated, preloadedMints } from "./marketSettings.ts"
import { DemoData, MarketSource } from "./MarketSource.ts"

/** A market source that loads the mints of `PRELOAD_MINTS`, else these. */
const sourceOf = (source: Omit<MarketSource["Service"], "mints">, mints: ReadonlyArray<Mint>) =>
  Layer.effect(
    MarketSource,
    Effect.map(preloadedMints(mints), (chosen) => MarketSource.of({ ...source, mints: chosen }))
  )

/** A real node: `SOLANA_RPC_URL` and, where it differs, `SOLANA_WS_URL`. */
const node = Layer.mergeAll(
  ChainFeedRpc.layer(),
  TransactionStatusRpc.layer(),
  TradeFeed.layer.pipe(Layer.provide(TradeBlocks.layerRpc())),
  sourceOf({ description: "a Solana node", sandbox: false }, [USDC])
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

/** The simulated chain, read by the same clients as a real node. */
const simulation = Layer.unwrap(
  Effect.map(SimulatorThread, ({ mints, pastSlots, rpcUrl, wsUrl }) =>
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
      sourceOf(
        { description: "a simulated market", sandbox: true },
        mints.map(({ address }) => address)
      )
    )
  )
).pipe(Layer.provide(SimulatorThread.layerConfig))

type Market = Layer.Layer<
  ChainFeed | TransactionStatus | TradeFeed | MarketSource,
  Config.ConfigError | ChainUnavailable | ChainFeedDump.DumpUnreadable | HttpServerError.ServeError,
  HttpClient.HttpClient | Socket.WebSocketConstructor
>

/** The chain: a recording where `ACCOUNTS_DIR` names one, a node where `SOLANA_RPC_URL` does, else the simulator. */
export const market: Market = Layer.unwrap(
  Effect.map(chosenMarket, (chosen): Market => {
    switch (chosen.kind) {
      case "recording":
        return recording(chosen.folder)
      case "node":
        return node
      case "simulated":
        return simulation
    }
  })
)

type SeedLayer = Layer.Layer<DemoData, Config.ConfigError, Seed.SeededPorts>

/** Demo data beside a simulated market; beside any other only those of an earlier start are removed that would be shown. */
export const seed: SeedLayer = Layer.unwrap(
  Effect.map(isSimulated, (simulated): SeedLayer =>
    simulated
      ? Layer.effect(
          DemoData,
          Effect.map(Seed.SeedProgress, ({ done }) => DemoData.of({ written: done }))
        ).pipe(Layer.provide(Seed.layer), Layer.provide(SimulatorThread.layerConfig))
      : Layer.merge(Seed.layerRemoved, Layer.succeed(DemoData, DemoData.of({ written: Effect.void })))
  )
)

/** An upstream that is reached over HTTP. */
type Upstream<Client> = Layer.Layer<Client, Config.ConfigError | HttpServerError.ServeError, HttpClient.HttpClient>

const simulatedFunding = Layer.unwrap(
  Effect.map(FundingService, ({ token, url }) => FundingClientHttp.layer({ token, url }))
).pipe(Layer.provide(FundingService.layerConfig))

/** The funding service at `FUNDING_URL`, else a simulated one beside a simulated market, else none: simulated money is never shown beside a real market. */
export const funding: Upstream<FundingClient> = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* Config.option(Config.String("FUNDING_URL"))
    const simulated = yield* isSimulated
    const withoutUrl: Upstream<FundingClient> = simulated ? simulatedFunding : FundingClient.layerUnconfigured
    return Option.isSome(url) ? FundingClientHttp.layer() : withoutUrl
  })
)

const simulatedEvm = Layer.unwrap(Effect.map(EvmCandleSource, ({ url }) => EvmCandlesHttp.layer(url))).pipe(
  Layer.provide(EvmCandleSource.layerConfig)
)

/** The EVM candles at `EVM_CANDLES_URL`; simulated ones beside a simulated market, none beside any other. */
export const evm: Upstream<EvmCandles> = Layer.unwrap(
  Effect.map(isSimulated, (simulated): Upstream<EvmCandles> => (simulated ? simulatedEvm : EvmCandlesHttp.layer()))
)

const simulatedPerps = Layer.unwrap(Effect.map(PerpsSimulator, ({ urls }) => PerpsVenuesHttp.layer(urls))).pipe(
  Layer.provide(PerpsSimulator.layerConfig)
)

/** The perps venues: simulated ones beside a simulated market, unless a setting names others. */
export const perps: Upstream<PerpsVenues> = Layer.unwrap(
  Effect.gen(function* () {
    const isReal = !(yield* isSimulated) || (yield* PerpsVenuesHttp.isConfigured)
    return isReal ? PerpsVenuesHttp.layer() : simulatedPerps
  })
)

/** The settings of everything that is simulated. */
export const simulatorSettings: Config.Config<unknown> = Config.all([
  simulatorConfig,
  healthConfig,
  answersConfig,
  fundingAilmentConfig
])
