/** Pages of a pinned view as of now: values that have expired are left out. */
import type { DiscoveryRow, Excluded, MarketKnowledge, MovementRow } from "../../api/schemas/MarketViews.ts"
import type { ListedPool } from "../../api/schemas/PoolList.ts"
import type { ScreenRow } from "../../api/schemas/TokenScreen.ts"
import { asOf, type Coverage, incomplete, type Status } from "../../domain/Scalar.ts"
import type { RankedView } from "./movement.ts"
import type { Pin } from "../memory/PinnedViews.ts"
import type { TokenMeasures } from "./tokenMeasures.ts"

/** The status of an answer with this coverage. */
export const statusOf = ({ complete, reason }: Coverage): Status =>
  complete ? "known" : reason === "source_stale" ? "stale" : "partial"

/** A page of a pinned ranking. */
export interface RankedPage<Row> extends MarketKnowledge {
  readonly data: ReadonlyArray<Row>
  readonly excluded: Excluded
  /** The start of the next page; null at the end. */
  readonly next: Pin | null
  /** As in the view. */
  readonly screened?: NonNullable<RankedView<Row>["screened"]>
}

/** The page of a view that begins at a pin. It is stale once the measures of the view have expired. */
export const rankedPage = <Row>(view: RankedView<Row>, pin: Pin, limit: number, nowMs: number): RankedPage<Row> => {
  const place = pin.place + limit
  const { excluded, expiresAtMs, observedAtMs, rows, screened, slot } = view
  const coverage = expiresAtMs !== null && nowMs > expiresAtMs ? incomplete("source_stale") : view.coverage
  return {
    data: rows.slice(pin.place, place),
    next: place < rows.length ? { ...pin, place } : null,
    excluded,
    ...(screened !== undefined && { screened }),
    slot,
    observedAtMs,
    status: statusOf(coverage),
    coverage
  }
}

type SharedMeasures = Omit<TokenMeasures, "changePct" | "changeSince">

const measuresAsOf = (row: SharedMeasures, nowMs: number): SharedMeasures => ({
  priceUsd: asOf(row.priceUsd, nowMs),
  priceMethod: row.priceMethod,
  volumeUsd: asOf(row.volumeUsd, nowMs),
  liquidityUsd: asOf(row.liquidityUsd, nowMs),
  marketCapUsd: asOf(row.marketCapUsd, nowMs),
  trades: asOf(row.trades, nowMs),
  traders: asOf(row.traders, nowMs)
})

/** A row of a ranking as of now. */
export const movementRow = (row: MovementRow, nowMs: number): MovementRow => ({
  ...row,
  ...measuresAsOf(row, nowMs),
  changePct: asOf(row.changePct, nowMs)
})

/** A screened token as of now. */
export const screenRow = (row: ScreenRow, nowMs: number): ScreenRow => ({
  ...row,
  values: Object.fromEntries(Object.entries(row.values).map(([name, scalar]) => [name, asOf(scalar, nowMs)]))
})

/** A listed pool as of now. */
export const poolRow = (row: ListedPool, nowMs: number): ListedPool => ({
  ...row,
  liquidityUsd: asOf(row.liquidityUsd, nowMs),
  volume24hUsd: asOf(row.volume24hUsd, nowMs)
})

/** A discovered token as of now. */
export const discoveryRow = (row: DiscoveryRow, nowMs: number): DiscoveryRow => ({
  ...row,
  ...measuresAsOf(row, nowMs),
  curveProgressPct: asOf(row.curveProgressPct, nowMs)
})
