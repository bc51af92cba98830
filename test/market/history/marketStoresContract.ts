import type { Layer } from "effect"
import type { MarketStorePorts } from "../../../src/market/model/MarketStores.ts"
import { blockStoreContract } from "./blockStoreContract.ts"
import { candleHistoryContract } from "./candleHistoryContract.ts"
import { snapshotStoreContract } from "./snapshotStoreContract.ts"
import { tradeHistoryContract } from "./tradeHistoryContract.ts"

/** The contracts of the four ports that a layer of market stores provides. */
export const marketStoresContract = <E>(name: string, stores: Layer.Layer<MarketStorePorts, E>) => {
  blockStoreContract(`BlockStore of ${name}`, stores)
  tradeHistoryContract(`TradeHistory of ${name}`, stores)
  candleHistoryContract(`CandleHistory of ${name}`, stores)
  snapshotStoreContract(`SnapshotStore of ${name}`, stores)
}
