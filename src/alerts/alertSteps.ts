/** Steps of alerts after observations, as pure functions. */
import { decimalText } from "../domain/rational.ts"
import type { Alert, AlertStep } from "../api/schemas/Alert.ts"
import type { Watched, WatchGroup } from "./AlertIndex.ts"
import { canMove, evaluate, type Observation, spanOf } from "./evaluate.ts"

/** The step that takes an alert back to the beginning of a chain; null when the alert is still there. */
export const unmarked = ({ armed, cleared, id, mark, tally, version }: Alert): AlertStep | null =>
  mark === 0 && tally.countedTo === 0 ? null : { id, version, watch: { armed, cleared, mark: 0 }, firing: null }

/** The step of an alert after the observations; null when it does not change. */
const stepOf = ({ alert, rule }: Watched, seen: ReadonlyArray<Observation>): AlertStep | null => {
  const { fires, watch } = evaluate(rule, alert, seen, alert.lastTriggeredAtMs)
  const value = fires === null ? null : decimalText(fires.value)
  if (watch === alert || (fires !== null && value === null)) {
    return null
  }
  const { armed, cleared, mark } = watch
  return {
    id: alert.id,
    version: alert.version,
    watch: { armed, cleared, mark },
    firing: fires === null || value === null ? null : { value, observedAtMs: fires.swapAtMs ?? fires.observedAtMs }
  }
}

/** The steps that a group takes. Most alerts are left alone after one comparison. */
export const stepsOf = (group: WatchGroup, seen: ReadonlyArray<Observation>): ReadonlyArray<AlertStep> => {
  const span = spanOf(seen)
  if (span === null) {
    return []
  }
  return Array.from(group.alerts.values()).flatMap((watched) =>
    canMove(watched.rule, watched.alert, span) ? (stepOf(watched, seen) ?? []) : []
  )
}
