/** GeckoTerminal, and the `onchain` paths of CoinGecko: pools, candles, trades and prices of Solana. */
import { Effect } from "effect"
import type { ChartAnswer } from "../../api/Market.ts"
import type { PoolTradesAnswer } from "../../api/Pools.ts"
import { addressOf, SOL } from "../../domain/Address.ts"
import { fromAtomic, numberText } from "../../domain/decimal.ts"
import { decimalOf, isoOf, tokensOf } from "./figures.ts"
import { filled } from "./bars.ts"
import { type Call, invalid, type Read, type Refusal, refuse, type Service } from "./service.ts"
import {
  type Facts,
  factsOf,
  fullPool,
  knownPools,
  mintsIn,
  poolAt,
  poolsOf,
  type PoolView,
  ratio,
  type Token
} from "./tokens.ts"
import { namesOf } from "./venues.ts"
import type { WindowActivity } from "./windows.ts"

const MOST = 30
const PAGE = 20
const MOST_POOLS = 50
const MOST_TRADES = 200
const MOST_BARS = 1000

const idOf = (address: string): string => `solana_${address}`

/** A computed number as decimal text; null when there is none. */
const text = (value: number | null): string | null =>
  value === null ? null : value === 0 ? "0" : numberText(Number(value.toPrecision(15)))

const signed = (value: number): string => (value < 0 ? `-${text(-value)}` : (text(value) ?? "0"))

const perWindow = <A>({ windows }: PoolView, value: (activity: WindowActivity) => A | null) =>
  Object.fromEntries(
    Object.entries(windows ?? {}).flatMap(([name, activity]) => {
      const known = value(activity)
      return known === null ? [] : [[name, known]]
    })
  )

const link = (id: string, type: string) => ({ data: { id, type } })

/** A pool as a resource. Prices are those of the tokens over all of their pools. */
export const poolResource = (view: PoolView) => {
  const { base, baseFacts, pool, quote, quoteFacts } = view
  const day = decimalOf(pool.volume24hUsd)
  const name = `${base.symbol ?? base.address} / ${quote.symbol ?? quote.address}`
  return {
    id: idOf(pool.pool),
    type: "pool",
    attributes: {
      address: pool.pool,
      name,
      pool_name: name,
      pool_created_at: isoOf(pool.createdAtMs),
      base_token_price_usd: baseFacts && decimalOf(baseFacts.priceUsd),
      base_token_price_native_currency: baseFacts && decimalOf(baseFacts.priceSol),
      base_token_price_quote_token: text(ratio(baseFacts, quoteFacts)),
      quote_token_price_usd: quoteFacts && decimalOf(quoteFacts.priceUsd),
      quote_token_price_native_currency: quoteFacts && decimalOf(quoteFacts.priceSol),
      quote_token_price_base_token: text(ratio(quoteFacts, baseFacts)),
      fdv_usd: baseFacts && decimalOf(baseFacts.marketCapUsd),
      market_cap_usd: null,
      reserve_in_usd: pool.liquidityUsd,
      pool_fee_percentage: pool.feeBps === null ? null : String(pool.feeBps / 100),
      locked_liquidity_percentage: null,
      price_change_percentage: perWindow(view, ({ changePct }) => (changePct === null ? null : signed(changePct))),
      transactions: perWindow(view, ({ buys, sells }) => (buys === null || sells === null ? null : { buys, sells })),
      volume_usd: {
        ...(day !== null && { h24: day }),
        ...perWindow(view, ({ volume }) => text(volume))
      }
    },
    relationships: {
      base_token: link(idOf(base.address), "token"),
      quote_token: link(idOf(quote.address), "token"),
      dex: link(namesOf(pool.dex).geckoTerminal, "dex")
    }
  }
}

const tokenResource = (facts: Facts) => {
  const { supply, token } = facts
  return {
    id: idOf(token.address),
    type: "token",
    attributes: {
      address: token.address,
      name: token.name,
      symbol: token.symbol,
      decimals: token.decimals,
      image_url: token.imageUrl,
      coingecko_coin_id: null,
      total_supply: supply,
      normalized_total_supply:
        supply === null || token.decimals === null ? null : fromAtomic(BigInt(supply), token.decimals),
      price_usd: decimalOf(facts.priceUsd),
      fdv_usd: decimalOf(facts.marketCapUsd),
      total_reserve_in_usd: decimalOf(facts.liquidityUsd),
      volume_usd: { h24: decimalOf(facts.volume24hUsd) },
      market_cap_usd: null
    },
    relationships: { top_pools: { data: [] } }
  }
}

/** Tokens of `include=base_token,quote_token`, each once. */
const included = (query: URLSearchParams, views: ReadonlyArray<PoolView>) => {
  const wanted = (query.get("include") ?? "").split(",")
  const tokens = new Map<string, Token>()
  for (const { base, quote } of views) {
    if (wanted.includes("base_token")) tokens.set(base.address, base)
    if (wanted.includes("quote_token")) tokens.set(quote.address, quote)
  }
  return tokens.size === 0
    ? {}
    : {
        included: Array.from(tokens.values(), ({ address, decimals, imageUrl, name, symbol }) => ({
          id: idOf(address),
          type: "token",
          attributes: { address, name, symbol, decimals, image_url: imageUrl, coingecko_coin_id: null }
        }))
      }
}

const address = (value: string): Effect.Effect<string, Refusal> =>
  addressOf(value) === undefined ? invalid(`${JSON.stringify(value)} is not an address.`) : Effect.succeed(value)

const wholeIn = (query: URLSearchParams, name: string, byDefault: number, most: number) => {
  const value = query.get(name) ?? String(byDefault)
  return /^[1-9]\d{0,15}$/u.test(value)
    ? Effect.succeed(Math.min(Number(value), most))
    : invalid(`${name} is not valid.`)
}

const onePool = ({ ask, nowMs, param, query }: Call) =>
  Effect.gen(function* () {
    const view = yield* fullPool(ask, yield* address(param("pool")), nowMs)
    return { data: poolResource(view), ...included(query, [view]) }
  })

const manyPools = ({ ask, nowMs, param, query }: Call) =>
  Effect.gen(function* () {
    const views = yield* knownPools({ ask, nowMs }, yield* mintsIn(param("pools"), MOST))
    return { data: views.map(poolResource), ...included(query, views) }
  })

const poolsOfToken = ({ ask, param, query }: Call) =>
  Effect.gen(function* () {
    const page = yield* wholeIn(query, "page", 1, 100)
    const views =
      (page - 1) * PAGE >= MOST_POOLS
        ? []
        : (yield* poolsOf(ask, yield* address(param("token")), Math.min(MOST_POOLS, page * PAGE))).slice(
            (page - 1) * PAGE
          )
    return { data: views.map(poolResource), ...included(query, views) }
  })

const oneToken = ({ ask, param }: Call) =>
  Effect.gen(function* () {
    const [facts] = yield* factsOf(ask, [yield* address(param("token"))])
    return facts === undefined
      ? yield* refuse(404, "token_not_found", "The token is unknown.")
      : { data: tokenResource(facts) }
  })

const manyTokens = ({ ask, param }: Call) =>
  Effect.gen(function* () {
    return { data: (yield* factsOf(ask, yield* mintsIn(param("tokens"), MOST))).map(tokenResource) }
  })

/** Our resolution of a timeframe and its aggregate. */
const resolutions: Readonly<Record<string, string>> = {
  "day 1": "1d",
  "hour 1": "1h",
  "hour 4": "4h",
  "hour 12": "12h",
  "minute 1": "1m",
  "minute 5": "5m",
  "minute 15": "15m",
  "second 1": "1s",
  "second 15": "15s",
  "second 30": "30s"
}

const named = ({ address: mint, name, symbol }: Token) => ({ address: mint, name, symbol, coingecko_coin_id: null })

/** Candles, newest first: second, open, high, low, close, volume in USD. */
const candles = ({ ask, param, query }: Call) =>
  Effect.gen(function* () {
    const resolution = resolutions[`${param("timeframe")} ${query.get("aggregate") ?? "1"}`]
    if (resolution === undefined) {
      return yield* invalid(`aggregate must be one of the timeframe: ${Object.keys(resolutions).join(", ")}.`)
    }
    const { baseToken, pool, quoteToken } = yield* poolAt(ask, yield* address(param("pool")))
    const inToken = query.get("currency") === "token"
    if (inToken && pool.quoteMint !== SOL) {
      return yield* invalid("currency=token is served for pools whose quote token is SOL.")
    }
    if (!["base", baseToken.address].includes(query.get("token") ?? "base")) {
      return yield* invalid("Candles are of the base token.")
    }
    const limit = yield* wholeIn(query, "limit", 100, MOST_BARS)
    const own = new URLSearchParams({
      pool: pool.pool,
      resolution,
      limit: String(limit),
      denom: inToken ? "sol" : "usd"
    })
    if (query.has("before_timestamp")) {
      own.set("to", String(yield* wholeIn(query, "before_timestamp", 0, Number.MAX_SAFE_INTEGER)))
    }
    const { data } = yield* ask<typeof ChartAnswer.Encoded>(`/api/v1/market/chart/${baseToken.address}?${own}`)
    const bars =
      query.get("include_empty_intervals") === "true" ? filled(data.bars, data.resolutionMs, limit) : data.bars
    return {
      data: {
        id: idOf(pool.pool),
        type: "ohlcv_request_response",
        attributes: { ohlcv_list: bars.map(({ c, h, l, o, t, v }) => [t / 1000, o, h, l, c, v]).toReversed() }
      },
      meta: { base: named(baseToken), quote: named(quoteToken) }
    }
  })

type Trade = (typeof PoolTradesAnswer.Encoded)["data"][number]

const per = (total: string | null, amount: number | null): string | null =>
  total === null || amount === null || amount === 0 ? null : text(Number(total) / amount)

type Leg = Trade["legs"]["token"]

const sideOf = (leg: Leg | null, usd: string | null, native: string | null) => ({
  mint: leg?.mint ?? null,
  amount: leg === null || leg.decimals === null ? null : fromAtomic(BigInt(leg.amount), leg.decimals),
  usd,
  native
})

/** A swap of the base token. What was paid or received for it is unknown where the swap has several other sides. */
const tradeResource = (trade: Trade) => {
  const { quote, token } = trade.legs
  const quoteAmount = quote && tokensOf(quote.amount, quote.decimals)
  const sides = [
    sideOf(quote, per(trade.volumeUsd, quoteAmount), per(trade.volumeSol, quoteAmount)),
    sideOf(token, trade.priceUsd, trade.priceSol)
  ] as const
  const [paid, received] = sides
  const [from, to] = trade.side === "buy" ? [paid, received] : [received, paid]
  return {
    id: `solana_${trade.slot}_${trade.signature}_${trade.index}`,
    type: "trade",
    attributes: {
      block_number: trade.slot,
      block_timestamp: isoOf(trade.timeMs),
      tx_hash: trade.signature,
      tx_from_address: trade.wallet,
      kind: trade.side,
      volume_in_usd: trade.volumeUsd,
      from_token_address: from.mint,
      from_token_amount: from.amount,
      price_from_in_usd: from.usd,
      price_from_in_currency_token: from.native,
      to_token_address: to.mint,
      to_token_amount: to.amount,
      price_to_in_usd: to.usd,
      price_to_in_currency_token: to.native
    }
  }
}

const trades = ({ ask, param, query }: Call) =>
  Effect.gen(function* () {
    const own = new URLSearchParams({ limit: String(MOST_TRADES) })
    const least = query.get("trade_volume_in_usd_greater_than")
    if (least !== null && Number(least) > 0) {
      own.set("minUsd", least)
    }
    const pool = yield* address(param("pool"))
    const { data } = yield* ask<typeof PoolTradesAnswer.Encoded>(`/api/v1/pools/${pool}/trades?${own}`)
    return { data: data.map(tradeResource) }
  })

const prices = ({ ask, param, query }: Call) =>
  Effect.gen(function* () {
    const facts = yield* factsOf(ask, yield* mintsIn(param("tokens"), 100))
    const column = (value: (each: Facts) => string | null) =>
      Object.fromEntries(facts.map((each) => [each.token.address, value(each)]))
    return {
      data: {
        id: `solana_${facts.map(({ token }) => token.address).join("_")}`,
        type: "simple_token_price",
        attributes: {
          token_prices: column(({ priceUsd }) => decimalOf(priceUsd)),
          ...(query.get("include_24hr_vol") === "true" && {
            h24_volume_usd: column(({ volume24hUsd }) => decimalOf(volume24hUsd))
          }),
          ...(query.get("include_total_reserve_in_usd") === "true" && {
            total_reserve_in_usd: column(({ liquidityUsd }) => decimalOf(liquidityUsd))
          }),
          ...(query.get("include_market_cap") === "true" && {
            market_cap_usd: column(({ marketCapUsd }) =>
              query.get("mcap_fdv_fallback") === "true" ? decimalOf(marketCapUsd) : null
            )
          })
        }
      }
    }
  })

const networks = () =>
  Effect.succeed({
    data: [{ id: "solana", type: "network", attributes: { name: "Solana", coingecko_asset_platform_id: "solana" } }]
  })

const onSolana =
  (answer: Read["answer"]): Read["answer"] =>
  (call) =>
    call.param("network") === "solana"
      ? answer(call)
      : refuse(404, "unsupported_chain", "Only the network solana is served.")

const network = "/networks/:network"

const paths: ReadonlyArray<Read> = [
  { path: "/networks", answer: networks },
  { path: `${network}/pools/:pool`, answer: onSolana(onePool) },
  { path: `${network}/pools/multi/:pools`, answer: onSolana(manyPools) },
  { path: `${network}/pools/:pool/ohlcv/:timeframe`, answer: onSolana(candles) },
  { path: `${network}/pools/:pool/trades`, answer: onSolana(trades) },
  { path: `${network}/tokens/:token`, answer: onSolana(oneToken) },
  { path: `${network}/tokens/multi/:tokens`, answer: onSolana(manyTokens) },
  { path: `${network}/tokens/:token/pools`, answer: onSolana(poolsOfToken) },
  { path: "/simple/networks/:network/token_price/:tokens", answer: onSolana(prices) }
]

export const geckoTerminal: Service = {
  prefix: "/compat/geckoterminal",
  keyHeaders: ["x-cg-pro-api-key", "x-cg-demo-api-key"],
  reads: ["/api/v2", "/api/v3/onchain"].flatMap((base) =>
    paths.map(({ answer, path }): Read => ({ path: `${base as "/"}${path}`, answer }))
  ),
  refusal: ({ code, message, status }) => ({
    status,
    body: { errors: [{ status: String(status), title: message, code }] }
  }),
  notOffered: (_, path) =>
    /\/(?:trending_pools|new_pools|dexes|info_recently_updated|categories)\b/u.test(path)
      ? "This list is not translated: read /api/v1/market/discovery or /api/v1/market/movement."
      : null
}
