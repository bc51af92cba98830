import { describe } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import * as TradeStoreClickHouse from "../../../src/market/clickhouse/TradeStoreClickHouse.ts"
import { client, isAvailable, sharedEngine } from "../../support/clickhouse/engine.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { barParity } from "../store/barParity.ts"
import { poolBars } from "../store/poolBarsContract.ts"
import { snapshotContract } from "../store/snapshotContract.ts"
import { supplyContract } from "../store/supplyContract.ts"
import { tokenSwapsContract } from "../store/tokenSwapsContract.ts"
import { tradePagesContract } from "../store/tradePagesContract.ts"
import { tradeStoreContract } from "../store/tradeStoreContract.ts"
import { transferContract } from "../store/transferContract.ts"

describe.runIf(isAvailable && TestDatabase.isAvailable)("the contract", () => {
  const engine = sharedEngine()
  const settings = Layer.unwrap(
    Effect.sync(() =>
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({
          CLICKHOUSE_TRADES_KEPT: "20000 days",
          CLICKHOUSE_SPOOL: `${engine().folder}/spool`
        })
      )
    )
  )
  const store = TradeStoreClickHouse.layer.pipe(Layer.provide([TestDatabase.layer, client(engine), settings]))
  tradeStoreContract("TradeStoreClickHouse.layer", store)
  snapshotContract("snapshots in TradeStoreClickHouse.layer", store)
  supplyContract("changes of supply in TradeStoreClickHouse.layer", store)
  transferContract("transfers in TradeStoreClickHouse.layer", store)
  tokenSwapsContract("swaps that price tokens in TradeStoreClickHouse.layer", store)
  tradePagesContract("TradeStoreClickHouse.layer, by page", store)
  poolBars("bars of a pool in TradeStoreClickHouse.layer", store)
  barParity(store, 1)
})
