/**
 * Public TypeScript clients of other services, and what each is asked. The bodies run beside the installed packages, so
 * they are text.
 */

/** One question to a client, and the published type of its answer. */
export interface Question {
  readonly name: string
  /** An expression with `base`, `key`, `mint`, `pool` and `wallet` in scope. */
  readonly ask: string
  /** Type of the answer, as an import of the package. */
  readonly type: string
  /** Fields that the type requires and that may be unknown here, by path, each with a value of the type. */
  readonly unknown?: Readonly<Record<string, unknown>>
}

/** One package, pinned, with the setup that its questions need. */
export interface PublicClient {
  readonly package: string
  readonly version: string
  readonly imports: string
  readonly setup: string
  readonly questions: ReadonlyArray<Question>
}

const SOL = "So11111111111111111111111111111111111111112"
const ISO = "2026-01-01T00:00:00.000Z"

const gecko = "import('@coingecko/coingecko-typescript/resources/onchain/networks"

export const clients: ReadonlyArray<PublicClient> = [
  {
    package: "@jup-ag/api",
    version: "6.0.48",
    imports: 'import { Configuration, SwapApi } from "@jup-ag/api"',
    setup: `const jupiter = new SwapApi(new Configuration({
      basePath: base + "/compat/jupiter/swap/v1",
      headers: { "x-api-key": key }
    }))`,
    questions: [
      {
        name: "quote",
        ask: `jupiter.quoteGet({ inputMint: "${SOL}", outputMint: mint, amount: 100000000, slippageBps: 50 })`,
        type: "import('@jup-ag/api').QuoteResponse",
        unknown: { platformFee: { amount: "0", feeBps: 0 } }
      },
      {
        name: "direct quote",
        ask: `jupiter.quoteGet({ inputMint: mint, outputMint: "${SOL}", amount: 100000000, onlyDirectRoutes: true, restrictIntermediateTokens: true })`,
        type: "import('@jup-ag/api').QuoteResponse",
        unknown: { platformFee: { amount: "0", feeBps: 0 } }
      }
    ]
  },
  {
    package: "@coingecko/coingecko-typescript",
    version: "8.2.0",
    imports: 'import Coingecko from "@coingecko/coingecko-typescript"',
    setup: `const gecko = new Coingecko({ baseURL: base + "/compat/geckoterminal/api/v3", proAPIKey: key, maxRetries: 0 })`,
    questions: [
      {
        name: "pools of a token",
        ask: 'gecko.onchain.networks.tokens.pools.get(mint, { network: "solana", include: "base_token,quote_token" })',
        type: `${gecko}/tokens/pools.js').PoolGetResponse`,
        unknown: { "data.*.attributes.pool_created_at": ISO }
      },
      {
        name: "one pool",
        ask: 'gecko.onchain.networks.pools.getAddress(pool, { network: "solana" })',
        type: `${gecko}/pools/pools.js').PoolGetAddressResponse`,
        unknown: { "data.attributes.pool_created_at": ISO, "data.attributes.locked_liquidity_percentage": "0" }
      },
      {
        name: "candles",
        ask: 'gecko.onchain.networks.pools.ohlcv.getTimeframe("hour", { network: "solana", pool_address: pool, limit: 5 })',
        type: `${gecko}/pools/ohlcv.js').OhlcvGetTimeframeResponse`
      },
      {
        name: "trades",
        ask: 'gecko.onchain.networks.pools.trades.get(pool, { network: "solana" })',
        type: `${gecko}/pools/trades.js').TradeGetResponse`
      },
      {
        name: "prices",
        ask: `gecko.onchain.simple.networks.tokenPrice.getAddresses([mint, "${SOL}"].join(), { network: "solana", include_24hr_vol: true })`,
        type: "import('@coingecko/coingecko-typescript/resources/onchain/simple/networks/token-price.js').TokenPriceGetAddressesResponse"
      },
      {
        name: "one token",
        ask: 'gecko.onchain.networks.tokens.getAddress(mint, { network: "solana" })',
        type: `${gecko}/tokens/tokens.js').TokenGetAddressResponse`
      }
    ]
  },
  {
    package: "@solana-tracker/data-api",
    version: "0.5.0",
    imports: 'import { Client } from "@solana-tracker/data-api"',
    setup: 'const tracker = new Client({ apiKey: key, baseUrl: base + "/compat/solanatracker" })',
    questions: [
      {
        name: "price",
        ask: "tracker.getPrice(mint)",
        type: "import('@solana-tracker/data-api').PriceData"
      },
      {
        name: "candles",
        ask: 'tracker.getChartData({ tokenAddress: mint, type: "1h" })',
        type: "import('@solana-tracker/data-api').ChartResponse"
      },
      {
        name: "trades",
        ask: "tracker.getTokenTrades(mint)",
        type: "{ trades: import('@solana-tracker/data-api').Trade[]; nextCursor: number | string | null }"
      },
      {
        name: "trades of a wallet",
        ask: "tracker.getWalletTrades(wallet)",
        type: "{ trades: import('@solana-tracker/data-api').WalletTrade[]; nextCursor: number | string | null }",
        // What was paid with is unknown in a swap of several tokens at once.
        unknown: Object.fromEntries(
          ["from", "to"].flatMap((side) => [
            [`trades.*.${side}.address`, SOL],
            [`trades.*.${side}.amount`, 0],
            [`trades.*.${side}.priceUsd`, 0]
          ])
        )
      },
      {
        name: "stats",
        ask: "tracker.getTokenStats(mint)",
        type: "import('@solana-tracker/data-api').TokenStats",
        unknown: Object.fromEntries(
          ["5m", "1h", "24h"].flatMap((window) => [
            [`${window}.buyers`, 0],
            [`${window}.sellers`, 0]
          ])
        )
      },
      {
        name: "search",
        ask: 'tracker.searchTokens({ query: "otter" })',
        type: "{ status: string; hasMore?: boolean; data: Array<Pick<import('@solana-tracker/data-api').SearchResult, 'id' | 'mint' | 'liquidityUsd'>> }",
        unknown: { "data.*.liquidityUsd": 0 }
      }
    ]
  },
  {
    package: "dexscreener-sdk",
    version: "1.0.3",
    imports: "",
    // The package has its address built in. Its types are checked, and its paths are asked directly.
    setup: `const dex = async (path) => {
      const response = await fetch(base + "/compat/dexscreener" + path, { headers: { "x-api-key": key } })
      if (!response.ok) throw new Error(await response.text())
      return response.json()
    }`,
    questions: [
      {
        name: "pair",
        ask: 'dex("/latest/dex/pairs/solana/" + pool)',
        type: "{ schemaVersion: string; pair: DexPair; pairs: DexPair[] }"
      },
      { name: "pairs of a token", ask: 'dex("/tokens/v1/solana/" + mint)', type: "DexPair[]" }
    ]
  }
]

/** Types that the questions name and that no package exports as needed: unknown fields of a pair are left out here. */
export const types = `
type Whole = Omit<InstanceType<typeof import("./node_modules/dexscreener-sdk/dist/models/Pair.js").Pair>, "toJSON">
type MayLack = "labels" | "pairCreatedAt" | "boosts" | "info" | "liquidity"
type DexPair = Omit<Whole, MayLack> & Partial<Pick<Whole, MayLack>>
`
