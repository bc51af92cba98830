import { Context, type Effect, Layer, type Stream } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { Launch } from "../../domain/market/Launch.ts"
import type { TradeStoreUnavailable } from "../../domain/market/Trade.ts"
import { makeMemoryTrades } from "./memoryTrades.ts"
import type { Resolution } from "../candles/resolutions.ts"
import type { TapeTrade } from "../tape/TapeTrade.ts"
import type { PricedBatch } from "../tape/TradeTape.ts"

/** Which chain trades are of. Those of two chains never meet. */
export interface ChainIdentity {
  /** The hash of its first block, which no two chains share. */
  readonly genesis: string
  /** Invented, so that its trades are worth nothing once another chain has taken its place. */
  readonly isSandbox: boolean
}

/** What is kept of one block. */
export type StoredBatch = Pick<PricedBatch, "slot" | "timeMs" | "trades" | "launches" | "afterGap">

/** How far a chain is stored. Seconds since the Unix epoch. */
export interface TradeProgress {
  /** The newest block that is wholly stored, and its time in milliseconds. */
  readonly slot: number
  readonly timeMs: number
  /** The first second from which on blocks were read. */
  readonly readFrom: number
  /** The first second from which on none is missing. */
  readonly unbrokenFrom: number
}

/** Which blocks to give back: later ones than the slot, since the second; at least the newest that hold `most` trades. */
export interface Restoring {
  readonly second: number
  readonly after: number
  readonly most: number
}

/** A launch, and the block it was in. */
export interface StoredLaunch {
  readonly slot: number
  readonly timeMs: number
  readonly launch: Launch
}

/** Which buckets of a token: beginning at `from` (null is open), and only what happened before `before`; seconds. */
export interface StoredBarsRequest {
  readonly mint: Mint
  readonly resolution: Resolution
  readonly from: number | null
  readonly before: number
  /** The newest so many. */
  readonly limit: number
}

/** Buckets as `bar.ts` lays them out, the newest first; what a bucket held at `before` or later is not in it. */
export interface StoredBars {
  readonly cells: Float64Array
  /** Whether there are older ones than these. */
  readonly isCut: boolean
}

/**
 * Trades, launches and candles that outlive the process, of one chain at a time. A trade is known by its slot and its
 * place in it. Before a chain is opened there is nothing to ask, and every question fails.
 */
export class TradeStore extends Context.Service<
  TradeStore,
  {
    /** Chooses the chain that everything else is about, and says how far it is stored; null when nothing of it is. */
    open(chain: ChainIdentity): Effect.Effect<TradeProgress | null, TradeStoreUnavailable>
    /**
     * Stores blocks whole, all of them or none, with the progress they make; durable when it returns. Blocks may come
     * again, and trades that are there stay as they are. For one writer at a time.
     */
    append(batches: ReadonlyArray<StoredBatch>): Effect.Effect<void, TradeStoreUnavailable>
    /** Stored blocks with trades or launches in them, the oldest first, trades in the order of the chain. */
    since(restoring: Restoring): Stream.Stream<StoredBatch, TradeStoreUnavailable>
    /** The newest launches from before a second, at most so many, oldest first. */
    launchesBefore(second: number, most: number): Effect.Effect<ReadonlyArray<StoredLaunch>, TradeStoreUnavailable>
    /** The newest trades of a wallet, newest first: those of role `wallet` or `both`. */
    ofWallet(wallet: Address, limit: number): Effect.Effect<ReadonlyArray<TapeTrade>, TradeStoreUnavailable>
    /** Candles of a token, from closed ones and from the trades of those that are still open. */
    bars(request: StoredBarsRequest): Effect.Effect<StoredBars, TradeStoreUnavailable>
    /** Closes the buckets that no late trade can change any more. For the writer, now and then. */
    readonly closeBars: Effect.Effect<void, TradeStoreUnavailable>
    /** For how many seconds the bars of a resolution are kept. */
    readonly keptSeconds: (resolution: Resolution) => number
  }
>()("fathom/market/store/TradeStore") {
  /** Trades held in memory, for tests and for those who embed us. */
  static readonly layerMemory: Layer.Layer<TradeStore> = Layer.sync(TradeStore, () => TradeStore.of(makeMemoryTrades()))
}
