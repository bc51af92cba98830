/** Solana Tracker: the main reads of its Data API. */
import { Effect } from "effect"
import type { ChartAnswer, TokenStatsAnswer } from "../../api/Market.ts"
import type { PoolTradesAnswer } from "../../api/Pools.ts"
import type { SearchAnswer } from "../../api/Search.ts"
import type { TokenHoldersAnswer } from "../../api/Tokens.ts"
import type { TokenTradesAnswer } from "../../api/Trades.ts"
import type { WalletTradesAnswer } from "../../api/Wallets.ts"
import { addressOf } from "../../domain/Address.ts"
import { numberOf, tokensOf, withoutUnknown } from "./figures.ts"
import { type Call, invalid, type Refusal, refuse, type Service } from "./service.ts"
import { type Facts, factsOf, mintsIn, poolsOf, type PoolView, ratio } from "./tokens.ts"

const MOST_PRICES = 100
const MOST_POOLS = 10
const MOST_BARS = 1500
const MOST_TRADES = 200
const MOST_HOLDERS = 100

const address = (value: string): Effect.Effect<string, Refusal> =>
  addressOf(value) === undefined ? invalid(`${JSON.stringify(value)} is not an address.`) : Effect.succeed(value)

/** The facts of one token; refused when it is unknown. */
const knownFacts = (ask: Call["ask"], mint: string) =>
  Effect.flatMap(factsOf(ask, [mint]), ([facts]) =>
    facts === undefined ? refuse(404, "token_not_found", "Token not found") : Effect.succeed(facts)
  )

const windowsOf = (ask: Call["ask"], mint: string) =>
  Effect.map(ask<typeof TokenStatsAnswer.Encoded>(`/api/v1/tokens/solana/${mint}/stats`), ({ data }) => data.windows)

type Windows = Effect.Success<ReturnType<typeof windowsOf>>

const eventsOf = (windows: Windows) =>
  Object.fromEntries(
    windows.flatMap(({ changePct, window }) => {
      const priceChangePercentage = numberOf(changePct)
      return priceChangePercentage === null ? [] : [[window, { priceChangePercentage }]]
    })
  )

/** A price; null where the token has none that is known. */
const priceOf = ({ liquidityUsd, marketCapUsd, priceUsd }: Facts) => {
  const price = numberOf(priceUsd)
  return price === null
    ? null
    : {
        price,
        ...withoutUnknown({
          liquidity: numberOf(liquidityUsd),
          marketCap: numberOf(marketCapUsd),
          lastUpdated: priceUsd.observedAtMs
        })
      }
}

const price = ({ ask, query }: Call) =>
  Effect.gen(function* () {
    const mint = yield* address(query.get("token") ?? "")
    const found = priceOf(yield* knownFacts(ask, mint))
    if (found === null) {
      return yield* refuse(404, "price_unknown", "The price of this token is not known.")
    }
    return query.get("priceChanges") === "true"
      ? { ...found, priceChanges: eventsOf(yield* windowsOf(ask, mint)) }
      : found
  })

/** Prices by mint. A token without a known price is left out. */
const prices = ({ ask, query }: Call) =>
  Effect.gen(function* () {
    const facts = yield* factsOf(ask, yield* mintsIn(query.get("tokens") ?? "", MOST_PRICES))
    return Object.fromEntries(
      facts.flatMap((each) => {
        const found = priceOf(each)
        return found === null ? [] : [[each.token.address, found]]
      })
    )
  })

const poolInfo = ({ base, baseFacts, pool, quote, quoteFacts }: PoolView) => {
  const usd = baseFacts && numberOf(baseFacts.priceUsd)
  const marketCap = baseFacts && numberOf(baseFacts.marketCapUsd)
  const quoteUsd = quoteFacts && numberOf(quoteFacts.priceUsd)
  const liquidity = pool.liquidityUsd === null ? null : Number(pool.liquidityUsd)
  const inQuote = (value: number | null) =>
    value === null || quoteUsd === null || quoteUsd === 0 ? null : value / quoteUsd
  return {
    poolId: pool.pool,
    market: pool.dex,
    tokenAddress: base.address,
    quoteToken: quote.address,
    decimals: base.decimals,
    liquidity: { quote: inQuote(liquidity), usd: liquidity },
    price: { quote: ratio(baseFacts, quoteFacts), usd },
    marketCap: { quote: inQuote(marketCap), usd: marketCap },
    tokenSupply: baseFacts && tokensOf(baseFacts.supply, base.decimals),
    lpBurn: null,
    ...(baseFacts?.authoritiesKnown === true && {
      security: { freezeAuthority: baseFacts.freezeAuthority, mintAuthority: baseFacts.mintAuthority }
    }),
    ...withoutUnknown({
      createdAt: pool.createdAtMs,
      lastUpdated: baseFacts?.priceUsd.observedAtMs
    }),
    txns: withoutUnknown({ volume24h: numberOf(pool.volume24hUsd) })
  }
}

/** One token with its pools and the activity of a day. No score of risk is made up: read our risk endpoint instead. */
const token = ({ ask, param }: Call) =>
  Effect.gen(function* () {
    const mint = yield* address(param("token"))
    const facts = yield* knownFacts(ask, mint)
    const [pools, windows] = yield* Effect.all([poolsOf(ask, mint, MOST_POOLS), windowsOf(ask, mint)], {
      concurrency: "unbounded"
    })
    const day = windows.find(({ window }) => window === "24h")
    return {
      token: {
        mint,
        ...withoutUnknown({
          name: facts.token.name,
          symbol: facts.token.symbol,
          decimals: facts.token.decimals,
          image: facts.token.imageUrl
        })
      },
      pools: pools.map(poolInfo),
      events: eventsOf(windows),
      risk: null,
      buys: day === undefined ? null : numberOf(day.buys),
      sells: day === undefined ? null : numberOf(day.sells),
      txns: day === undefined ? null : numberOf(day.trades),
      ...withoutUnknown({ holders: numberOf(facts.holders) })
    }
  })

/** Widths of bars that both services have, under the same names. */
const widths = /^(?:1s|5s|15s|30s|1m|3m|5m|15m|30m|1h|2h|4h|6h|8h|12h|1d|1w|1mn)$/u

const chart = ({ ask, param, query }: Call) =>
  Effect.gen(function* () {
    const type = query.get("type") ?? "1m"
    if (!widths.test(type)) {
      return yield* invalid("type is not a width of bars that is served.")
    }
    const mint = yield* address(param("token"))
    const own = new URLSearchParams({ resolution: type, limit: String(MOST_BARS) })
    const set = (name: string, value: string | null) => value !== null && value !== "" && own.set(name, value)
    set("from", query.get("time_from"))
    set("to", query.get("time_to"))
    set("pool", param("pool") || null)
    set("denom", query.get("currency"))
    set("mode", query.get("marketCap") === "true" ? "mcap" : null)
    set("outliers", query.get("removeOutliers") === "false" ? "include" : null)
    const { data } = yield* ask<typeof ChartAnswer.Encoded>(`/api/v1/market/chart/${mint}?${own}`)
    return {
      oclhv: data.bars.map(({ c, h, l, o, t, v }) => ({
        open: o,
        close: c,
        low: l,
        high: h,
        volume: v,
        time: t / 1000
      }))
    }
  })

type Trade = (typeof PoolTradesAnswer.Encoded)["data"][number]

const numberIn = (value: string | null): number | null => (value === null ? null : Number(value))

const tradeOf = (trade: Trade) => ({
  tx: trade.signature,
  amount: tokensOf(trade.legs.token.amount, trade.legs.token.decimals),
  priceUsd: numberIn(trade.priceUsd),
  volume: numberIn(trade.volumeUsd),
  volumeSol: numberIn(trade.volumeSol),
  type: trade.side,
  wallet: trade.wallet,
  time: trade.timeMs,
  program: trade.dex,
  pools: [trade.pool]
})

/** A page of trades, newest first. Cursors are ours. */
const pageOf = (query: URLSearchParams): URLSearchParams => {
  const own = new URLSearchParams({ limit: String(Math.min(Number(query.get("limit") ?? 100) || 100, MOST_TRADES)) })
  const cursor = query.get("cursor")
  if (cursor !== null && cursor !== "") {
    own.set("cursor", cursor)
  }
  return own
}

const newestFirst = (query: URLSearchParams): Effect.Effect<void, Refusal> =>
  query.get("sortDirection") === "ASC"
    ? invalid("sortDirection=ASC is not served: trades come newest first.")
    : (query.get("events") ?? "trades") === "trades"
      ? Effect.void
      : invalid("events is not served: only swaps are listed.")

const trades = ({ ask, param, query }: Call) =>
  Effect.gen(function* () {
    yield* newestFirst(query)
    const own = pageOf(query)
    for (const name of ["pool", "wallet"]) {
      if (param(name) !== "") {
        own.set(name, yield* address(param(name)))
      }
    }
    const mint = yield* address(param("token"))
    const { data, nextCursor } = yield* ask<typeof TokenTradesAnswer.Encoded>(
      `/api/v1/tokens/solana/${mint}/trades?${own}`
    )
    return { trades: data.map(tradeOf), nextCursor, hasNextPage: nextCursor !== null, sortDirection: "DESC" }
  })

type WalletTrade = (typeof WalletTradesAnswer.Encoded)["data"][number]

const legOf = (leg: WalletTrade["legs"]["quote"], usd: number | null) => ({
  address: leg?.mint ?? null,
  amount: leg === null ? null : tokensOf(leg.amount, leg.decimals),
  priceUsd: usd
})

const walletTradeOf =
  (wallet: string) =>
  ({ dex, legs, priceUsd, side, signature, timeMs, volumeSol, volumeUsd }: WalletTrade) => {
    const paid = legs.quote === null ? null : tokensOf(legs.quote.amount, legs.quote.decimals)
    const volume = numberIn(volumeUsd)
    const quote = legOf(legs.quote, volume === null || paid === null || paid === 0 ? null : volume / paid)
    const traded = legOf(legs.token, numberIn(priceUsd))
    return {
      tx: signature,
      from: side === "buy" ? quote : traded,
      to: side === "buy" ? traded : quote,
      price: { usd: numberIn(priceUsd) },
      volume: { usd: volume, sol: numberIn(volumeSol) },
      wallet,
      program: dex,
      time: timeMs
    }
  }

const walletTrades = ({ ask, param, query }: Call) =>
  Effect.gen(function* () {
    const wallet = yield* address(param("wallet"))
    const { data, nextCursor } = yield* ask<typeof WalletTradesAnswer.Encoded>(
      `/api/v1/wallets/${wallet}/trades?${pageOf(query)}`
    )
    return { trades: data.map(walletTradeOf(wallet)), nextCursor, hasNextPage: nextCursor !== null }
  })

const holdersOf = (ask: Call["ask"], mint: string) =>
  Effect.gen(function* () {
    const facts = yield* knownFacts(ask, mint)
    const { data } = yield* ask<typeof TokenHoldersAnswer.Encoded>(
      `/api/v1/tokens/solana/${mint}/holders?limit=${MOST_HOLDERS}`
    )
    if (data.top === null) {
      return yield* refuse(503, "data_unavailable", "The holders are being read: try again.")
    }
    const unit = numberOf(facts.priceUsd)
    const accounts = data.top.map(({ amount, owner, sharePct }) => {
      const held = tokensOf(amount, facts.token.decimals)
      return {
        wallet: owner,
        amount: held,
        value: { quote: null, usd: held === null || unit === null ? null : held * unit },
        percentage: numberIn(sharePct)
      }
    })
    return { total: numberOf(data.holders), accounts }
  })

const holders = ({ ask, param }: Call) => Effect.flatMap(address(param("token")), (mint) => holdersOf(ask, mint))

const topHolders = (call: Call) =>
  Effect.map(holders(call), ({ accounts }) =>
    accounts.slice(0, 20).map(({ wallet, ...account }) => ({ address: wallet, ...account }))
  )

const stats = ({ ask, param }: Call) =>
  Effect.gen(function* () {
    const windows = yield* windowsOf(ask, yield* address(param("token")))
    return Object.fromEntries(
      windows
        .filter(({ window }) => window !== "6h")
        .map((of) => [
          of.window,
          {
            volume: {
              buys: numberOf(of.buyVolumeUsd),
              sells: numberOf(of.sellVolumeUsd),
              total: numberOf(of.volumeUsd)
            },
            transactions: numberOf(of.trades),
            buys: numberOf(of.buys),
            sells: numberOf(of.sells),
            wallets: numberOf(of.traders),
            buyers: null,
            sellers: null,
            price: numberOf(of.closeUsd),
            priceChangePercentage: numberOf(of.changePct)
          }
        ])
    )
  })

const search = ({ ask, query }: Call) =>
  Effect.gen(function* () {
    const own = new URLSearchParams({ q: query.get("query") ?? "", limit: query.get("limit") ?? "100" })
    const add = (name: string, value: string | null) => value !== null && own.set(name, value)
    add("cursor", query.get("cursor"))
    add("minLiquidityUsd", query.get("minLiquidity"))
    add("minVolumeUsd", query.get("minVolume_24h"))
    const { data, nextCursor } = yield* ask<typeof SearchAnswer.Encoded>(`/api/v1/search?${own}`)
    return {
      status: "success",
      data: data.map((row) => ({
        id: row.token.address,
        mint: row.token.address,
        ...withoutUnknown({
          name: row.token.name,
          symbol: row.token.symbol,
          decimals: row.token.decimals,
          image: row.token.imageUrl,
          createdAt: row.createdAtMs
        }),
        priceUsd: numberOf(row.priceUsd),
        liquidityUsd: numberOf(row.liquidityUsd),
        marketCapUsd: numberOf(row.marketCapUsd),
        volume_24h: numberOf(row.volumeUsd),
        totalTransactions: numberOf(row.trades),
        ...(row.authoritiesKnown && { freezeAuthority: row.freezeAuthority, mintAuthority: row.mintAuthority }),
        ...(row.launchpad !== null && { launchpad: { name: row.launchpad } })
      })),
      ...withoutUnknown({ nextCursor }),
      hasMore: nextCursor !== null
    }
  })

export const solanaTracker: Service = {
  prefix: "/compat/solanatracker",
  keyHeaders: [],
  reads: [
    { path: "/price", answer: price },
    { path: "/price/multi", answer: prices },
    { path: "/search", answer: search },
    { path: "/stats/:token", answer: stats },
    { path: "/tokens/:token", answer: token },
    { path: "/tokens/:token/holders", answer: holders },
    { path: "/tokens/:token/holders/top", answer: topHolders },
    { path: "/chart/:token", answer: chart },
    { path: "/chart/:token/:pool", answer: chart },
    { path: "/trades/:token", answer: trades },
    { path: "/trades/:token/:pool", answer: trades },
    { path: "/trades/:token/by-wallet/:wallet", answer: trades },
    { path: "/wallet/:wallet/trades", answer: walletTrades }
  ],
  refusal: ({ code, message, status }) => ({ status, body: { message, code } }),
  notOffered: (_, path) =>
    /^\/(?:snipers|insiders|bundlers|dca|events|v2\/pnl\/leaderboard)\b/u.test(path)
      ? "Fathom does not make this list."
      : null
}
