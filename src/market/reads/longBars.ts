/** Bars of a window from memory, and older bars from the store. */
import { Effect } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import { type ChartWindow, nextBucket } from "./chartWindow.ts"
import { type BarPage, type BarWindow, foldBars, walkStored } from "../memory/foldBars.ts"
import { BAR, START } from "../model/bar.ts"
import { bucketStart, widthOf } from "../model/resolutions.ts"
import { barsOfTrades } from "../history/barsOfTrades.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { CandleHistory } from "../model/CandleHistory.ts"
import type { StoredBars, StoredBarsRequest } from "../model/StoredBars.ts"
import type { Market } from "../tape/Market.ts"

/** The bars that the store adds to a chart. */
export interface OlderBars {
  /** Null when no bars are older than those in memory. */
  readonly bars: StoredBars | null
  /** True when older bars are stored but the store did not return them in time. */
  readonly isMissing: boolean
  /** True when all bars come from the store: bars of one pool, and any bars while memory is restored. */
  readonly isWhole: boolean
}

/** A page without bars. */
export const NO_BARS: BarPage = { bars: [], unpriced: 0, truncated: false, trimmed: false }

/** The bars of a token in a window. */
export const barsOf = ({ state }: Market["Service"], older: OlderBars, mint: Mint, window: BarWindow): BarPage => {
  const { bars, isWhole } = older
  if (isWhole) {
    return bars === null ? NO_BARS : foldBars(walkStored(bars), window, false, bars.isCut)
  }
  return state.bars(mint, window, bars ?? undefined) ?? NO_BARS
}

/** The second before which bars are read from the store, because later bars are in memory; null when none are older. */
const storeEnd = (tape: Market["Service"], mint: Mint, { from, resolution, to }: BarWindow, nowMs: number) => {
  const held = Math.min(tape.heldSince(mint, resolution), nextBucket(resolution, Math.floor(nowMs / 1000)))
  const createdAtMs = tape.launches.of(mint)?.createdAtMs ?? null
  const began = createdAtMs === null ? tape.firstRead() : Math.floor(createdAtMs / 1000)
  const before = Math.min(held, to ?? held)
  return before > Math.max(from ?? began, began) ? before : null
}

/** The bars of a window that are stored but not in memory; null when there are none. */
const olderOf = (
  tape: Market["Service"],
  mint: Mint,
  window: BarWindow,
  nowMs: number
): Effect.Effect<StoredBars | null, TradeStoreUnavailable> => {
  const stored = tape.stored()
  const before = storeEnd(tape, mint, window, nowMs)
  const held = tape.state.bars(mint, window)
  return stored === null || before === null || held?.truncated === true
    ? Effect.succeed(null)
    : stored.candles.bars({ mint, resolution: window.resolution, from: window.from, before, limit: window.limit + 1 })
}

/** The first search for the bars of a pool covers this many times the wanted bars. */
const FIRST_REACH = 2

/** Adds bars of blocks that are not stored yet to the bars of a pool. A bucket with trades of both has two parts. */
const withUnstored = (
  bars: StoredBars,
  unstored: ReadonlyArray<StoredBatch>,
  request: StoredBarsRequest
): StoredBars => {
  const newer = unstored.filter(({ slot }) => slot > (bars.readToSlot ?? 0))
  const last = newer.at(-1)
  if (last === undefined) {
    return bars
  }
  const made = barsOfTrades(
    newer.flatMap(({ trades }) => trades),
    request
  )
  const parts = [made.cells, bars.cells].flatMap((cells) =>
    Array.from({ length: cells.length / BAR }, (_, place) => cells.subarray(place * BAR, (place + 1) * BAR))
  )
  const cells = new Float64Array(parts.length * BAR)
  // Newest first. Within a bucket the unstored part comes first, because it is later.
  parts
    .toSorted((a, b) => (b[START] ?? 0) - (a[START] ?? 0))
    .forEach((part, place) => {
      cells.set(part, place * BAR)
    })
  return { cells, isCut: made.isCut || bars.isCut, readToMs: last.timeMs, readToSlot: last.slot }
}

/**
 * Bars from the store and from the blocks that are not stored yet, none from memory. Searches recent trades first, then
 * all.
 */
export const wholeBars = (
  stored: Pick<CandleHistory["Service"], "bars">,
  unstored: ReadonlyArray<StoredBatch>,
  ofWhat: { readonly mint: Mint; readonly pool?: Address },
  { from, limit, resolution, to }: ChartWindow,
  nowMs: number
) =>
  Effect.gen(function* () {
    const before = to ?? nextBucket(resolution, Math.floor(nowMs / 1000))
    const request = { ...ofWhat, resolution, from, before, limit: limit + 1 }
    const near = bucketStart(resolution, before - FIRST_REACH * limit * widthOf[resolution])
    const first = near > (from ?? 0) ? yield* stored.bars({ ...request, from: near }) : null
    const bars = first?.isCut === true ? first : yield* stored.bars(request)
    return { bars: withUnstored(bars, unstored, request), isMissing: false, isWhole: true }
  }).pipe(
    Effect.catchTag("TradeStoreUnavailable", () =>
      Effect.succeed<OlderBars>({ bars: null, isMissing: true, isWhole: true })
    )
  )

/** The stored bars of a chart; none while the store is unavailable. */
export const olderBars = (tape: Market["Service"], mint: Mint, window: ChartWindow, nowMs: number) =>
  olderOf(tape, mint, window, nowMs).pipe(
    Effect.map((bars): OlderBars => ({ bars, isMissing: false, isWhole: false })),
    Effect.catchTag("TradeStoreUnavailable", () =>
      Effect.succeed<OlderBars>({ bars: null, isMissing: true, isWhole: false })
    )
  )
