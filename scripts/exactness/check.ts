/** Checks a fixture, cases in the formats of the programs' own tests included. */
import { check as checkCases, type Tally } from "../../src/proofs/exactness/check.ts"
import type { Fixture } from "../../src/proofs/exactness/fixture.ts"
import { pumpSwapVectors } from "./pumpSwapVectors.ts"
import { whirlpoolVectors } from "./whirlpoolVectors.ts"

const formats = [pumpSwapVectors, whirlpoolVectors]

/** Checks every case and every error; `note` receives a line for each that is not exact. */
export const check = (fixture: Fixture, note: (line: string) => void): Tally => checkCases(fixture, note, formats)
