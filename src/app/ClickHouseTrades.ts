/** Trades in ClickHouse. Loaded where `CLICKHOUSE_URL` is set. */
import { Layer } from "effect"
import * as MarketStoresClickHouse from "../market/history/MarketStoresClickHouse.ts"
import * as ClickHouseHttp from "../storage/clickhouse/ClickHouseHttp.ts"
import * as Database from "../storage/Database.ts"

/** The market stores on the server at this address. With `cleansUp` the process also sets the retention. */
export const layer = (url: string, cleansUp: boolean, database = Database.layer) =>
  (cleansUp ? MarketStoresClickHouse.layer : MarketStoresClickHouse.layerWithoutCleanup).pipe(
    Layer.provide([ClickHouseHttp.layer(url), database])
  )
