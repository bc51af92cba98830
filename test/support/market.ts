/** A market of toy pools behind the native engine, for tests of the spot endpoints. */
import { Effect, Layer } from "effect"
import { SOL, USDC } from "../../src/domain/Address.ts"
import type { Loading } from "../../src/quotes/pools/poolDiscovery.ts"
import type { MintPools } from "../../src/quotes/pools/MintPools.ts"
import type { PoolGraph } from "../../src/quotes/pools/PoolGraph.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import type { Freshness } from "../../src/chain/ChainFeed.ts"
import { at, constantProduct } from "../quotes/toyChain.ts"
import { feed } from "./http.ts"

/** A token with two pools against SOL. */
export const TOKEN = at(10)
/** A token that has no pools. */
export const LONELY = at(11)
/** A token that is not loaded. */
export const COLD = at(12)
/** A token without a pool in memory, whose pools the node refused to search. */
export const UNSEARCHED = at(15)
/** A token whose only pool cannot be priced. */
export const ODD = at(13)
/** A token whose only pool takes a thousand units and no more. */
export const SHALLOW = at(14)

export const DEEP_POOL = at(1)
export const THIN_POOL = at(2)

const M = 1_000_000n

/** Adjustable state of a test: freshness of the feed, and the pools of TOKEN. */
export interface Market {
  fresh: Freshness
  pools: MintPools["pools"]
  readonly warmed: Array<string>
  /** Result of asking for a cold mint. */
  loading: Loading
  /** Thrown from inside the engine when set. */
  defect: Error | undefined
}

export const makeMarket = (): Market => ({
  fresh: { slot: 77, heardAtMs: 0, state: "live" },
  pools: [
    constantProduct(DEEP_POOL, TOKEN, SOL, [9000n * M, 18_000n * M], { slot: 75, dex: "raydium-cpmm" }),
    constantProduct(THIN_POOL, TOKEN, SOL, [1000n * M, 1000n * M], { slot: 76, dex: "pumpswap" })
  ],
  warmed: [],
  loading: { _tag: "Loaded" },
  defect: undefined
})

const shallow = constantProduct(at(3), SHALLOW, SOL, [M, M], { dex: "raydium-cpmm", most: 1000n })
const dollars = constantProduct(at(5), SOL, USDC, [1000n * M, 150_000n * M], { slot: 60, dex: "raydium-amm-v4" })
const odd = { address: at(4), dex: "raydium-cpmm", reason: "unsupported", detail: "mode 9" } as const

const bookOf = (market: Market, graph: PoolGraph = { partnersOf: () => [], poolsBetween: () => [] }) =>
  Layer.succeed(
    PoolBook,
    PoolBook.of({
      between: (a, b) => {
        if (market.defect !== undefined) {
          throw market.defect
        }
        const has = (mint: string) => a === mint || b === mint
        if (has(COLD)) {
          return null
        }
        if (has(ODD)) {
          return { pools: [], refused: [odd] }
        }
        return { pools: has(TOKEN) ? market.pools : has(SHALLOW) ? [shallow] : [], refused: [] }
      },
      poolsOf: () => [],
      isLoaded: (mint) => mint !== COLD,
      graduationOf: () => null,
      leftOut: () => 0,
      lacking: (mint) => (mint === UNSEARCHED ? "not_captured" : null),
      learn: () => undefined,
      held: () => null,
      executedOf: () => [],
      poolAt: () => null,
      graph,
      warm: (mint) =>
        Effect.as(
          Effect.sync(() => void market.warmed.push(mint)),
          market.loading
        )
    })
  )

const among = (market: Market): PoolGraph => ({
  partnersOf: () => new Set([TOKEN, SOL, USDC]),
  poolsBetween: (a, b) =>
    [...market.pools, dollars].filter(({ mintA, mintB }) => [mintA, mintB].includes(a) && [mintA, mintB].includes(b))
})

/** The router over the market, which knows a pool of dollars as well. */
export const routerOver = (market: Market): Layer.Layer<QuoteEngine> =>
  QuoteEngine.layerRouter.pipe(Layer.provide([bookOf(market, among(market)), feed(() => market.fresh)]), Layer.orDie)

/** The native engine over the market. */
export const engineOver = (market: Market): Layer.Layer<QuoteEngine> =>
  QuoteEngine.layerNative.pipe(Layer.provide([bookOf(market), feed(() => market.fresh)]), Layer.orDie)
