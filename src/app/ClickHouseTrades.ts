/** Trades in ClickHouse. Loaded where `CLICKHOUSE_URL` is set. */
import { Layer } from "effect"
import * as TradeStoreClickHouse from "../market/clickhouse/TradeStoreClickHouse.ts"
import * as ClickHouseHttp from "../storage/clickhouse/ClickHouseHttp.ts"
import * as Database from "../storage/Database.ts"

/** A trade store on the server at this address. The process that cleans up also sets the retention. */
export const layer = (url: string, cleansUp: boolean) =>
  (cleansUp ? TradeStoreClickHouse.layer : TradeStoreClickHouse.layerWithoutCleanup).pipe(
    Layer.provide([ClickHouseHttp.layer(url), Database.layer])
  )
