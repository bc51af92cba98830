/** The stores of a market. One layer provides all of them, because they share the open chain. */
import { Context, Effect } from "effect"
import { BlockStore } from "./BlockStore.ts"
import { CandleHistory } from "./CandleHistory.ts"
import { HolderHistory } from "./HolderHistory.ts"
import { SnapshotStore } from "./SnapshotStore.ts"
import { TradeHistory } from "./TradeHistory.ts"

export interface MarketStores {
  readonly blocks: BlockStore["Service"]
  readonly trades: TradeHistory["Service"]
  readonly candles: CandleHistory["Service"]
  readonly snapshots: SnapshotStore["Service"]
  readonly holders: HolderHistory["Service"]
}

/** The stored trades, candles and holders that reads use. */
export type StoredHistory = Pick<MarketStores, "candles" | "holders" | "trades">

/** The services that a layer of market stores provides. */
export type MarketStorePorts = BlockStore | CandleHistory | HolderHistory | SnapshotStore | TradeHistory

/** The market stores of the context. */
export const marketStores: Effect.Effect<MarketStores, never, MarketStorePorts> = Effect.gen(function* () {
  return {
    blocks: yield* BlockStore,
    trades: yield* TradeHistory,
    candles: yield* CandleHistory,
    snapshots: yield* SnapshotStore,
    holders: yield* HolderHistory
  }
})

/** A context with these stores. */
export const contextOf = ({
  blocks,
  candles,
  holders,
  snapshots,
  trades
}: MarketStores): Context.Context<MarketStorePorts> =>
  Context.make(BlockStore, blocks).pipe(
    Context.add(TradeHistory, trades),
    Context.add(CandleHistory, candles),
    Context.add(SnapshotStore, snapshots),
    Context.add(HolderHistory, holders)
  )
