import { describe } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import * as MarketStoresClickHouse from "../../../src/market/history/MarketStoresClickHouse.ts"
import { client, isAvailable, sharedEngine } from "../../support/clickhouse/engine.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { barParity } from "../tape/barParity.ts"
import { marketStoresContract } from "./marketStoresContract.ts"

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
  const store = MarketStoresClickHouse.layer.pipe(Layer.provide([TestDatabase.layer, client(engine), settings]))
  marketStoresContract("MarketStoresClickHouse.layer", store)
  barParity(store, 1)
})
