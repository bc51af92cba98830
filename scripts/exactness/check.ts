/** Compares a fixture with the engine, including cases in the formats of the programs' own tests. */
import { compareFixture, type Tally } from "../../src/quotes/execution/compareFixture.ts"
import type { Fixture } from "../../src/quotes/execution/poolFixture.ts"
import { pumpSwapVectors } from "./pumpSwapVectors.ts"
import { whirlpoolVectors } from "./whirlpoolVectors.ts"

const formats = [pumpSwapVectors, whirlpoolVectors]

/** Compares every case and every error. `note` receives a line for each that is not exact. */
export const check = (fixture: Fixture, note: (line: string) => void): Tally => compareFixture(fixture, note, formats)
