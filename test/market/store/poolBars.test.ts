import { describe } from "@effect/vitest"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { layerPg } from "../../support/tradeStores.ts"
import { poolBars } from "./poolBarsContract.ts"

poolBars("bars of a pool in TradeStore.layerMemory", TradeStore.layerMemory)

describe.runIf(TestDatabase.isAvailable)("bars of a pool in a database", () => {
  poolBars("TradeStorePg.layer", layerPg)
})
