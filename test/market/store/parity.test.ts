import { describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { tradeStoreOf } from "../../support/tradeStores.ts"
import { barParity } from "./barParity.ts"

describe.runIf(TestDatabase.isAvailable)("candles", () => {
  barParity(tradeStoreOf(Layer.unwrap(Effect.map(TestDatabase.create, TestDatabase.connect))), 6)
})
