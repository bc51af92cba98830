/**
 * The external systems: chain, perps venues, funding service, EVM candles and metadata documents. With a simulated
 * market they are simulated too.
 */
import * as NodeDns from "@effect/platform-node/NodeDns"
import { Config, Effect, Layer, Option } from "effect"
import type { HttpClient, HttpServerError } from "effect/http"
import { Dns } from "effect/net"
import type { Socket } from "effect/socket"
import { USDC } from "../domain/Address.ts"
import { FundingClient } from "../funding/FundingClient.ts"
import * as FundingClientHttp from "../funding/FundingClientHttp.ts"
import type { EvmCandles } from "../market/reads/EvmCandles.ts"
import * as EvmCandlesHttp from "../market/reads/EvmCandlesHttp.ts"
import { TradeFeed } from "../market/tape/TradeFeed.ts"
import type { PerpsVenues } from "../perps/PerpsVenues.ts"
import * as PerpsVenuesHttp from "../perps/PerpsVenuesHttp.ts"
import { DefaultSearchRate } from "../quotes/pools/SearchPace.ts"
import { recordedMints, standInMints } from "../quotes/pools/recordedMints.ts"
import { layerRemoved } from "../simulator/seed/identities.ts"
import type { SeededPorts } from "../simulator/seed/Seed.ts"
import { AccountScan } from "../chain/rpc/AccountScan.ts"
import * as AccountScanRpc from "../chain/rpc/AccountScanRpc.ts"
import type { ChainFeed } from "../chain/ChainFeed.ts"
import type { ChainUnavailable } from "../chain/ChainUnavailable.ts"
import * as ChainFeedDump from "../chain/accounts/ChainFeedDump.ts"
import { recordedWhereAsked } from "../chain/recording/Recorder.ts"
import type { RecordingUnreadable } from "../chain/recording/readRecording.ts"
import * as Replay from "../chain/recording/Replay.ts"
import { TokenAccounts } from "../chain/rpc/TokenAccounts.ts"
import * as TokenAccountsRpc from "../chain/rpc/TokenAccountsRpc.ts"
import { TransactionHistory } from "../chain/rpc/TransactionHistory.ts"
import * as TransactionHistoryRpc from "../chain/rpc/TransactionHistoryRpc.ts"
import { TransactionStatus } from "../chain/rpc/TransactionStatus.ts"
import * as TransactionStatusRpc from "../chain/rpc/TransactionStatusRpc.ts"
import * as FetchDocuments from "../tokens/documents/fetchDocuments.ts"
import * as PublicWeb from "../operations/publicWeb.ts"
import { TradeBlocks } from "../chain/decoding/TradeBlocks.ts"
import { chosenMarket, isSimulated } from "./marketSettings.ts"
import { DemoData, MarketSource, sourceOf } from "./MarketSource.ts"
import { accounts } from "./roles.ts"
import type * as Simulated from "./Simulated.ts"

/** A layer of the simulator. Only a market that needs it loads its modules. */
const fromSimulated = <A, E, R>(choose: (layers: typeof Simulated) => Layer.Layer<A, E, R>) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("./Simulated.ts")),
      choose
    )
  )

/**
 * A real node: `SOLANA_RPC_URL` and, if it differs, `SOLANA_WS_URL`. Writes and blocks come from the Geyser at
 * `GEYSER_URL` where it is set.
 */
const node = Layer.mergeAll(
  accounts.pipe(recordedWhereAsked()),
  AccountScanRpc.layer(),
  TransactionStatusRpc.layer(),
  TransactionHistoryRpc.layer(),
  TokenAccountsRpc.layer(),
  TradeFeed.layer.pipe(Layer.provide(TradeBlocks.layer)),
  sourceOf({ description: "a Solana node", sandbox: false }, [USDC])
)

/** Reads that neither a recording nor a replay can answer. */
const withoutNode = Layer.mergeAll(
  Layer.succeed(DefaultSearchRate, null),
  AccountScan.layerUnreachable,
  TransactionStatus.layerUnreachable,
  TransactionHistory.layerUnreachable,
  TokenAccounts.layerUnreachable
)

/** A recorded market: a folder of account dumps. */
const recording = (folder: string) =>
  Layer.effect(
    MarketSource,
    Effect.map(recordedMints, (mints) =>
      MarketSource.of({ description: `the recording in ${folder}`, sandbox: true, mints })
    )
  ).pipe(
    Layer.provideMerge([ChainFeedDump.layer(folder, { complete: standInMints }), withoutNode, TradeFeed.layerSilent])
  )

/** A recording that is played: accounts and blocks. */
const replay = Layer.effect(
  MarketSource,
  Effect.gen(function* () {
    const opened = yield* Replay.CurrentReplay
    const mints = yield* recordedMints
    return MarketSource.of({
      description: `the recording in ${opened?.folder ?? "no folder"} from slot ${opened?.from ?? 0} on`,
      sandbox: true,
      mints
    })
  })
).pipe(Layer.provideMerge([withoutNode, TradeFeed.layerSandbox]), Layer.provideMerge(Replay.layer))

type Market = Layer.Layer<
  AccountScan | ChainFeed | TokenAccounts | TransactionHistory | TransactionStatus | TradeFeed | MarketSource,
  | Config.ConfigError
  | ChainUnavailable
  | ChainFeedDump.DumpUnreadable
  | RecordingUnreadable
  | HttpServerError.ServeError,
  HttpClient.HttpClient | Socket.WebSocketConstructor
>

/** The chain: a replay when `REPLAY` is `on`, a recording when `ACCOUNTS_DIR` is set, a node when `SOLANA_RPC_URL` is set, otherwise the simulator. */
export const market: Market = Layer.unwrap(
  Effect.map(chosenMarket, (chosen): Market => {
    switch (chosen.kind) {
      case "recording":
        return recording(chosen.folder)
      case "replay":
        return replay
      case "node":
        return node
      case "simulated":
        return fromSimulated((layers) => layers.market)
    }
  })
)

type SeedLayer = Layer.Layer<DemoData, Config.ConfigError, SeededPorts>

const noDemoData = Layer.succeed(DemoData, DemoData.of({ written: Effect.void }))

/**
 * Demo data with a simulated market. With any other market only the identities of an earlier demo are removed, because
 * they would be shown.
 */
export const seed: SeedLayer = Layer.unwrap(
  Effect.map(isSimulated, (simulated): SeedLayer =>
    simulated ? fromSimulated((layers) => layers.seed) : Layer.merge(layerRemoved, noDemoData)
  )
)

/** An upstream that is reached over HTTP. */
type Upstream<Client> = Layer.Layer<Client, Config.ConfigError | HttpServerError.ServeError, HttpClient.HttpClient>

/**
 * The funding service at `FUNDING_URL`, otherwise a simulated one with a simulated market, otherwise none. Simulated
 * money is never shown with a real market.
 */
export const funding: Upstream<FundingClient> = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* Config.option(Config.String("FUNDING_URL"))
    const simulated = yield* isSimulated
    const withoutUrl: Upstream<FundingClient> = simulated
      ? fromSimulated((layers) => layers.funding)
      : FundingClient.layerUnconfigured
    return Option.isSome(url) ? FundingClientHttp.layer() : withoutUrl
  })
)

/** EVM candles from `EVM_CANDLES_URL`; simulated candles with a simulated market; otherwise none. */
export const evm: Upstream<EvmCandles> = Layer.unwrap(
  Effect.map(isSimulated, (simulated): Upstream<EvmCandles> =>
    simulated ? fromSimulated((layers) => layers.evm) : EvmCandlesHttp.layer()
  )
)

/** The name servers of the system, without its hosts file. */
const nameServers = Layer.effect(Dns.Dns, NodeDns.make({ timeout: "2 seconds", tries: 2 })).pipe(Layer.orDie)

const readDocuments = FetchDocuments.layer().pipe(Layer.provide(PublicWeb.layer()), Layer.provide(nameServers))

/**
 * Metadata documents of tokens when `TOKEN_METADATA` is `on`. With a simulated market they come from a simulated
 * gateway.
 */
export const documents: Upstream<never> = Layer.unwrap(
  Effect.gen(function* () {
    const { mode } = yield* FetchDocuments.settings
    if (mode === "off") {
      return Layer.empty
    }
    return (yield* isSimulated) ? fromSimulated((layers) => layers.documents) : readDocuments
  })
)

/** The perps venues: simulated with a simulated market, unless a setting names others. */
export const perps: Upstream<PerpsVenues> = Layer.unwrap(
  Effect.gen(function* () {
    const isReal = !(yield* isSimulated) || (yield* PerpsVenuesHttp.isConfigured)
    return isReal ? PerpsVenuesHttp.layer() : fromSimulated((layers) => layers.perps)
  })
)
