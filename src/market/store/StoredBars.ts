import type { Mint } from "../../domain/Address.ts"
import type { Resolution } from "../candles/resolutions.ts"

/** Selects buckets of a token that begin at `from` (null is open), from trades before `before`. Seconds. */
export interface StoredBarsRequest {
  readonly mint: Mint
  readonly resolution: Resolution
  readonly from: number | null
  readonly before: number
  /** The newest so many. */
  readonly limit: number
}

/** Buckets in the layout of `bar.ts`, newest first, without trades at or after `before` of the request. */
export interface StoredBars {
  readonly cells: Float64Array
  /** True when the store has older buckets than these. */
  readonly isCut: boolean
}
