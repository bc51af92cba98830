/** Pages of a pinned view, as they may be told now: what has expired is told without its value. */
import type { DiscoveryRow, MovementRow } from "../../domain/market/MarketViews.ts"
import { asOf, type Coverage, incomplete, type Status } from "../../domain/Scalar.ts"
import { MEASURE_MS } from "./measures.ts"
import type { RankedView } from "./movement.ts"
import type { Pin } from "./PinnedViews.ts"

/** How well an answer of this coverage is known. */
export const statusOf = ({ complete, reason }: Coverage): Status =>
  complete ? "known" : reason === "source_stale" ? "stale" : "partial"

/** A page of a view, and where the next one begins. */
export const pageOf = <Row>(view: RankedView<Row>, pin: Pin, limit: number, nowMs: number) => {
  const place = pin.place + limit
  const { excluded, observedAtMs, rows } = view
  const coverage = nowMs > observedAtMs + MEASURE_MS ? incomplete("source_stale") : view.coverage
  return {
    data: rows.slice(pin.place, place),
    next: place < rows.length ? { ...pin, place } : null,
    excluded,
    observedAtMs,
    status: statusOf(coverage),
    coverage
  }
}

/** A row of a ranking as of now. */
export const movementRow = (row: MovementRow, nowMs: number): MovementRow => ({
  ...row,
  priceUsd: asOf(row.priceUsd, nowMs),
  changePct: asOf(row.changePct, nowMs),
  volumeUsd: asOf(row.volumeUsd, nowMs),
  liquidityUsd: asOf(row.liquidityUsd, nowMs),
  marketCapUsd: asOf(row.marketCapUsd, nowMs),
  trades: asOf(row.trades, nowMs),
  traders: asOf(row.traders, nowMs)
})

/** A discovered token as of now. */
export const discoveryRow = (row: DiscoveryRow, nowMs: number): DiscoveryRow => ({
  ...row,
  curveProgressPct: asOf(row.curveProgressPct, nowMs),
  priceUsd: asOf(row.priceUsd, nowMs),
  marketCapUsd: asOf(row.marketCapUsd, nowMs),
  liquidityUsd: asOf(row.liquidityUsd, nowMs),
  volumeUsd: asOf(row.volumeUsd, nowMs),
  trades: asOf(row.trades, nowMs),
  traders: asOf(row.traders, nowMs)
})
