/** The stores of a market. One layer provides all four, because they share the open chain. */
import { Context, Effect } from "effect"
import { BlockStore } from "./BlockStore.ts"
import { CandleHistory } from "./CandleHistory.ts"
import { SnapshotStore } from "./SnapshotStore.ts"
import { TradeHistory } from "./TradeHistory.ts"

export interface MarketStores {
  readonly blocks: BlockStore["Service"]
  readonly trades: TradeHistory["Service"]
  readonly candles: CandleHistory["Service"]
  readonly snapshots: SnapshotStore["Service"]
}

/** The stored trades and candles that reads use. */
export type StoredHistory = Pick<MarketStores, "candles" | "trades">

/** The services that a layer of market stores provides. */
export type MarketStorePorts = BlockStore | CandleHistory | SnapshotStore | TradeHistory

/** The market stores of the context. */
export const marketStores: Effect.Effect<MarketStores, never, MarketStorePorts> = Effect.gen(function* () {
  return {
    blocks: yield* BlockStore,
    trades: yield* TradeHistory,
    candles: yield* CandleHistory,
    snapshots: yield* SnapshotStore
  }
})

/** A context with these stores. */
export const contextOf = ({ blocks, candles, snapshots, trades }: MarketStores): Context.Context<MarketStorePorts> =>
  Context.make(BlockStore, blocks).pipe(
    Context.add(TradeHistory, trades),
    Context.add(CandleHistory, candles),
    Context.add(SnapshotStore, snapshots)
  )
