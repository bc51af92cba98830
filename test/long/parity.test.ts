import { describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as TestDatabase from "../support/TestDatabase.ts"
import { storesOn } from "../support/marketStores.ts"
import { barParity } from "../market/tape/barParity.ts"

describe.runIf(TestDatabase.isAvailable)("candles", () => {
  barParity(storesOn(Layer.unwrap(Effect.map(TestDatabase.create, TestDatabase.connect))), 6)
})
