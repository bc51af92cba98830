import type { Mint } from "../../domain/Address.ts"
import type { Pool } from "../../programs/interface/Program.ts"

/** Pools as a graph whose nodes are mints. */
export interface PoolGraph {
  /** Mints that share a pool with this one. */
  readonly partnersOf: (mint: Mint) => Iterable<Mint>
  /** Pools that trade both mints. */
  readonly poolsBetween: (a: Mint, b: Mint) => ReadonlyArray<Pool>
}
