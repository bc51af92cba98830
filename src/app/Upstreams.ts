/** The external systems: chain, perps venues, funding service, EVM candles and metadata documents. Simulated ones stand in beside a simulated market. */
import * as NodeDns from "@effect/platform-node/NodeDns"
import { Config, Effect, Layer, Option } from "effect"
import type { HttpClient, HttpServerError } from "effect/http"
import { Dns } from "effect/net"
import type { Socket } from "effect/socket"
import { USDC } from "../domain/Address.ts"
import { FundingClient } from "../funding/FundingClient.ts"
import * as FundingClientHttp from "../funding/FundingClientHttp.ts"
import type { EvmCandles } from "../market/candles/EvmCandles.ts"
import * as EvmCandlesHttp from "../market/candles/EvmCandlesHttp.ts"
import { TradeFeed } from "../market/tape/TradeFeed.ts"
import type { PerpsVenues } from "../perps/PerpsVenues.ts"
import * as PerpsVenuesHttp from "../perps/PerpsVenuesHttp.ts"
import { DefaultSearchRate } from "../pools/SearchPace.ts"
import { recordedMints, standInMints } from "../pools/recordedMints.ts"
import { layerRemoved } from "../simulator/seed/identities.ts"
import type { SeededPorts } from "../simulator/seed/Seed.ts"
import { AccountScan } from "../solana/accounts/AccountScan.ts"
import * as AccountScanRpc from "../solana/accounts/AccountScanRpc.ts"
import type { ChainFeed, ChainUnavailable } from "../solana/accounts/ChainFeed.ts"
import * as ChainFeedGeyser from "../solana/geyser/ChainFeedGeyser.ts"
import * as ProgramWritesGeyser from "../solana/geyser/ProgramWritesGeyser.ts"
import { geyserEndpoints } from "../solana/geyser/geyserSettings.ts"
import * as ChainFeedDump from "../solana/accounts/ChainFeedDump.ts"
import * as ChainFeedRpc from "../solana/accounts/ChainFeedRpc.ts"
import type { RpcOptions } from "../solana/rpc/rpcSettings.ts"
import { TokenAccounts } from "../solana/rpc/TokenAccounts.ts"
import * as TokenAccountsRpc from "../solana/rpc/TokenAccountsRpc.ts"
import { TransactionHistory } from "../solana/rpc/TransactionHistory.ts"
import * as TransactionHistoryRpc from "../solana/rpc/TransactionHistoryRpc.ts"
import { TransactionStatus } from "../solana/rpc/TransactionStatus.ts"
import * as TransactionStatusRpc from "../solana/rpc/TransactionStatusRpc.ts"
import { valkeyUrl } from "../storage/valkey/Valkey.ts"
import * as FetchDocuments from "../tokens/documents/fetchDocuments.ts"
import * as PublicWeb from "../upstream/publicWeb.ts"
import { TradeBlocks } from "../trades/blocks/TradeBlocks.ts"
import { countBuffersWithHeap } from "../solana/geyser/countBuffersWithHeap.ts"
import { chosenMarket, isSimulated } from "./marketSettings.ts"
import { DemoData, MarketSource, sourceOf } from "./MarketSource.ts"
import { role } from "./role.ts"
import type * as Simulated from "./Simulated.ts"

/** A layer of the simulator, whose modules only a market that needs them loads. */
const fromSimulated = <A, E, R>(choose: (layers: typeof Simulated) => Layer.Layer<A, E, R>) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("./Simulated.ts")),
      choose
    )
  )

/**
 * The state of accounts: their writes, and those of whole programs, from the Geyser at `GEYSER_URL` where it is set, else from the
 * sockets of the nodes.
 */
const ownAccounts = (options: RpcOptions = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { length } = yield* geyserEndpoints()
      if (length === 0) {
        return ChainFeedRpc.layer(options)
      }
      yield* countBuffersWithHeap
      return Layer.merge(ChainFeedGeyser.layer(options), ProgramWritesGeyser.layer(options))
    })
  )

/** The same; with a `ROLE` the writes that the one process of `ingest` passes on to all others. */
const accounts = Layer.unwrap(
  Effect.gen(function* () {
    const [own, url] = [yield* role, yield* valkeyUrl]
    if (own === "all" || Option.isNone(url)) {
      return ownAccounts()
    }
    const shared = yield* Effect.promise(() => import("./RoleAccounts.ts"))
    return own === "ingest"
      ? ownAccounts({ commitment: yield* shared.sharedCommitment }).pipe(Layer.provideMerge(shared.relay(url.value)))
      : shared.follower(url.value)
  })
)

/** A real node: `SOLANA_RPC_URL` and, where it differs, `SOLANA_WS_URL`; writes and blocks from the Geyser at `GEYSER_URL` where it is set. */
const node = Layer.mergeAll(
  accounts,
  AccountScanRpc.layer(),
  TransactionStatusRpc.layer(),
  TransactionHistoryRpc.layer(),
  TokenAccountsRpc.layer(),
  TradeFeed.layer.pipe(Layer.provide(TradeBlocks.layer)),
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
      Layer.succeed(DefaultSearchRate, null),
      AccountScan.layerUnreachable,
      TransactionStatus.layerUnreachable,
      TransactionHistory.layerUnreachable,
      TokenAccounts.layerUnreachable,
      TradeFeed.layerSilent
    ])
  )

type Market = Layer.Layer<
  AccountScan | ChainFeed | TokenAccounts | TransactionHistory | TransactionStatus | TradeFeed | MarketSource,
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
        return fromSimulated((layers) => layers.market)
    }
  })
)

type SeedLayer = Layer.Layer<DemoData, Config.ConfigError, SeededPorts>

const noDemoData = Layer.succeed(DemoData, DemoData.of({ written: Effect.void }))

/** Demo data beside a simulated market; beside any other only those of an earlier start are removed that would be shown. */
export const seed: SeedLayer = Layer.unwrap(
  Effect.map(isSimulated, (simulated): SeedLayer =>
    simulated ? fromSimulated((layers) => layers.seed) : Layer.merge(layerRemoved, noDemoData)
  )
)

/** An upstream that is reached over HTTP. */
type Upstream<Client> = Layer.Layer<Client, Config.ConfigError | HttpServerError.ServeError, HttpClient.HttpClient>

/** The funding service at `FUNDING_URL`, else a simulated one beside a simulated market, else none: simulated money is never shown beside a real market. */
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

/** The EVM candles at `EVM_CANDLES_URL`; simulated ones beside a simulated market, none beside any other. */
export const evm: Upstream<EvmCandles> = Layer.unwrap(
  Effect.map(isSimulated, (simulated): Upstream<EvmCandles> =>
    simulated ? fromSimulated((layers) => layers.evm) : EvmCandlesHttp.layer()
  )
)

/** The name servers of the system, without its hosts file. */
const nameServers = Layer.effect(Dns.Dns, NodeDns.make({ timeout: "2 seconds", tries: 2 })).pipe(Layer.orDie)

const readDocuments = FetchDocuments.layer().pipe(Layer.provide(PublicWeb.layer()), Layer.provide(nameServers))

/** Metadata documents of tokens where `TOKEN_METADATA` is `on`: from a simulated gateway beside a simulated market. */
export const documents: Upstream<never> = Layer.unwrap(
  Effect.gen(function* () {
    const { mode } = yield* FetchDocuments.settings
    if (mode === "off") {
      return Layer.empty
    }
    return (yield* isSimulated) ? fromSimulated((layers) => layers.documents) : readDocuments
  })
)

/** The perps venues: simulated ones beside a simulated market, unless a setting names others. */
export const perps: Upstream<PerpsVenues> = Layer.unwrap(
  Effect.gen(function* () {
    const isReal = !(yield* isSimulated) || (yield* PerpsVenuesHttp.isConfigured)
    return isReal ? PerpsVenuesHttp.layer() : fromSimulated((layers) => layers.perps)
  })
)
