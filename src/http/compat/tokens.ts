/** Tokens and their pools, as several compatible services show them. */
import { Effect } from "effect"
import type { ChartAnswer } from "../../api/Market.ts"
import type { PoolAnswer } from "../../api/Pools.ts"
import type { PoolLiquidity, TokenFacts, TokenRef } from "../../api/schemas/Token.ts"
import type { TokenLiquidityAnswer } from "../../api/Tokens.ts"
import type { TokenBatchAnswer } from "../../api/TokenBatch.ts"
import { addressOf } from "../../domain/Address.ts"
import { numberOf } from "./figures.ts"
import { type Ask, type Call, invalid, type Refusal } from "./service.ts"
import { type PoolWindows, windowsOf } from "./windows.ts"

export type Facts = typeof TokenFacts.Encoded
export type Token = typeof TokenRef.Encoded
export type Pool = typeof PoolLiquidity.Encoded

/** Different addresses in a list with commas, at most `most`. */
export const mintsIn = (text: string, most: number): Effect.Effect<ReadonlyArray<string>, Refusal> => {
  const mints = [...new Set(text.split(",").map((mint) => mint.trim()))]
  const wrong = mints.find((mint) => addressOf(mint) === undefined)
  if (wrong !== undefined) {
    return invalid(`${JSON.stringify(wrong)} is not an address: base58 of 32 bytes.`)
  }
  return mints.length > most ? invalid(`At most ${most} addresses in one request.`) : Effect.succeed(mints)
}

/** Facts of the tokens that are known. The others are left out. */
export const factsOf = (ask: Ask, mints: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Facts>, Refusal> =>
  Effect.map(ask<typeof TokenBatchAnswer.Encoded>(`/api/v1/tokens?addresses=${mints.join(",")}`), ({ data }) =>
    data.flatMap(({ facts }) => (facts === null ? [] : [facts]))
  )

/** One pool with what is known of its two tokens. */
export interface PoolView {
  readonly pool: Pool
  readonly base: Token
  readonly quote: Token
  /** Null while the token is being loaded. */
  readonly baseFacts: Facts | null
  readonly quoteFacts: Facts | null
  /** Activity of the pool; null where it was not read. */
  readonly windows: PoolWindows | null
}

const unnamed = (address: string): Token => ({
  chain: "solana",
  address,
  symbol: null,
  name: null,
  decimals: null,
  imageUrl: null
})

const viewsOf = (pools: ReadonlyArray<Pool>, facts: ReadonlyArray<Facts>): ReadonlyArray<PoolView> => {
  const known = new Map(facts.map((each) => [each.token.address, each]))
  return pools.map((pool) => {
    const [baseFacts = null, quoteFacts = null] = [known.get(pool.baseMint), known.get(pool.quoteMint)]
    return {
      pool,
      base: baseFacts?.token ?? unnamed(pool.baseMint),
      quote: quoteFacts?.token ?? unnamed(pool.quoteMint),
      baseFacts,
      quoteFacts,
      windows: null
    }
  })
}

const mintsOf = (pools: ReadonlyArray<Pool>): ReadonlyArray<string> => [
  ...new Set(pools.flatMap(({ baseMint, quoteMint }) => [baseMint, quoteMint]))
]

/** The deepest pools of a token, at most `limit` and 50. Empty for a mint that the chain does not have. */
export const poolsOf = (ask: Ask, mint: string, limit: number): Effect.Effect<ReadonlyArray<PoolView>, Refusal> =>
  Effect.gen(function* () {
    const url = `/api/v1/tokens/solana/${mint}/liquidity?limit=${limit}`
    const { pools } = (yield* ask<typeof TokenLiquidityAnswer.Encoded>(url)).data
    return pools.length === 0 ? [] : viewsOf(pools, yield* factsOf(ask, mintsOf(pools)))
  }).pipe(
    Effect.catchIf(
      ({ code }) => code === "token_not_found",
      () => Effect.succeed([])
    )
  )

/** One pool and its tokens, without their prices. */
export const poolAt = (ask: Ask, address: string) =>
  Effect.map(ask<typeof PoolAnswer.Encoded>(`/api/v1/pools/${address}`), ({ data }) => data)

/** The bars of 25 hours, a minute each: the last day, and an hour before it for the price at its beginning. */
const MINUTES = 1500

/** One pool with its activity. */
export const fullPool = (ask: Ask, address: string, nowMs: number): Effect.Effect<PoolView, Refusal> =>
  Effect.gen(function* () {
    const { baseToken, pool, quoteToken } = yield* poolAt(ask, address)
    const [view] = viewsOf([pool], yield* factsOf(ask, mintsOf([pool])))
    const from = Math.floor(nowMs / 1000) - MINUTES * 60
    const chart = yield* ask<typeof ChartAnswer.Encoded>(
      `/api/v1/market/chart/${pool.baseMint}?pool=${address}&resolution=1m&limit=${MINUTES}&from=${from}`
    ).pipe(
      // A pool is shown without its activity when it has no chart yet.
      Effect.catchIf(
        ({ code }) => code === "chart_warming" || code === "token_not_found",
        () => Effect.succeed(null)
      )
    )
    return {
      pool,
      base: baseToken,
      quote: quoteToken,
      baseFacts: view?.baseFacts ?? null,
      quoteFacts: view?.quoteFacts ?? null,
      windows: chart === null ? null : windowsOf(chart, nowMs)
    }
  })

/** Pools of one request that are read at once. */
const AT_ONCE = 4

/** Those of the pools that are known, with their activity. */
export const knownPools = ({ ask, nowMs }: Pick<Call, "ask" | "nowMs">, addresses: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(
      addresses,
      (address) =>
        fullPool(ask, address, nowMs).pipe(
          Effect.map((view): ReadonlyArray<PoolView> => [view]),
          Effect.catchIf(
            ({ code }) => code === "pool_not_found",
            () => Effect.succeed([])
          )
        ),
      { concurrency: AT_ONCE }
    ),
    (found) => found.flat()
  )

/** Price of one token in another, from both prices in USD; null when one is unknown. */
export const ratio = (one: Facts | null, other: Facts | null): number | null => {
  const [price, unit] = [one, other].map((facts) => facts && numberOf(facts.priceUsd))
  return price === null || unit === null || price === undefined || unit === undefined || unit === 0
    ? null
    : price / unit
}
