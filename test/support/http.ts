/** The service on a real socket, with every capability in memory. */
import { Duration, Effect, Layer, Redacted, Stream } from "effect"
import { connect } from "node:net"
import { checksum } from "../../src/access/keyFormat.ts"
import { CallerLimits } from "../../src/access/CallerLimits.ts"
import type { Idempotency } from "../../src/access/Idempotency.ts"
import type { KeyStore } from "../../src/access/KeyStore.ts"
import { RateLimiter } from "../../src/access/RateLimiter.ts"
import type { UsageStore } from "../../src/access/usage/UsageStore.ts"
import { WalletBatch } from "../../src/access/WalletBatch.ts"
import { type AlertStore } from "../../src/alerts/AlertStore.ts"
import { Evaluator } from "../../src/alerts/Evaluator.ts"
import type { CalloutStore } from "../../src/callouts/CalloutStore.ts"
import { CopyReader } from "../../src/wallets/copying/CopyReader.ts"
import { FundingClient } from "../../src/funding/FundingClient.ts"
import { MarketReader } from "../../src/market/reads/MarketReader.ts"
import { TopTraders } from "../../src/market/reads/TopTraders.ts"
import { TokenSearch } from "../../src/market/reads/TokenSearch.ts"
import { TradesReader } from "../../src/market/reads/TradesReader.ts"
import { PerpsVenues } from "../../src/perps/PerpsVenues.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import * as Server from "../../src/http/server/Server.ts"
import { Settings, type SettingsShape } from "../../src/http/Settings.ts"
import { ChainFeed, type Freshness } from "../../src/chain/ChainFeed.ts"
import { TransactionStatus } from "../../src/chain/rpc/TransactionStatus.ts"
import { RiskReader } from "../../src/tokens/risk/RiskReader.ts"
import { TokenReader } from "../../src/tokens/TokenReader.ts"
import { MarketFeed } from "../../src/live/market/MarketFeed.ts"
import { MarketTickets } from "../../src/live/market/MarketTickets.ts"
import type { Tickets } from "../../src/wallets/tracker/Tickets.ts"
import type { TrackerFeed } from "../../src/wallets/tracker/TrackerFeed.ts"
import type { TrackerStore } from "../../src/wallets/tracker/TrackerStore.ts"
import { WalletReader } from "../../src/wallets/WalletReader.ts"
import type { AccountStore } from "../../src/access/accounts/AccountStore.ts"
import { OidcClient } from "../../src/access/accounts/OidcClient.ts"
import type { SessionStore } from "../../src/access/accounts/SessionStore.ts"
import * as MemoryAccounts from "./memoryAccounts.ts"
import * as MemoryAlerts from "./memoryAlerts.ts"

import { memoryTracker, trackerFeed } from "./tracker.ts"
import * as MemoryIdempotency from "./memoryIdempotency.ts"
import * as MemoryUsage from "./memoryUsage.ts"
import * as MemoryKeys from "./memoryKeys.ts"
import * as MemoryCallouts from "./memoryCallouts.ts"

/** A well-formed secret, distinguished by its letter. */
export const secretOf = (letter: string): string => {
  const body = `svc_live_${letter.repeat(30)}`
  return body + checksum(body)
}

/** A key of that letter; `md.read` unless given. */
export const keyOf = (letter: string, known: Partial<MemoryKeys.KnownKey> = {}): MemoryKeys.KnownKey => ({
  id: `key_${letter}`,
  name: `key ${letter}`,
  ...known,
  secret: Redacted.make(secretOf(letter))
})

/** A silent feed with a fixed freshness. */
export const feed = (freshness: () => Freshness): Layer.Layer<ChainFeed> =>
  Layer.succeed(ChainFeed, {
    accountsOf: () => Effect.die("the test feed knows no accounts"),
    read: () => Effect.succeed({ slot: 1, accounts: new Map() }),
    watch: () => Effect.void,
    unwatch: () => Effect.void,
    events: Stream.never,
    freshness,
    clock: () => ({ slot: 1, epoch: 0, unixTimestamp: 0 }),
    commitment: "confirmed"
  })

const noEngine = Layer.succeed(QuoteEngine, {
  quote: () => Effect.die("this test has no engine"),
  quoteAll: () => Effect.die("this test has no engine"),
  exitMint: null
})

export const noMarket = Layer.mergeAll(
  Layer.succeed(TopTraders, { rank: () => Effect.die("this test has no market") }),
  Layer.succeed(TokenSearch, { search: () => Effect.die("this test has no market") }),
  Layer.succeed(TradesReader, {
    ofToken: () => Effect.die("this test has no market"),
    ofPool: () => Effect.die("this test has no market"),
    liquidityOfToken: () => Effect.die("this test has no market"),
    liquidityOfPool: () => Effect.die("this test has no market")
  }),
  Layer.succeed(MarketReader, {
    chart: () => Effect.die("this test has no market"),
    evmChart: () => Effect.die("this test has no market"),
    lighthouse: Effect.die("this test has no market"),
    overview: () => Effect.die("this test has no market"),
    movement: () => Effect.die("this test has no market"),
    movementNow: () => Effect.die("this test has no market"),
    tokenStats: () => Effect.die("this test has no market"),
    priceAt: () => Effect.die("this test has no market"),
    pricesAt: () => Effect.die("this test has no market"),
    launches: () => Effect.die("this test has no market"),
    leaders: () => Effect.die("this test has no market"),
    launchesOf: () => Effect.die("this test has no market"),
    launchOf: () => Effect.die("this test has no market"),
    firstBuyersOf: () => Effect.die("this test has no market"),
    firstBuyersOfMany: () => Effect.die("this test has no market"),
    screen: () => Effect.die("this test has no market"),
    screenNow: () => Effect.die("this test has no market"),
    holdersNow: () => Effect.die("this test has no market"),
    pools: () => Effect.die("this test has no market"),
    discovery: () => Effect.die("this test has no market")
  })
)

/** A feed without blocks. */
export const silentMarketFeed = Layer.succeed(MarketFeed, {
  blocks: Stream.never,
  newest: () => [],
  lastPriceUsd: () => null,
  launches: () => [],
  mintOfPool: () => null,
  newestSlot: () => 0,
  published: () => undefined,
  whole: Effect.void,
  health: () => ({ ingestLagMs: null, heardAtMs: null })
})

const noTokens = Layer.mergeAll(
  Layer.succeed(TokenReader, {
    decimalsOf: () => Effect.succeed(null),
    factsOf: () => Effect.die("this test has no tokens"),
    liquidityOf: () => Effect.die("this test has no tokens"),
    holdersOf: () => Effect.die("this test has no tokens"),
    holderHistoryOf: () => Effect.die("this test has no tokens"),
    metadataOf: () => Effect.die("this test has no tokens"),
    poolOf: () => Effect.die("this test has no tokens"),
    pricesOf: () => Effect.die("this test has no tokens")
  }),
  Layer.succeed(RiskReader, { riskOf: () => Effect.die("this test has no tokens") })
)

const noCopying = Layer.succeed(CopyReader, {
  follows: () => Effect.die("this test has no follows"),
  follow: () => Effect.die("this test has no follows"),
  fills: () => Effect.die("this test has no follows"),
  pnl: () => Effect.die("this test has no follows")
})

/** An evaluator that watches nothing. */
export const noEvaluator = Layer.succeed(Evaluator, {
  now: () => ({ state: "unavailable" }),
  placeOf: () => 0,
  unknownSince: () => null,
  hasSeen: () => true,
  take: () => Effect.void,
  drop: () => Effect.void
})

const noAlerts = Layer.merge(MemoryAlerts.layer, noEvaluator)

/** Reads of wallets in a test without wallets. */
export const walletless: WalletReader["Service"] = {
  balancesOf: () => Effect.die("this test has no wallets"),
  unitsAt: () => Effect.die("this test has no wallets"),
  fundingOf: () => Effect.die("this test has no wallets"),
  relatedOf: () => Effect.die("this test has no wallets"),
  lotsOf: () => Effect.die("this test has no wallets"),
  performanceOf: () => Effect.die("this test has no wallets"),
  tradesOf: () => Effect.die("this test has no wallets"),
  transfersOf: () => Effect.die("this test has no wallets"),
  rowsOf: () => Effect.die("this test has no wallets"),
  tagsOf: () => Effect.succeed(new Map()),
  positionsOf: () => Effect.die("this test has no wallets"),
  pnlHistoryOf: () => Effect.die("this test has no wallets")
}

const noWallets = Layer.succeed(WalletReader, walletless)

/** Replacements of the defaults. */
export interface World {
  readonly keys?: ReadonlyArray<MemoryKeys.KnownKey>
  readonly keyStore?: Layer.Layer<KeyStore>
  readonly limiter?: Layer.Layer<RateLimiter>
  readonly limits?: Layer.Layer<CallerLimits>
  readonly feed?: Layer.Layer<ChainFeed>
  readonly engine?: Layer.Layer<QuoteEngine>
  readonly statuses?: Layer.Layer<TransactionStatus>
  readonly perps?: Layer.Layer<PerpsVenues>
  readonly callouts?: Layer.Layer<CalloutStore>
  readonly alerts?: Layer.Layer<AlertStore | Evaluator>
  readonly idempotency?: Layer.Layer<Idempotency>
  readonly copying?: Layer.Layer<CopyReader>
  readonly funding?: Layer.Layer<FundingClient>
  readonly tokens?: Layer.Layer<TokenReader | RiskReader>
  readonly market?: Layer.Layer<MarketReader | TokenSearch | TopTraders | TradesReader>
  readonly marketFeed?: Layer.Layer<MarketFeed>
  readonly tracker?: Layer.Layer<TrackerStore | Tickets>
  readonly trackerFeed?: Layer.Layer<TrackerFeed>
  readonly wallets?: Layer.Layer<WalletReader>
  readonly accounts?: Layer.Layer<AccountStore | SessionStore>
  readonly oidc?: Layer.Layer<OidcClient>
  readonly usage?: Layer.Layer<UsageStore>
  readonly settings?: Partial<SettingsShape>
}

/** Layers behind every service under test. */
export type Capable =
  | AccountStore
  | AlertStore
  | CallerLimits
  | CalloutStore
  | ChainFeed
  | CopyReader
  | Evaluator
  | FundingClient
  | Idempotency
  | KeyStore
  | MarketFeed
  | MarketReader
  | MarketTickets
  | OidcClient
  | PerpsVenues
  | QuoteEngine
  | RateLimiter
  | RiskReader
  | SessionStore
  | Settings
  | Tickets
  | TokenReader
  | TopTraders
  | TrackerFeed
  | TrackerStore
  | TokenSearch
  | TradesReader
  | TransactionStatus
  | UsageStore
  | WalletBatch
  | WalletReader

/** The capabilities of a world. */
export const capabilities = (world: World): Layer.Layer<Capable> =>
  Layer.mergeAll(
    world.keyStore ?? MemoryKeys.layer({ keys: world.keys ?? [keyOf("a")] }),
    world.limiter ?? RateLimiter.layerMemory,
    world.feed ?? feed(() => ({ slot: 7, heardAtMs: 0, state: "recorded" })),
    world.engine ?? noEngine,
    world.statuses ?? TransactionStatus.layerUnreachable,
    world.perps ?? PerpsVenues.layer([]),
    world.callouts ?? MemoryCallouts.layer,
    world.alerts ?? noAlerts,
    world.idempotency ?? MemoryIdempotency.layer,
    world.copying ?? noCopying,
    world.tokens ?? noTokens,
    world.market ?? noMarket,
    world.marketFeed ?? silentMarketFeed,
    MarketTickets.layerMemory,
    world.tracker ?? memoryTracker,
    world.trackerFeed ?? trackerFeed(),
    world.wallets ?? noWallets,
    WalletBatch.layer.pipe(Layer.provideMerge(world.limits ?? CallerLimits.layerMemory)),
    world.usage ?? MemoryUsage.layer,
    world.accounts ?? MemoryAccounts.layer,
    world.oidc ?? OidcClient.layerUnconfigured,
    world.funding ?? FundingClient.layerUnconfigured,
    Settings.layer({ port: 0, drainQuiet: Duration.zero, ...world.settings })
  )

/** The service on a free port. */
export const running = (world: World = {}): Layer.Layer<Listening | Capable> =>
  Server.layer.pipe(Layer.provideMerge(capabilities(world)), Layer.orDie)

/** An answer, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The value of the JSON body at a dotted path. */
  readonly json: (path: string) => unknown
}

/** The value at a dotted path. */
const at = (value: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
      value
    )

/** Sends a request with the key of that letter; none when it is null. */
export const call = Effect.fnUntraced(function* (
  path: string,
  options: { readonly key?: string | null } & Omit<RequestInit, "headers"> & {
      readonly headers?: Record<string, string>
    } = {}
) {
  const { url } = yield* Listening
  const { headers, key = "a", ...init } = options
  const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${secretOf(key)}` }
  return yield* Effect.promise(async (): Promise<Answer> => {
    const response = await fetch(url + path, { ...init, headers: { ...authorization, ...headers } })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: (path) => at(JSON.parse(text), path)
    }
  })
})

/** Writes bytes to a socket and reads until the other side closes it. */
export const exchange = Effect.fnUntraced(function* (bytes: string) {
  const { port } = yield* Listening
  return yield* Effect.callback<string>((resume) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes, "latin1"))
    let heard = ""
    socket.setEncoding("latin1")
    socket.on("data", (chunk) => (heard += chunk))
    socket.on("close", () => resume(Effect.succeed(heard)))
    socket.on("error", () => undefined)
    return Effect.sync(() => socket.destroy())
  })
})
