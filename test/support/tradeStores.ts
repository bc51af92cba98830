/** Trade stores of tests: the trades of tests are of another time, and no retention takes them away. */
import { ConfigProvider, Layer } from "effect"
import * as TradeStorePg from "../../src/market/store/TradeStorePg.ts"
import * as TestDatabase from "./TestDatabase.ts"

const keepsAll = ConfigProvider.layer(ConfigProvider.fromUnknown({ TRADES_KEPT: "20000 days" }))

/** A trade store on a database. */
export const tradeStoreOf = (database: ReturnType<typeof TestDatabase.connect>) =>
  TradeStorePg.layer.pipe(Layer.provide([database, keepsAll]))

/** A trade store on a database of its own. */
export const layerPg = TradeStorePg.layer.pipe(Layer.provide([TestDatabase.layer, keepsAll]))
