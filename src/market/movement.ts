/** Tokens ranked by what they did in a window. */
import { type Excluded, type MovementRank, type MovementRow } from "../domain/MarketViews.ts"
import type { Rational } from "../domain/rational.ts"
import type { Coverage } from "../domain/Scalar.ts"
import { incomplete } from "../domain/Scalar.ts"
import type { Mint } from "../domain/Address.ts"
import { isAtLeast, type MeasureSources, measureToken, type Moment, type TokenMeasures } from "./tokenMeasures.ts"
import type { TokenRanking } from "./TokenRanking.ts"
import { tokenRef } from "./tokenRef.ts"
import type { WindowName } from "./windows.ts"

/** What is wanted of a ranking. Minima are dollars. */
export interface MovementSelectors {
  readonly window: WindowName
  readonly rank: MovementRank
  readonly minLiquidityUsd: Rational
  readonly minVolumeUsd: Rational
}

/** A ranking as it was at one moment, cut to what pages may show. */
export interface RankedView<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly excluded: Excluded
  readonly coverage: Coverage
  readonly observedAtMs: number
  /** Tokens that would have been let in if their pools were loaded. */
  readonly unloaded: ReadonlyArray<Mint>
}

/** Rows that a ranking shows at most, and tokens that are looked at for them. */
export const MOST_ROWS = 200
const MOST_LOOKED_AT = 1000
/** Tokens whose pools are asked for in one go. */
export const MOST_WARMED = 20

const scalarOf: Readonly<Record<MovementRank, keyof TokenMeasures>> = {
  gainers: "changePct",
  losers: "changePct",
  volume: "volumeUsd",
  trades: "trades",
  traders: "traders"
}

/** Whether larger values come first. */
export const directionOf = (rank: MovementRank): "asc" | "desc" => (rank === "losers" ? "asc" : "desc")

const ZERO_OR_LESS = /^(?:-|0$)/u

/** Gainers have gained something, and losers lost. */
const belongs = (rank: MovementRank, { changePct: { value } }: TokenMeasures): boolean =>
  value === null || (rank === "gainers" ? !ZERO_OR_LESS.test(value) : rank === "losers" ? value.startsWith("-") : true)

/** Ranks the tokens that traded in the window. A token whose value is not known is left out and counted. */
export const movementView = (
  sources: MeasureSources,
  ranking: Pick<TokenRanking, "at" | "counts">,
  { minLiquidityUsd, minVolumeUsd, rank, window }: MovementSelectors,
  moment: Moment,
  coverage: Coverage
): RankedView<MovementRow> => {
  const rows: Array<MovementRow> = []
  const unloaded: Array<Mint> = []
  const excluded = { unknownRank: ranking.counts(rank).unknown, unknownFilter: 0 }
  let clipped = false
  for (let place = 0; !clipped; place++) {
    const ranked = ranking.at(rank, place)
    if (ranked === undefined) {
      break
    }
    if (rows.length === MOST_ROWS || place === MOST_LOOKED_AT) {
      clipped = true
      break
    }
    const { mint } = ranked
    const measures = measureToken(sources, mint, window, moment)
    if (measures[scalarOf[rank]].value === null) {
      excluded.unknownRank++
      continue
    }
    const deep = isAtLeast(measures.liquidityUsd, minLiquidityUsd)
    const traded = isAtLeast(measures.volumeUsd, minVolumeUsd)
    if (measures.liquidityUsd.value === null) {
      unloaded.push(mint)
    }
    const lets =
      (minLiquidityUsd.numerator === 0n || deep !== null) && (minVolumeUsd.numerator === 0n || traded !== null)
    if (!lets) {
      excluded.unknownFilter++
    } else if (deep !== false && traded !== false && belongs(rank, measures)) {
      rows.push({ rank: rows.length + 1, token: tokenRef(sources, mint), ...measures })
    }
  }
  return {
    rows,
    excluded,
    coverage: coverage.complete && clipped ? incomplete("limit_clipped") : coverage,
    observedAtMs: moment.life.observedAtMs,
    unloaded: unloaded.slice(0, MOST_WARMED)
  }
}
