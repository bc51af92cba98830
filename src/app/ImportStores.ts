/** The market stores of a command that imports, and its database. Loads ClickHouse only where it is set. */
import { Effect, Layer, Option } from "effect"
import * as MarketStoresPg from "../market/history/MarketStoresPg.ts"
import { clickHouseUrl } from "../storage/clickhouse/ClickHouse.ts"
import * as Database from "../storage/Database.ts"

const storesOver = (database: typeof Database.layer) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const url = yield* clickHouseUrl
      if (Option.isNone(url)) {
        return MarketStoresPg.layerWithoutCleanup
      }
      const history = yield* Effect.promise(() => import("./ClickHouseTrades.ts"))
      return history.layer(url.value, false, database)
    })
  ).pipe(Layer.provideMerge(database))

/** For the only process that uses the database in `DATA_DIR`. */
export const layer = storesOver(Database.layer)

/** For a command that only reads, while a service may run. */
export const layerBeside = storesOver(Database.layerBeside)
