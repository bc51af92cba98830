/** Fixture cases that describe their own pool, instead of naming one in the dump. */
import type { Pool, Swap, Unpriceable } from "../../programs/interface/Program.ts"
import { bigintOf, type Entry, type Fixture } from "./poolFixture.ts"

/** One format of cases. */
export interface CaseFormat {
  readonly describes: (entry: Entry) => boolean
  /** The pool of the case: account bytes, decoded by the engine. */
  readonly decode: (fixture: Fixture, entry: Entry) => Pool | Unpriceable
  /** The trade as a plain case: direction, kind and amount. */
  readonly trade: (entry: Entry) => Entry
  readonly agrees: (entry: Entry, swap: Swap) => boolean
}

/** True when a swap equals what the case expects, to the unit. */
export const agrees = (entry: Entry, swap: Swap): boolean => {
  const expectedIn = bigintOf(entry, "expectedIn")
  const expectedOut = bigintOf(entry, "expectedOut") ?? bigintOf(entry, "amountOut")
  return swap.amountOut === expectedOut && (expectedIn === undefined || swap.amountIn === expectedIn)
}
