/** DexScreener: pairs by pool, by token and by text. */
import { Effect } from "effect"
import type { SearchAnswer } from "../../api/Search.ts"
import { numberText } from "../../domain/decimal.ts"
import { decimalOf, numberOf, tokensOf, withoutUnknown } from "./figures.ts"
import { type Ask, type Call, invalid, type Refusal, refuse, type Service } from "./service.ts"
import { knownPools, mintsIn, poolsOf, type PoolView, ratio, type Token } from "./tokens.ts"
import { namesOf } from "./venues.ts"
import type { PoolWindows, WindowActivity } from "./windows.ts"

/** Most pairs of one answer, and most addresses of one request. */
const MOST = 30

/** Tokens whose pools a search shows. */
const FOUND = 3

/** Reads of one request that run at once. */
const AT_ONCE = 4

const SCHEMA = "1.0.0"

const tokenOf = ({ address, name, symbol }: Token) => ({ address, name: name ?? "", symbol: symbol ?? "" })

const perWindow = <A>(windows: PoolWindows | null, value: (activity: WindowActivity) => A | null) =>
  withoutUnknown(Object.fromEntries(Object.entries(windows ?? {}).map(([name, activity]) => [name, value(activity)])))

const dayVolume = (volume: number | null) => (volume === null ? {} : { h24: volume })

/**
 * A pool as a pair. `priceUsd` and `priceNative` are the prices of the base token over all of its pools. Activity is
 * known of single pools only; a field without a known value is left out.
 */
export const pairOf = ({ base, baseFacts, pool, quote, quoteFacts, windows }: PoolView) => {
  const [dexId, ...labels] = namesOf(pool.dex).dexScreener
  const native = ratio(baseFacts, quoteFacts)
  const fdv = baseFacts && numberOf(baseFacts.marketCapUsd)
  const liquidity = withoutUnknown({
    usd: pool.liquidityUsd === null ? null : Number(pool.liquidityUsd),
    base: tokensOf(pool.baseReserve, base.decimals),
    quote: tokensOf(pool.quoteReserve, quote.decimals)
  })
  return {
    chainId: "solana",
    dexId,
    url: `/t/${base.address}`,
    pairAddress: pool.pool,
    ...(labels.length > 0 && { labels }),
    baseToken: tokenOf(base),
    quoteToken: tokenOf(quote),
    ...withoutUnknown({
      priceNative: native === null ? null : numberText(Number(native.toPrecision(15))),
      priceUsd: baseFacts && decimalOf(baseFacts.priceUsd)
    }),
    txns: perWindow(windows, ({ buys, sells }) => (buys === null || sells === null ? null : { buys, sells })),
    volume: {
      ...dayVolume(numberOf(pool.volume24hUsd)),
      ...perWindow(windows, ({ volume }) => volume)
    },
    priceChange: perWindow(windows, ({ changePct }) => changePct),
    ...(liquidity.usd !== undefined && { liquidity }),
    ...withoutUnknown({ fdv, marketCap: fdv, pairCreatedAt: pool.createdAtMs }),
    ...(base.imageUrl !== null && { info: { imageUrl: base.imageUrl, websites: [], socials: [] } })
  }
}

const onSolana = ({ param }: Call): Effect.Effect<void, Refusal> =>
  param("chain") === "solana" ? Effect.void : refuse(404, "unsupported_chain", "Only chainId solana is served.")

/** The deepest pairs of each token, so that all together are at most `MOST`. */
const pairsOf = (ask: Ask, mints: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(mints, (mint) => poolsOf(ask, mint, Math.max(1, Math.floor(MOST / mints.length))), {
      concurrency: AT_ONCE
    }),
    (pools) => pools.flat().map(pairOf)
  )

const ofTokens = (call: Call) =>
  Effect.flatMap(mintsIn(call.param("addresses"), MOST), (mints) => pairsOf(call.ask, mints))

/** Pairs by pool. Pools that are not known are left out. */
const byPool = (call: Call) =>
  Effect.gen(function* () {
    yield* onSolana(call)
    const addresses = yield* mintsIn(call.param("pairs"), MOST)
    const pairs = (yield* knownPools(call, addresses)).map(pairOf)
    return { schemaVersion: SCHEMA, pairs: pairs.length === 0 ? null : pairs, pair: pairs[0] ?? null }
  })

const search = ({ ask, query }: Call) =>
  Effect.gen(function* () {
    const q = (query.get("q") ?? "").trim()
    if (q === "") {
      return yield* invalid("q is required.")
    }
    const url = `/api/v1/search?${new URLSearchParams({ q, limit: String(FOUND) })}`
    const { data } = yield* ask<typeof SearchAnswer.Encoded>(url)
    const pairs = yield* pairsOf(
      ask,
      data.map(({ token }) => token.address)
    )
    return { schemaVersion: SCHEMA, pairs }
  })

const listed = (call: Call) => Effect.andThen(onSolana(call), ofTokens(call))

export const dexScreener: Service = {
  prefix: "/compat/dexscreener",
  keyHeaders: [],
  reads: [
    { path: "/latest/dex/pairs/:chain/:pairs", answer: byPool },
    {
      path: "/latest/dex/tokens/:addresses",
      answer: (call) => Effect.map(ofTokens(call), (pairs) => ({ schemaVersion: SCHEMA, pairs }))
    },
    { path: "/latest/dex/search", answer: search },
    { path: "/tokens/v1/:chain/:addresses", answer: listed },
    { path: "/token-pairs/v1/:chain/:addresses", answer: listed }
  ],
  refusal: ({ code, message, status }) => ({ status, body: { error: message, code } }),
  notOffered: (_, path) =>
    /^\/(?:token-profiles|token-boosts|community-takeovers|ads|orders|metas)\//u.test(path)
      ? "Paid profiles, boosts, ads and orders of DexScreener are not known here."
      : null
}
