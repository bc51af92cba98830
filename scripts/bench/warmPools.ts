/** Eight warm pools of one token against SOL, four constant-product and four concentrated, and an engine over them. */
import { Effect, Layer, Stream } from "effect"
import { makeConcentratedPool } from "../../src/programs/math/concentratedPool.ts"
import { productPrices, type Side } from "../../src/programs/math/constantProduct.ts"
import { type SwapPath, staticFee } from "../../src/programs/math/swapPath.ts"
import type { Pool } from "../../src/programs/interface/Program.ts"
import { raydiumGrid } from "../../src/programs/raydium/clmmTicks.ts"
import { type Address, addressFromBytes, type Mint, SOL } from "../../src/domain/Address.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import type { ChainClock } from "../../src/domain/OnChainAccount.ts"
import { MAX_U64 } from "../../src/domain/Amount.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { ChainFeed } from "../../src/chain/ChainFeed.ts"

const address = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n))

/** The token that is sold. */
export const TOKEN: Address = address(1)

const side = (reserveIn: bigint, reserveOut: bigint): Side => ({
  reserveIn,
  reserveOut,
  roomIn: MAX_U64 - reserveIn,
  feeOnInput: 2500n,
  feeOnOutput: 0n,
  scale: 1_000_000n
})

/** Mints, address and depth of a synthetic pool: depth one is shallow, a thousand is deep. */
export interface PoolPlan {
  readonly address: Address
  readonly mintA: Mint
  readonly mintB: Mint
  readonly depth: number
}

/** A warm constant-product pool with a fee of 25 bps. */
export const constantProduct = ({ depth: deep, ...plan }: PoolPlan): Pool => {
  const depth = BigInt(deep) * 10n ** 13n
  const [down, up] = [side(depth, depth / 20n), side(depth / 20n, depth)]
  return {
    ...plan,
    dex: "constant",
    slot: 1,
    ...productPrices(down, up)
  }
}

const TICK = -29_960
const SPACING = 10

const swapPath = (down: boolean, liquidity: bigint): SwapPath => ({
  grid: raydiumGrid,
  down,
  feeOnInput: true,
  sqrtPrice: raydiumGrid.sqrtPriceAt(TICK),
  tick: TICK,
  liquidity,
  ticks: Array.from({ length: 180 }, (_, i) => ({
    index: TICK + (down ? -1 : 1) * (i + 1) * SPACING,
    liquidityNet: ((down ? 1n : -1n) * liquidity) / 400n,
    orders: 0n
  })),
  edge: null,
  fee: staticFee(2500n),
  cuts: []
})

/** A warm concentrated pool with 180 initialized ticks on either side and a fee of 25 bps. */
export const concentrated = ({ depth, ...plan }: PoolPlan): Pool => {
  const liquidity = BigInt(depth) * 10n ** 14n
  const paths = { down: swapPath(true, liquidity), up: swapPath(false, liquidity) }
  return makeConcentratedPool(
    { ...plan, dex: "concentrated", slot: 1, refusesZeroOutput: false, paths: () => paths },
    { a: null, b: null, slot: 0 }
  )
}

const numbers = [1, 2, 3, 4]
/** The candidates. */
export const warmPools = [
  ...numbers.map((n) => constantProduct({ address: address(10 + n), mintA: TOKEN, mintB: SOL, depth: n })),
  ...numbers.map((n) => concentrated({ address: address(30 + n), mintA: TOKEN, mintB: SOL, depth: n }))
]
const known = { pools: warmPools, refused: [] }

const book = Layer.succeed(
  PoolBook,
  PoolBook.of({
    between: () => known,
    poolsOf: () => warmPools,
    isLoaded: () => true,
    graduationOf: () => null,
    leftOut: () => 0,
    lacking: () => null,
    learn: () => undefined,
    held: () => null,
    executedOf: () => [],
    poolAt: () => null,
    graph: { partnersOf: () => [], poolsBetween: () => warmPools },
    warm: () => Effect.succeed({ _tag: "Loaded" })
  })
)

/** The same object on every call, like a feed between two slots. Prices are kept while the clock is the same object. */
const clock: ChainClock = { slot: 1, epoch: 1, unixTimestamp: 1 }

const feed = Layer.succeed(
  ChainFeed,
  ChainFeed.of({
    accountsOf: () => Effect.succeed({ slot: 1, accounts: new Map() }),
    read: () => Effect.succeed({ slot: 1, accounts: new Map() }),
    watch: () => Effect.void,
    unwatch: () => Effect.void,
    events: Stream.never,
    freshness: () => ({ slot: 1, heardAtMs: null, state: "recorded" }),
    clock: () => clock,
    commitment: "confirmed"
  })
)

/** The native engine over the eight pools, with the book and the feed it reads. */
export const warmMarket = QuoteEngine.layerNative.pipe(Layer.provideMerge([book, feed]))
