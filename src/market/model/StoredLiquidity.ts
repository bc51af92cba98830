/** Stored changes of the liquidity of pools. */
import type { LiquidityChange, LiquidityEventKind } from "../../api/schemas/LiquidityEvent.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import type { StoredBatch } from "./StoredBatch.ts"
import { newestFirst, type TradePlace } from "./TradesRequest.ts"

/** A change of liquidity and its block. */
export interface LiquidityRecord extends LiquidityChange {
  readonly slot: number
  readonly timeMs: number
}

/** Selects the newest `limit` changes before a place. Null does not filter. */
export interface LiquidityRequest {
  readonly mint: Mint | null
  readonly pool: Address | null
  readonly kind: LiquidityEventKind | null
  /** Block times in `[fromMs, toMs)`. */
  readonly fromMs: number | null
  readonly toMs: number | null
  readonly before: TradePlace | null
  readonly limit: number
}

/** Changes of liquidity in the store. */
export interface StoredLiquidity {
  /** Newest first. */
  readonly events: ReadonlyArray<LiquidityRecord>
  /** From this second on every stored block has its changes; minus infinity when all have. */
  readonly from: number
  /** The newest stored block; 0 for none. */
  readonly toSlot: number
}

/** New pools in the store. */
export interface StoredOpenings {
  /** Their first liquidity, newest first. */
  readonly events: ReadonlyArray<LiquidityRecord>
  /** From this second on no pool is missing; minus infinity when none is. */
  readonly from: number
}

const isRequested = (event: LiquidityRecord, { before, fromMs, kind, mint, pool, toMs }: LiquidityRequest): boolean =>
  (mint === null || event.sides.some((side) => side.mint === mint)) &&
  (pool === null || event.pool === pool) &&
  (kind === null || event.kind === kind) &&
  (fromMs === null || event.timeMs >= fromMs) &&
  (toMs === null || event.timeMs < toMs) &&
  (before === null || newestFirst(before, event) < 0)

/** The first liquidity of the newest pools in these blocks that were created since a time, newest first. */
export const poolsOpenedIn = (
  batches: ReadonlyArray<StoredBatch>,
  fromMs: number,
  most: number
): ReadonlyArray<LiquidityRecord> =>
  batches
    .filter(({ timeMs }) => timeMs >= fromMs)
    .flatMap(({ liquidity = [], slot, timeMs }) => liquidity.map((change) => ({ ...change, slot, timeMs })))
    .filter(({ opens }) => opens)
    .toSorted(newestFirst)
    .slice(0, most)

/** The requested changes of these blocks, newest first. */
export const liquidityIn = (
  batches: ReadonlyArray<StoredBatch>,
  request: LiquidityRequest
): ReadonlyArray<LiquidityRecord> =>
  batches
    .flatMap(({ liquidity = [], slot, timeMs }) => liquidity.map((change) => ({ ...change, slot, timeMs })))
    .filter((event) => isRequested(event, request))
    .toSorted(newestFirst)
    .slice(0, request.limit)
