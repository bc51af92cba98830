import { Context, type Effect, Layer, type Stream } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { TradeStoreUnavailable } from "../../domain/market/Trade.ts"
import type { Print } from "../candles/outliers.ts"
import type { Resolution } from "../candles/resolutions.ts"
import type { TapeTrade } from "../tape/TapeTrade.ts"
import type { ChainIdentity } from "./ChainIdentity.ts"
import { makeMemoryTrades } from "./memoryTrades.ts"
import type { PrintsRequest, RevisedBar, StoredBars, StoredBarsRequest } from "./StoredBars.ts"
import type { SnapshotContent, StoredSnapshot } from "../snapshot/StoredSnapshot.ts"
import type { StoredSupply, SupplyRequest } from "./StoredSupply.ts"
import type { RestoreRequest, StoredBatch, StoredLaunch } from "./StoredBatch.ts"
import type { Repair, TradeProgress } from "./TradeProgress.ts"
import type {
  LargestFound,
  LargestRequest,
  MoneySwapsRequest,
  TokenSwapsRequest,
  TradesFound,
  TradesRequest
} from "./TradesRequest.ts"

/**
 * The way in which a process uses a chain: `shared` writes beside others, `sole` is the only writer until another process
 * claims to be, and fails from then on, `read` writes nothing and finds what others have written.
 */
export type StoreAccess = "read" | "shared" | "sole"

/**
 * Trades, launches and candles that outlive the process, of one chain at a time. A trade is identified by its slot and its
 * place in it. Until a chain is opened every method fails.
 */
export class TradeStore extends Context.Service<
  TradeStore,
  {
    /**
     * Selects the chain of all other methods, and returns its stored progress; null when nothing of it is stored. The access
     * is `shared` unless another is given; opening again changes it.
     */
    open(chain: ChainIdentity, access?: StoreAccess): Effect.Effect<TradeProgress | null, TradeStoreUnavailable>
    /**
     * Stores blocks whole, all of them or none, with the progress they make; durable when it returns. Blocks may come
     * again, and trades that are there stay as they are. For one writer at a time.
     */
    append(batches: ReadonlyArray<StoredBatch>): Effect.Effect<void, TradeStoreUnavailable>
    /**
     * Stores blocks that were read again, with the gap that they fill or the older beginning that they make, all or nothing;
     * durable when it returns. Trades after them take their new prices, and closed candles of both are folded anew. Beside
     * the writer.
     */
    repair(repair: Repair): Effect.Effect<void, TradeStoreUnavailable>
    /** Fails while a repair could not be stored. */
    readonly repairable: Effect.Effect<void, TradeStoreUnavailable>
    /** The stored progress of the chain; null when nothing of it is stored. */
    readonly progress: Effect.Effect<TradeProgress | null, TradeStoreUnavailable>
    /** Stored blocks with trades or launches in them, the oldest first, trades in the order of the chain. */
    since(request: RestoreRequest): Stream.Stream<StoredBatch, TradeStoreUnavailable>
    /** The newest launches from before a second, at most so many, oldest first. */
    launchesBefore(second: number, most: number): Effect.Effect<ReadonlyArray<StoredLaunch>, TradeStoreUnavailable>
    /** The newest swaps of SOL against dollars in pools, up to and including a slot, at most so many, oldest first. */
    solSwaps(slot: number, most: number): Effect.Effect<ReadonlyArray<TapeTrade>, TradeStoreUnavailable>
    /**
     * The newest swaps of every token against SOL or a dollar in pools, at most so many of each, in the order of the chain: up
     * to and including a slot, of this time before the newest of them in milliseconds.
     */
    moneySwaps(
      slot: number,
      spanMs: number,
      most: number
    ): Effect.Effect<ReadonlyArray<TapeTrade>, TradeStoreUnavailable>
    /** The same swaps of single tokens, of each up to and including a slot of its own. */
    moneySwapsOf(request: MoneySwapsRequest): Effect.Effect<ReadonlyArray<TapeTrade>, TradeStoreUnavailable>
    /** The swaps of two tokens that later prices of tokens can still change, in the order of the chain. */
    tokenSwapsAfter(request: TokenSwapsRequest): Effect.Effect<ReadonlyArray<TapeTrade>, TradeStoreUnavailable>
    /** The newest trades and transfers of a wallet, newest first: all but those of role `pool`. */
    ofWallet(wallet: Address, limit: number): Effect.Effect<ReadonlyArray<TapeTrade>, TradeStoreUnavailable>
    /** The newest swaps of a mint in pools before a place, as far as one query searches. */
    swapsOf(request: TradesRequest): Effect.Effect<TradesFound, TradeStoreUnavailable>
    /** The largest swaps of a mint in pools, as far as one query searches. */
    largestOf(request: LargestRequest): Effect.Effect<LargestFound, TradeStoreUnavailable>
    /** Changes of the supply of a mint by block, the newest ones, in the order of the chain. */
    supplyOf(request: SupplyRequest): Effect.Effect<StoredSupply, TradeStoreUnavailable>
    /** Candles of a token, from closed ones and from the trades of those that are still open. */
    bars(request: StoredBarsRequest): Effect.Effect<StoredBars, TradeStoreUnavailable>
    /** The trades that a candle is made of, in the order of the chain. */
    prints(request: PrintsRequest): Effect.Effect<ReadonlyArray<Print>, TradeStoreUnavailable>
    /** Closed candles from a second on that have changed since they were closed; none where candles are not stored. */
    revised(second: number): Effect.Effect<ReadonlyArray<RevisedBar>, TradeStoreUnavailable>
    /** The newest snapshot of memory, of whatever layout and repairs; null when there is none. */
    readonly snapshot: Effect.Effect<StoredSnapshot | null, TradeStoreUnavailable>
    /** A part of a snapshot as it was given; null once another has replaced it. */
    snapshotPart(id: string, number: number): Effect.Effect<Uint8Array | null, TradeStoreUnavailable>
    /**
     * Replaces the snapshot, all or nothing; durable when it returns. Null, with nothing replaced, when a repair has changed
     * trades that the state does not have, or blocks of the state are not stored. For the writer.
     */
    keepSnapshot(content: SnapshotContent): Effect.Effect<StoredSnapshot | null, TradeStoreUnavailable>
    /** Closes the buckets that no late trade can change any more. For the writer, now and then. */
    readonly closeBars: Effect.Effect<void, TradeStoreUnavailable>
    /** For how many seconds the bars of a resolution are kept. */
    readonly keptSeconds: (resolution: Resolution) => number
  }
>()("fathom/market/store/TradeStore") {
  /** Trades in memory, for tests and embedders. They are lost with the process. */
  static readonly layerMemory: Layer.Layer<TradeStore> = Layer.sync(TradeStore, () => TradeStore.of(makeMemoryTrades()))
}
