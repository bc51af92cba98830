/** Pages of what providers added to pools and took from them, from the store and from blocks that are not stored yet. */
import { Effect } from "effect"
import { type LiquidityEvent } from "../../api/schemas/LiquidityEvent.ts"
import { type Coverage, incomplete } from "../../domain/Scalar.ts"
import { liquidityIn, type LiquidityRecord, type LiquidityRequest } from "../model/StoredLiquidity.ts"
import { newestFirst, type TradePlace } from "../model/TradesRequest.ts"
import type { Market } from "../tape/Market.ts"
import { tradesCoverage } from "./tradesCoverage.ts"

/** A page of changes. */
export interface FoundLiquidity {
  /** Newest first, each once. */
  readonly trades: ReadonlyArray<LiquidityRecord>
  readonly next: TradePlace | null
  /** True when the store did not answer. */
  readonly isMissing: boolean
  /** From this second on no change is left out. */
  readonly from: number
}

type Tape = Market["Service"]

const isOther = (event: LiquidityRecord, place: number, all: ReadonlyArray<LiquidityRecord>): boolean => {
  const before = all[place - 1]
  return before?.slot !== event.slot || before.index !== event.index
}

/** The newest requested changes. Unstored blocks are read before the store, so that no block is missing from both. */
export const findLiquidity = Effect.fnUntraced(function* (
  tape: Pick<Tape, "recordedSince" | "stored" | "unstored">,
  request: LiquidityRequest
): Effect.fn.Return<FoundLiquidity> {
  const { limit } = request
  const more = { ...request, limit: limit + 1 }
  const [stored, unstored] = [tape.stored(), tape.unstored()]
  const recent = liquidityIn(unstored, more)
  const known =
    stored === null
      ? null
      : yield* stored.trades.liquidityOf(more).pipe(
          Effect.tapError(({ cause }) => Effect.logWarning("Stored changes of liquidity cannot be read", cause)),
          Effect.orElseSucceed(() => null)
        )
  const all = [...(known?.events ?? []), ...recent].toSorted(newestFirst).filter(isOther)
  const trades = all.slice(0, limit)
  const last = trades.at(-1)
  return {
    trades,
    next: all.length > limit && last !== undefined ? { slot: last.slot, index: last.index } : null,
    isMissing: known === null,
    from: Math.max(known?.from ?? Number.NEGATIVE_INFINITY, tape.recordedSince())
  }
})

/** The coverage of the time between the ends of a page. */
export const liquidityCoverage = (
  tape: Tape,
  request: LiquidityRequest,
  found: FoundLiquidity,
  nowMs: number
): Coverage => {
  const { fromMs, mint, toMs } = request
  const mints = mint === null ? [] : [mint]
  const coverage = tradesCoverage(tape, { mints, filter: { fromMs, toMs } }, found, nowMs)
  const oldest = found.next === null ? null : found.trades.at(-1)
  const start = oldest === undefined || oldest === null ? fromMs : oldest.timeMs
  // A token whose launch was seen had no pool before.
  const begun = mint === null ? null : (tape.launches.of(mint)?.createdAtMs ?? null)
  const needed = Math.max(start ?? Number.NEGATIVE_INFINITY, begun ?? Number.NEGATIVE_INFINITY) / 1000
  return coverage.complete && needed < found.from ? incomplete("not_captured") : coverage
}

/** A change as answers show it. */
export const liquidityEvent = (event: LiquidityRecord): LiquidityEvent => ({
  signature: event.signature,
  slot: event.slot,
  timeMs: event.timeMs,
  kind: event.kind,
  pool: event.pool,
  dex: event.dex,
  provider: event.provider,
  amounts: event.sides,
  opensPool: event.opens,
  includesFees: event.includesFees
})
