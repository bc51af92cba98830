import type { Launch } from "../../api/schemas/Launch.ts"
import type { PricedBatch } from "./TradeBatch.ts"

/** The part of a block that is stored. */
export type StoredBatch = Pick<
  PricedBatch,
  | "slot"
  | "timeMs"
  | "trades"
  | "transfers"
  | "launches"
  | "supply"
  | "liquidity"
  | "openings"
  | "afterGap"
  | "forkedFrom"
  | "earlierForks"
>

/** A launch and its block. */
export interface StoredLaunch {
  readonly slot: number
  readonly timeMs: number
  readonly launch: Launch
}

/**
 * Selects blocks after slot `after`, from `second` on, and up to and including `untilMs` when it is given. Older blocks
 * may be left out once the newest ones hold `most` trades.
 */
export interface RestoreRequest {
  readonly second: number
  readonly after: number
  readonly most: number
  readonly untilMs?: number | undefined
}

/** No block is later than this time, and every store can write it. */
export const LAST_MS = Date.UTC(2200, 0, 1)
