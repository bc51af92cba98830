import { NodeHttpClient, NodeServices, NodeSocket } from "@effect/platform-node"
import { Config, ConfigProvider, Effect, Layer, Option, Schedule, Schema } from "effect"
import * as IdempotencyPg from "../access/IdempotencyPg.ts"
import * as KeyStorePg from "../access/KeyStorePg.ts"
import { RateLimiter } from "../access/RateLimiter.ts"
import { WalletBatch } from "../access/WalletBatch.ts"
import * as AlertStorePg from "../alerts/AlertStorePg.ts"
import { Evaluator } from "../alerts/Evaluator.ts"
import { setOpening } from "../alerts/opening.ts"
import * as CalloutStorePg from "../callouts/CalloutStorePg.ts"
import { postOpening } from "../callouts/opening.ts"
import { attributeTrades } from "../callouts/attributionFeed.ts"
import { CopyReader } from "../copying/CopyReader.ts"
import { keepCopies } from "../copying/copySource.ts"
import * as FollowStorePg from "../copying/FollowStorePg.ts"
import { type QuoteRequest, SpotQuote } from "../domain/quotes/Quote.ts"
import { MarketReader } from "../market/views/MarketReader.ts"
import * as tokenActivity from "../market/views/tokenActivity.ts"
import { TopTraders } from "../market/views/TopTraders.ts"
import * as TradeStorePg from "../market/store/TradeStorePg.ts"
import { TradeTape } from "../market/tape/TradeTape.ts"
import * as Database from "../storage/Database.ts"
import { PoolBook } from "../pools/PoolBook.ts"
import { QuoteEngine } from "../quotes/QuoteEngine.ts"
import * as Server from "../http/Server.ts"
import { Settings } from "../http/Settings.ts"
import * as Welcome from "./Startup.ts"
import { AuditReader } from "../tokens/AuditReader.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { RiskReader } from "../tokens/RiskReader.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { TokenReader } from "../tokens/TokenReader.ts"
import * as KeepActivity from "../tracker/keepActivity.ts"
import { trackOpening } from "../tracker/opening.ts"
import { Tickets } from "../tracker/Tickets.ts"
import { TrackerFeed } from "../tracker/TrackerFeed.ts"
import * as TrackerStorePg from "../tracker/TrackerStorePg.ts"
import { WatchList } from "../tracker/WatchList.ts"
import * as IdentityStorePg from "../wallets/IdentityStorePg.ts"
import { LedgerReader } from "../wallets/LedgerReader.ts"
import { loadIdentities } from "../wallets/openingIdentities.ts"
import { WalletIndex } from "../wallets/WalletIndex.ts"
import { WalletReader } from "../wallets/WalletReader.ts"
import { evm, funding, market, perps } from "./Upstreams.ts"

const engine = Layer.unwrap(
  Effect.map(
    Config.Literals(["native", "router"], "QUOTE_ENGINE").pipe(Config.withDefault("native" as const)),
    (kind) => (kind === "router" ? QuoteEngine.layerRouter : QuoteEngine.layerNative)
  )
)

const quotes = engine.pipe(Layer.provideMerge(PoolBook.layer), Layer.provideMerge(market))

/** Trades that outlive the process. */
const tradeStore = TradeStorePg.layer.pipe(Layer.provide(Database.layer))

const tape = TradeTape.layer.pipe(Layer.provide([PriceBook.layer, tradeStore]))

const tokens = Layer.mergeAll(TokenReader.layer, RiskReader.layer.pipe(Layer.provide(AuditReader.layer))).pipe(
  Layer.provide([TokenBook.layer, PriceBook.layer, tokenActivity.layer.pipe(Layer.provide(tape))])
)

const reads = Layer.mergeAll(MarketReader.layer, TopTraders.layer).pipe(
  Layer.provide([tape, TokenBook.layer, PriceBook.layer, evm])
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

/** The whole service. This file and `Upstreams.ts` alone choose implementations. */
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
