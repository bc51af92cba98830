/** The external systems of a simulated market. Loaded only with one. */
import { Config, Effect, Layer } from "effect"
import { Dns } from "effect/net"
import * as FundingClientHttp from "../funding/FundingClientHttp.ts"
import * as EvmCandlesHttp from "../market/reads/EvmCandlesHttp.ts"
import { TradeFeed } from "../market/tape/TradeFeed.ts"
import * as PerpsVenuesHttp from "../perps/PerpsVenuesHttp.ts"
import * as Seed from "../simulator/seed/Seed.ts"
import { simulatorConfig } from "../simulator/Simulator.ts"
import { pastPath, type SimulatorPlace, SimulatorThread } from "../simulator/SimulatorThread.ts"
import { slotsOf } from "../simulator/traders/past.ts"
import { DocumentSource } from "../simulator/venues/DocumentSource.ts"
import { answersConfig, EvmCandleSource } from "../simulator/venues/EvmCandleSource.ts"
import { fundingAilmentConfig } from "../simulator/venues/fundingFaults.ts"
import { FundingService } from "../simulator/venues/FundingService.ts"
import { healthConfig, PerpsSimulator } from "../simulator/venues/PerpsSimulator.ts"
import type { BlockFeedOptions } from "../chain/blocks/BlockFeedRpc.ts"
import * as AccountScanRpc from "../chain/rpc/AccountScanRpc.ts"
import * as ChainFeedRpc from "../chain/accounts/ChainFeedRpc.ts"
import * as ChainFeedGeyser from "../chain/geyser/ChainFeedGeyser.ts"
import * as ProgramWritesGeyser from "../chain/geyser/ProgramWritesGeyser.ts"
import { recordedWhereAsked } from "../chain/recording/Recorder.ts"
import * as TokenAccountsRpc from "../chain/rpc/TokenAccountsRpc.ts"
import * as TransactionHistoryRpc from "../chain/rpc/TransactionHistoryRpc.ts"
import * as TransactionStatusRpc from "../chain/rpc/TransactionStatusRpc.ts"
import { DefaultSearchRate } from "../quotes/pools/SearchPace.ts"
import { TradeBlocks } from "../chain/decoding/TradeBlocks.ts"
import * as FetchDocuments from "../tokens/documents/fetchDocuments.ts"
import * as PublicWeb from "../operations/publicWeb.ts"
import { DemoData, sourceOf } from "./MarketSource.ts"

/** Of a recorded past the newest part comes first, a little more than an hour, and then the rest. */
const FIRST_PART_SLOTS = slotsOf(1.1)

const blocksOf = ({ geyserUrl, past, pastSlots, rpcUrl }: SimulatorPlace) => {
  const options: Partial<BlockFeedOptions> = {
    rpcUrl,
    ...(pastSlots > 0 && { blocks: { catchUp: past === null ? 2 * pastSlots : FIRST_PART_SLOTS } })
  }
  return geyserUrl === null
    ? TradeBlocks.layerRpc(options, past)
    : TradeBlocks.layerGeyser({ ...options, geyser: { url: geyserUrl } })
}

const accountsOf = ({ geyserUrl, rpcUrl, wsUrl }: SimulatorPlace) =>
  geyserUrl === null
    ? ChainFeedRpc.layer({ rpcUrl, wsUrl })
    : Layer.merge(
        ChainFeedGeyser.layer({ rpcUrl, wsUrl, geyser: { url: geyserUrl } }),
        ProgramWritesGeyser.layer({ rpcUrl, wsUrl, geyser: { url: geyserUrl } })
      )

/** The simulated chain, read by the same clients as a real node. */
export const market = Layer.unwrap(
  Effect.map(SimulatorThread, (place) => {
    const { mints, rpcUrl } = place
    return Layer.mergeAll(
      accountsOf(place).pipe(recordedWhereAsked({ rpcUrl })),
      Layer.succeed(DefaultSearchRate, null),
      AccountScanRpc.layer({ rpcUrl }),
      TransactionStatusRpc.layer({ rpcUrl }),
      TransactionHistoryRpc.layer({ rpcUrl }),
      TokenAccountsRpc.layer({ rpcUrl }),
      TradeFeed.layerSandbox.pipe(Layer.provide(blocksOf(place))),
      sourceOf(
        { description: "a simulated market", sandbox: true },
        mints.map(({ address }) => address)
      )
    )
  })
).pipe(Layer.provide(SimulatorThread.layerConfig))

export const seed = Layer.effect(
  DemoData,
  Effect.map(Seed.SeedProgress, ({ done }) => DemoData.of({ written: done }))
).pipe(Layer.provide(Seed.layer), Layer.provide(SimulatorThread.layerConfig))

export const funding = Layer.unwrap(
  Effect.map(FundingService, ({ token, url }) => FundingClientHttp.layer({ token, url }))
).pipe(Layer.provide(FundingService.layerConfig))

export const evm = Layer.unwrap(Effect.map(EvmCandleSource, ({ url }) => EvmCandlesHttp.layer(url))).pipe(
  Layer.provide(EvmCandleSource.layerConfig)
)

/** Metadata documents of simulated mints. No name is looked up. */
export const documents = Layer.unwrap(
  Effect.map(DocumentSource, ({ url }) => FetchDocuments.layer({ ipfs: url }))
).pipe(
  Layer.provide(DocumentSource.layer),
  Layer.provide(PublicWeb.layer()),
  Layer.provide(Layer.orDie(Dns.layerStatic({})))
)

export const perps = Layer.unwrap(Effect.map(PerpsSimulator, ({ urls }) => PerpsVenuesHttp.layer(urls))).pipe(
  Layer.provide(PerpsSimulator.layerConfig)
)

export const settings: Config.Config<unknown> = Config.all([
  simulatorConfig,
  pastPath,
  healthConfig,
  answersConfig,
  fundingAilmentConfig
])
