import { Context, type Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"

/** The holders of a token at one time, in exact units. */
export interface HolderSnapshot {
  readonly mint: Mint
  /** The beginning of the hour, in milliseconds since the Unix epoch. One snapshot is kept for each hour. */
  readonly hourMs: number
  /** When the figures were taken, and the slot of their newest block. */
  readonly atMs: number
  readonly slot: number
  readonly holders: number
  /** Units in all token accounts. */
  readonly held: bigint
  /** Units of the ten and of the fifty largest owners without pools, curves and burn addresses, and of those. */
  readonly top10: bigint
  readonly top50: bigint
  readonly excluded: bigint
  /** True when all pools of the token were known, which the concentrations leave out. */
  readonly poolsKnown: boolean
}

/** Selects the newest `limit` snapshots of a mint in hours of `[fromMs, toMs)`. Null is no bound. */
export interface HolderHistoryRequest {
  readonly mint: Mint
  readonly fromMs: number | null
  readonly toMs: number | null
  readonly limit: number
}

/** Hourly snapshots of the holders of tokens of the open chain. */
export class HolderHistory extends Context.Service<
  HolderHistory,
  {
    /** Stores snapshots. The first of an hour is kept. */
    keep(snapshots: ReadonlyArray<HolderSnapshot>): Effect.Effect<void, TradeStoreUnavailable>
    /** Newest first. */
    of(request: HolderHistoryRequest): Effect.Effect<ReadonlyArray<HolderSnapshot>, TradeStoreUnavailable>
  }
>()("fathom/market/model/HolderHistory") {}
