import { Context, type Effect, type Stream } from "effect"
import type { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import type { ChainIdentity } from "./ChainIdentity.ts"
import type { RestoreRequest, StoredBatch, StoredLaunch } from "./StoredBatch.ts"
import type { Repair, TradeProgress } from "./TradeProgress.ts"

/**
 * How a process uses a chain. A `sole` process is the only writer until another process claims the chain; its writes fail
 * from then on. A `shared` process writes beside others. A `read` process writes nothing and sees what others write.
 */
export type StoreAccess = "read" | "shared" | "sole"

/**
 * Blocks that outlive the process, of one chain at a time, and how far they reach. A trade is identified by its slot and its
 * place in it. Every method of this store and of the other market stores fails until a chain is opened.
 */
export class BlockStore extends Context.Service<
  BlockStore,
  {
    /**
     * Selects the chain of the market stores and returns its stored progress, or null when nothing is stored. The access is
     * `shared` unless another is given. Opening the chain again changes the access.
     */
    open(chain: ChainIdentity, access?: StoreAccess): Effect.Effect<TradeProgress | null, TradeStoreUnavailable>
    /** The stored progress of the chain; null when nothing is stored. */
    readonly progress: Effect.Effect<TradeProgress | null, TradeStoreUnavailable>
    /**
     * Stores blocks and the progress they make, all or nothing; durable when it returns. Blocks may be given again: trades
     * that are already stored stay as they are. For one writer at a time.
     */
    append(batches: ReadonlyArray<StoredBatch>): Effect.Effect<void, TradeStoreUnavailable>
    /** Closes the candles that no late trade can change any more. The writer calls it after it appends. */
    readonly closeBars: Effect.Effect<void, TradeStoreUnavailable>
    /**
     * Stores blocks that were read again, all or nothing; durable when it returns. They fill a gap or move the oldest block
     * back. Later trades get their new prices, and the closed candles of both are folded again. May run beside the writer.
     */
    repair(repair: Repair): Effect.Effect<void, TradeStoreUnavailable>
    /** Fails while a repair could not be stored. */
    readonly repairable: Effect.Effect<void, TradeStoreUnavailable>
    /** The stored blocks that have trades or launches, oldest first, each with its trades in the order of the chain. */
    since(request: RestoreRequest): Stream.Stream<StoredBatch, TradeStoreUnavailable>
    /** The newest `most` launches from before a second, oldest first. */
    launchesBefore(second: number, most: number): Effect.Effect<ReadonlyArray<StoredLaunch>, TradeStoreUnavailable>
  }
>()("fathom/market/model/BlockStore") {}
