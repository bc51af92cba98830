import { Context, Effect, Layer, type Stream } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import { SourceMonitor, stateByAge } from "../../operations/SourceMonitor.ts"
import type { FeedHealth } from "../FeedHealth.ts"
import type { LaunchRecord } from "../../market/model/Launches.ts"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import type { CountedBatch } from "../../market/model/TradeBatch.ts"
import { Market } from "../../market/tape/Market.ts"
import { PoolBook } from "../../quotes/pools/PoolBook.ts"
import { baseMintOf } from "../../tokens/liquidity.ts"

/** Without a block for this long, the channels of the chain are stale. */
const SILENT_MS = 30_000

/** The reads of the market that live channels need, beside the endpoints' reads. */
export class MarketFeed extends Context.Service<
  MarketFeed,
  {
    /** Every block from the subscription on, each with the number of blocks lost before it. */
    readonly blocks: Stream.Stream<CountedBatch>
    /** The newest trades in memory that pass a test, up to a slot, newest first. */
    readonly newest: (passes: (trade: TapeTrade) => boolean, toSlot: number, limit: number) => ReadonlyArray<TapeTrade>
    /** The last swap price of a token in USD; null when none is in memory. */
    readonly lastPriceUsd: (mint: Mint) => number | null
    /** The launches in memory, oldest event first. */
    readonly launches: () => Iterable<LaunchRecord>
    /** The mint whose candles a pool shows; null for a pool that is not in memory. */
    readonly mintOfPool: (pool: Address) => Mint | null
    readonly newestSlot: () => number
    /** Records that the frames of a block were published, for the state of the source `market_socket`. */
    readonly published: (atMs: number) => void
    readonly health: (nowMs: number) => FeedHealth
    /** Waits until no block of the market is half applied: see `MarketReads`. */
    readonly whole: Effect.Effect<void>
  }
>()("fathom/live/market/MarketFeed") {
  static readonly layer: Layer.Layer<MarketFeed, never, Market | PoolBook> = Layer.effect(
    MarketFeed,
    Effect.gen(function* () {
      const tape = yield* Market
      const pools = yield* PoolBook
      const progress: { atMs: number | null } = { atMs: null }
      yield* (yield* SourceMonitor).report("market_socket", (nowMs) => stateByAge(progress.atMs, SILENT_MS, nowMs))
      return MarketFeed.of({
        blocks: tape.appliedCounted,
        newest: (passes, toSlot, limit) => tape.recent.newest(passes, toSlot, limit),
        lastPriceUsd: (mint) => tape.state.lastPrice(mint)?.price ?? null,
        launches: () => tape.launches.all(),
        mintOfPool: (address) => {
          const pool = pools.poolAt(address)
          return pool === null ? null : baseMintOf(pool)
        },
        whole: tape.whole,
        newestSlot: () => tape.newestSlot(),
        published: (atMs) => {
          progress.atMs = atMs
        },
        health: (nowMs) => ({
          ingestLagMs: tape.state.now === 0 ? null : Math.max(0, nowMs - tape.state.now * 1000),
          heardAtMs: tape.heardAtMs()
        })
      })
    })
  )
}
