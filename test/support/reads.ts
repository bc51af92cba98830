/** A market on a tape that tests write, behind the real readers, for tests of the market endpoints. */
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Pool } from "../../src/programs/interface/Program.ts"
import { Address } from "../../src/domain/Address.ts"
import { EvmCandles } from "../../src/market/reads/EvmCandles.ts"
import { MarketReader } from "../../src/market/reads/MarketReader.ts"
import { TopTraders } from "../../src/market/reads/TopTraders.ts"
import { TokenSearch } from "../../src/market/reads/TokenSearch.ts"
import { TradesReader } from "../../src/market/reads/TradesReader.ts"
import type { MarketLimits } from "../../src/market/memory/MarketState.ts"
import { Market } from "../../src/market/tape/Market.ts"
import type { PricedBatch } from "../../src/market/model/TradeBatch.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { MarketFeed } from "../../src/live/market/MarketFeed.ts"
import { PriceBook, type UnitPrice } from "../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import type { TokenState } from "../../src/tokens/TokenCache.ts"
import { MONDAY } from "../market/tape/tape.ts"
import { running } from "./http.ts"

/** Content of a test's books. */
export interface Books {
  readonly tokens: Map<string, TokenState>
  /** Pools by mint; a mint that is missing is not loaded. */
  readonly pools: Map<string, ReadonlyArray<Pool>>
  readonly prices: Map<string, UnitPrice>
  readonly warmed: Array<string>
  /** Thrown from inside the readers when set. */
  defect: Error | undefined
}

export const makeBooks = (): Books => ({
  tokens: new Map(),
  pools: new Map(),
  prices: new Map(),
  warmed: [],
  defect: undefined
})

/** A plain mint of so many units. */
export const minted = (supply: bigint, decimals: number): TokenState => ({
  _tag: "Token",
  facts: {
    _tag: "Mint",
    tokenProgram: "spl-token",
    supply,
    decimals,
    mintAuthority: null,
    freezeAuthority: null,
    extensions: [],
    metadata: null
  },
  metadata: { name: "Example", symbol: "XMPL", uri: null },
  observation: { slot: 1, observedAtMs: 1000 }
})

export const tokenBook = (books: Books) =>
  Layer.succeed(TokenBook, {
    read: (mint) => {
      if (books.defect !== undefined) {
        throw books.defect
      }
      return books.tokens.get(mint) ?? null
    },
    named: () =>
      Array.from(books.tokens).flatMap(([mint, state]) =>
        state._tag === "Token" ? [[Address.make(mint), state.metadata] as const] : []
      ),
    commitment: "confirmed",
    warm: (mint) => Effect.sync(() => void books.warmed.push(mint))
  })

/** Pools and prices of tests: nothing is loaded but what the books say. */
export const poolBook = (books: Books) =>
  Layer.succeed(PoolBook, {
    between: () => null,
    poolsOf: (mint) => books.pools.get(mint) ?? [],
    isLoaded: (mint) => books.pools.has(mint),
    graduationOf: (mint) =>
      books.pools.get(mint)?.find(({ graduation, mintA }) => graduation !== undefined && mintA === mint)?.graduation ??
      null,
    leftOut: () => 0,
    lacking: () => null,
    learn: () => undefined,
    held: () => null,
    executedOf: () => [],
    poolAt: (address) =>
      Array.from(books.pools.values())
        .flat()
        .find((pool) => pool.address === address) ?? null,
    graph: { partnersOf: () => [], poolsBetween: () => [] },
    warm: (mint) =>
      Effect.as(
        Effect.sync(() => void books.warmed.push(mint)),
        { _tag: "Loaded" } as const
      )
  })

export const priceBook = (books: Books) =>
  Layer.succeed(PriceBook, {
    at: (nowMs) => ({
      of: (mint) => books.prices.get(mint) ?? null,
      lifetime: { observedAtMs: nowMs, expiresAtMs: nowMs + 10_000 },
      isStale: false,
      silentMs: 0,
      clock: { slot: 1, epoch: 0, unixTimestamp: MONDAY }
    }),
    warm: (mint) => Effect.sync(() => void books.warmed.push(mint))
  })

const roomy: MarketLimits = { tokens: 2000, bars: 100_000, trades: 100_000, traders: 10_000 }

/** Replacements of the defaults. */
export interface Readings {
  readonly books?: Books
  readonly limits?: MarketLimits
  readonly evm?: Layer.Layer<EvmCandles>
  /** The store of older bars and of bars of single pools; none unless given. */
  readonly stored?: ReturnType<Market["Service"]["stored"]>
  /** Blocks that it does not have yet. */
  readonly unstored?: Market["Service"]["unstored"]
  /** The second from which on bars are in memory. */
  readonly heldSince?: Market["Service"]["heldSince"]
  readonly world?: Parameters<typeof running>[0]
}

/** The service on a free port over a tape of its own, which is given too. */
export const reading = ({
  books = makeBooks(),
  evm = EvmCandles.layerNone,
  heldSince,
  limits = roomy,
  stored,
  unstored = () => [],
  world
}: Readings = {}) => {
  const manual = Market.layerManual(limits)
  const tape =
    stored === undefined
      ? manual
      : Layer.effect(
          Market,
          Market.use((service) =>
            Effect.succeed({ ...service, stored: () => stored, unstored, ...(heldSince && { heldSince }) })
          )
        ).pipe(Layer.provideMerge(manual))
  const market = Layer.mergeAll(
    MarketFeed.layer,
    MarketReader.layer,
    TokenSearch.layer,
    TopTraders.layer,
    TradesReader.layer
  ).pipe(Layer.provide([tokenBook(books), poolBook(books), priceBook(books), evm]), Layer.provideMerge(tape))
  // The service and the test write to and read from one tape.
  return Layer.unwrap(
    Effect.map(Layer.build(market), (context) => {
      const built = Layer.succeedContext(context)
      return Layer.merge(running({ ...world, market: built, marketFeed: built }), built)
    })
  )
}

/** Seconds after `MONDAY`, by the clock. */
export const setSecond = (second: number) => TestClock.setTime((MONDAY + second) * 1000)

/** One block. */
export const block = (second: number, given: Partial<PricedBatch> = {}): PricedBatch => ({
  slot: 1000 + second,
  timeMs: (MONDAY + second) * 1000,
  trades: [],
  transactions: [],
  launches: [],
  afterGap: false,
  ...given
})
