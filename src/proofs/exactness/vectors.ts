/** Cases that describe a pool instead of naming one in the dump. */
import type { Pool, Swap, Unpriceable } from "../../programs/Program.ts"
import { bigintOf, type Entry, type Fixture } from "./fixture.ts"

/** One format of such cases. */
export interface Vectors {
  readonly describes: (entry: Entry) => boolean
  /** The pool of the case, from real account bytes through the engine's own decoding. */
  readonly decode: (fixture: Fixture, entry: Entry) => Pool | Unpriceable
  /** The trade in the words of an ordinary case: its direction, kind and amount. */
  readonly trade: (entry: Entry) => Entry
  readonly agrees: (entry: Entry, swap: Swap) => boolean
}

/** True when a swap equals the expectation of an ordinary case, to the unit. */
export const agrees = (entry: Entry, swap: Swap): boolean => {
  const expectedIn = bigintOf(entry, "expectedIn")
  const expectedOut = bigintOf(entry, "expectedOut") ?? bigintOf(entry, "amountOut")
  return swap.amountOut === expectedOut && (expectedIn === undefined || swap.amountIn === expectedIn)
}
