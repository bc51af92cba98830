/** Market stores of tests. The trades of tests are of another time, so retention is set never to remove them. */
import { ConfigProvider, Context, Effect, Layer } from "effect"
import * as MarketStoresPg from "../../src/market/history/MarketStoresPg.ts"
import { BlockStore } from "../../src/market/model/BlockStore.ts"
import { CandleHistory } from "../../src/market/model/CandleHistory.ts"
import { HolderHistory } from "../../src/market/model/HolderHistory.ts"
import { SnapshotStore } from "../../src/market/model/SnapshotStore.ts"
import { TradeHistory } from "../../src/market/model/TradeHistory.ts"
import { contextOf, type MarketStorePorts, type MarketStores } from "../../src/market/model/MarketStores.ts"
import { makeMemoryStores } from "../../src/testing/MemoryStores.ts"
import * as TestDatabase from "./TestDatabase.ts"

const keepsAll = ConfigProvider.layer(ConfigProvider.fromUnknown({ TRADES_KEPT: "20000 days" }))

/** Market stores on a database. */
export const storesOn = (database: ReturnType<typeof TestDatabase.connect>) =>
  MarketStoresPg.layer.pipe(Layer.provide([database, keepsAll]))

/** Market stores on a database of their own. */
export const layerPg = MarketStoresPg.layer.pipe(Layer.provide([TestDatabase.layer, keepsAll]))

/** Empty market stores in memory. */
export const memory = Effect.sync(makeMemoryStores)

/** The market stores of a context. */
export const storesFrom = (context: Context.Context<MarketStorePorts>): MarketStores => ({
  blocks: Context.get(context, BlockStore),
  trades: Context.get(context, TradeHistory),
  candles: Context.get(context, CandleHistory),
  snapshots: Context.get(context, SnapshotStore),
  holders: Context.get(context, HolderHistory)
})

/** New market stores of a layer, for the scope. */
export const storesOf = <E>(layer: Layer.Layer<MarketStorePorts, E>) =>
  Effect.map(Effect.orDie(Layer.build(Layer.fresh(layer))), storesFrom)

/** A layer of these market stores. */
export const layerOf = (stores: MarketStores): Layer.Layer<MarketStorePorts> => Layer.succeedContext(contextOf(stores))

/** Methods that replace methods of market stores. */
export type Replacement = { readonly [Port in keyof MarketStores]?: Partial<MarketStores[Port]> }

/** These market stores with some methods replaced. */
export const replaced = (stores: MarketStores, by: Replacement): MarketStores => ({
  blocks: { ...stores.blocks, ...by.blocks },
  trades: { ...stores.trades, ...by.trades },
  candles: { ...stores.candles, ...by.candles },
  snapshots: { ...stores.snapshots, ...by.snapshots },
  holders: { ...stores.holders, ...by.holders }
})
