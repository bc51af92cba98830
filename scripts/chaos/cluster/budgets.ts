/** How full the windows of the budgets were that several processes share. */
import { type Admitted, fullestWindow, outside } from "./load.ts"
import type { BudgetKind, Span } from "./scene.ts"
import type { BudgetCounts } from "./verdicts.ts"

const WINDOW_MS = 60_000

/** Times at which budgets changed. */
export interface BudgetTimes {
  /** Spans in which some processes may have decided alone. */
  readonly alone: ReadonlyArray<Span>
  /** Spans in which no process could reach Valkey. */
  readonly away: ReadonlyArray<Span>
  /** Moments at which budgets began anew. */
  readonly emptiedMs: ReadonlyArray<number>
}

const countsOf = (kind: BudgetKind, admitted: ReadonlyArray<Admitted>, { alone, away, emptiedMs }: BudgetTimes) => {
  const fullestWithLosses = fullestWindow(admitted, WINDOW_MS, emptiedMs)
  const bounds = [...alone.map(({ fromMs }) => fromMs), ...emptiedMs].toSorted((a, b) => a - b)
  const there = outside(admitted, alone)
  const shared = there.filter(({ isAlone }) => isAlone !== true)
  const counts: BudgetCounts = {
    fullest: kind === "refuse" ? fullestWithLosses : fullestWindow(shared, WINDOW_MS, bounds),
    late: there.length - shared.length,
    fullestWithLosses,
    alone: admitted.filter(({ answeredMs, sentMs }) =>
      away.some(({ fromMs, toMs }) => sentMs >= fromMs && answeredMs <= toMs)
    ).length
  }
  return counts
}

/** The counts of both kinds, and whether Valkey was away from every process at some time. */
export const budgetsOf = (admitted: Readonly<Record<BudgetKind, ReadonlyArray<Admitted>>>, times: BudgetTimes) => ({
  budgets: {
    refuse: countsOf("refuse", admitted.refuse, times),
    local: countsOf("local", admitted.local, times)
  },
  isValkeyLost: times.away.length > 0
})
