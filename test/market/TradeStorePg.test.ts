import { describe } from "@effect/vitest"
import * as TestDatabase from "../support/TestDatabase.ts"
import { layerPg } from "../support/tradeStores.ts"
import { tradeStoreContract } from "./tradeStoreContract.ts"

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  tradeStoreContract("TradeStorePg.layer", layerPg)
})
