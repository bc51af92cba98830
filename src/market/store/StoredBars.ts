import type { Address, Mint } from "../../domain/Address.ts"
import type { Denomination } from "../candles/bar.ts"
import type { Resolution } from "../candles/resolutions.ts"

/** Selects buckets of a token that begin at `from` (null is open), from trades before `before`. Seconds. */
export interface StoredBarsRequest {
  readonly mint: Mint
  readonly resolution: Resolution
  /** Only of this pool; all unless given. Bars of a pool are made of trades, and reach back only as far as those are kept. */
  readonly pool?: Address
  readonly from: number | null
  readonly before: number
  /** The newest so many. */
  readonly limit: number
}

/** Selects the trades of a token in pools within `[from, before)`, in seconds: the oldest so many. */
export interface PrintsRequest {
  readonly mint: Mint
  readonly denom: Denomination
  readonly pool?: Address
  readonly from: number
  readonly before: number
  readonly limit: number
}

/** A closed candle that changed after it was closed. */
export interface RevisedBar {
  readonly mint: Mint
  /** Width and start in seconds. */
  readonly width: number
  readonly second: number
  /** Trades that it gained. */
  readonly revision: number
}

/** Buckets in the layout of `bar.ts`, newest first, without trades at or after `before` of the request. */
export interface StoredBars {
  readonly cells: Float64Array
  /** True when the store has older buckets than these. */
  readonly isCut: boolean
  /** Time of the newest stored block, in milliseconds; absent when none is stored. */
  readonly readToMs?: number
  /** Its slot: the newest bars are made of the trades up to and including it. */
  readonly readToSlot?: number
}
