/** Arming and firing of alerts, as pure functions. All comparisons use exact fractions. */
import type { AlertCondition, Watch } from "../api/schemas/Alert.ts"
import { compare, fractionOf, type Rational } from "../domain/rational.ts"

/** A value of a metric at one place of the chain. */
export interface Observation {
  readonly value: Rational
  /** Position in the order of the chain. */
  readonly place: number
  /** Block time, in milliseconds since the Unix epoch. */
  readonly observedAtMs: number
  /** Time of the swap that set the value, in milliseconds since the Unix epoch; left out when no single swap did. */
  readonly swapAtMs?: number
  /** True when the real value may be larger, because its window was not seen whole. */
  readonly isAtLeast?: boolean
}

/**
 * A condition, ready to be compared. A downward trigger changes the sign of values, so that past the threshold always
 * means at least as large.
 */
export interface Trigger {
  readonly isDownward: boolean
  readonly at: Rational
  /** One percent before the threshold. A value has to come back this far before the alert is armed again. */
  readonly clearAt: Rational
}

/** The part of an alert that decides whether it fires. */
export interface Rule {
  readonly trigger: Trigger
  readonly repeats: boolean
  readonly cooldownMs: number
  /** The second in which the alert was created, in milliseconds. The alert never fires for earlier values. */
  readonly sinceMs: number
}

const negated = ({ denominator, numerator }: Rational): Rational => ({ numerator: -numerator, denominator })

const percentOf = ({ denominator, numerator }: Rational, percent: bigint): Rational => ({
  numerator: numerator * percent,
  denominator: denominator * 100n
})

/** The condition in comparable form. A fall of five percent is a change of at most minus five. */
export const triggerOf = ({ operator, threshold }: Pick<AlertCondition, "operator" | "threshold">): Trigger => {
  const size = fractionOf(threshold)
  switch (operator) {
    case "crosses_above":
    case "at_least":
      return { isDownward: false, at: size, clearAt: percentOf(size, 99n) }
    case "crosses_below":
      return { isDownward: true, at: negated(size), clearAt: percentOf(negated(size), 101n) }
    case "rises_by":
      return { isDownward: false, at: size, clearAt: percentOf(size, 99n) }
    case "falls_by":
      return { isDownward: true, at: size, clearAt: percentOf(size, 99n) }
  }
}

const turned = ({ isDownward }: Trigger, value: Rational): Rational => (isDownward ? negated(value) : value)

/** True when the value has reached or passed the threshold. */
export const isPast = (trigger: Trigger, value: Rational): boolean => compare(turned(trigger, value), trigger.at) >= 0

const isClear = (trigger: Trigger, value: Rational): boolean => compare(turned(trigger, value), trigger.clearAt) <= 0

/**
 * The watch state of a new alert, or of an alert with a new threshold. Only a known value that is not past the
 * threshold arms it: a value past it from the beginning has crossed nothing.
 */
export const begin = (trigger: Trigger, now: Observation | null, place: number): Watch => ({
  armed: now !== null && !isPast(trigger, now.value),
  cleared: true,
  mark: place
})

/** The watch state of a new alert that also fires for a value past its threshold from the beginning. */
export const beginArmed = (place: number): Watch => ({ armed: true, cleared: true, mark: place })

/** The watch state after a pause. A value that crossed the threshold during the pause has to come back first. */
export const resume = (trigger: Trigger, watch: Watch, now: Observation | null, place: number): Watch => ({
  armed: watch.armed && begin(trigger, now, place).armed,
  cleared: watch.cleared || watch.armed,
  mark: Math.max(watch.mark, place)
})

/** Result of an evaluation. */
export interface Outcome {
  readonly watch: Watch
  /** The observation that fires the alert; null when none does. */
  readonly fires: Observation | null
}

/**
 * True when the cooldown after the last firing was over at the time of the value. Block time decides, so that a block
 * that is read again after a restart gives the same result.
 */
const isRested = ({ cooldownMs }: Rule, lastTriggeredAtMs: number | null, { observedAtMs }: Observation): boolean =>
  lastTriggeredAtMs === null || observedAtMs >= lastTriggeredAtMs + cooldownMs

const step = (rule: Rule, watch: Watch, seen: Observation, rested: boolean): Outcome => {
  const { trigger } = rule
  const past = isPast(trigger, seen.value)
  // When the value may be larger, only one side of the threshold is certain. Such a value still arms a new alert, which
  // waits for later values.
  const isCertain = seen.isAtLeast !== true || past !== trigger.isDownward
  if (past) {
    return watch.armed && isCertain
      ? { watch: { armed: false, cleared: false, mark: seen.place }, fires: seen }
      : { watch, fires: null }
  }
  if (watch.armed) {
    return { watch, fires: null }
  }
  const cleared = watch.cleared || (isCertain && isClear(trigger, seen.value))
  const armed = cleared && rested
  const isSame = !armed && cleared === watch.cleared
  return { watch: isSame ? watch : { armed, cleared, mark: seen.place }, fires: null }
}

/**
 * Applies new observations in the order of the chain. Fires at most once, because no cooldown is shorter than a block.
 * Returns the same watch when nothing changed.
 */
export const evaluate = (
  rule: Rule,
  watch: Watch,
  seen: ReadonlyArray<Observation>,
  lastTriggeredAtMs: number | null
): Outcome => {
  let outcome: Outcome = { watch, fires: null }
  for (const observation of seen) {
    if (observation.place >= outcome.watch.mark && observation.observedAtMs >= rule.sinceMs) {
      const rested = outcome.fires === null && isRested(rule, lastTriggeredAtMs, observation)
      const next = step(rule, outcome.watch, observation, rested)
      outcome = { watch: next.watch, fires: outcome.fires ?? next.fires }
      if (outcome.fires !== null && !rule.repeats) {
        return outcome
      }
    }
  }
  return outcome
}

/** The lowest and the highest of some values. */
export interface Span {
  readonly low: Rational
  readonly high: Rational
}

/** The span of the observations; null when there are none. */
export const spanOf = (seen: ReadonlyArray<Observation>): Span | null => {
  const [first] = seen
  if (first === undefined) {
    return null
  }
  return seen.reduce<Span>(
    ({ high, low }, { value }) => ({
      low: compare(value, low) < 0 ? value : low,
      high: compare(value, high) > 0 ? value : high
    }),
    { low: first.value, high: first.value }
  )
}

/** True when a value within the span can change the watch. Most alerts are left alone after this one comparison. */
export const canMove = ({ trigger }: Rule, watch: Watch, { high, low }: Span): boolean => {
  const [nearest, farthest] = trigger.isDownward ? [low, high] : [high, low]
  if (watch.armed) {
    return isPast(trigger, nearest)
  }
  return watch.cleared ? !isPast(trigger, farthest) : isClear(trigger, farthest)
}
