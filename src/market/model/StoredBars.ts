import type { Address, Mint } from "../../domain/Address.ts"
import type { Denomination } from "./bar.ts"
import type { Resolution } from "./resolutions.ts"
import type { TradeProgress } from "./TradeProgress.ts"

/**
 * Selects buckets of a token that begin at or after `from` (null has no bound), made of trades before `before`. Times
 * are in seconds.
 */
export interface StoredBarsRequest {
  readonly mint: Mint
  readonly resolution: Resolution
  /**
   * Only this pool; all pools unless given. Bars of a pool are made of trades, so they reach back only as far as trades
   * are kept.
   */
  readonly pool?: Address
  readonly from: number | null
  readonly before: number
  /** The newest `limit` buckets. */
  readonly limit: number
}

/** Selects the oldest `limit` pool trades of a token within `[from, before)`, in seconds. */
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
  /** Width and start of the candle in seconds. */
  readonly width: number
  readonly second: number
  /** The number of trades that the candle gained. */
  readonly revision: number
}

/** Buckets in the layout of `bar.ts`, newest first, without trades at or after `before` of the request. */
export interface StoredBars {
  readonly cells: Float64Array
  /** True when the store has older buckets. */
  readonly isCut: boolean
  /** Time of the newest stored block, in milliseconds; absent when nothing is stored. */
  readonly readToMs?: number
  /** Slot of the newest stored block. The newest bars are made of the trades up to and including it. */
  readonly readToSlot?: number
}

/** Bars that were read up to this progress; unchanged when nothing is stored. */
export const readTo = (bars: StoredBars, progress: TradeProgress | null): StoredBars =>
  progress === null ? bars : { ...bars, readToMs: progress.timeMs, readToSlot: progress.slot }
