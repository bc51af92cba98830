/** Changes that owners may make to an alert, as pure functions. */
import { type Address, type Mint, SOL, USDC } from "../domain/Address.ts"
import {
  type Alert,
  type AlertChange,
  type AlertCondition,
  type AlertMetric,
  type AlertRecurrence,
  DEFAULT_COOLDOWN_SECONDS,
  type AlertSide,
  isOfWallet,
  isLive,
  MAX_EXPIRY_MS
} from "../api/schemas/Alert.ts"
import { compare, fractionOf, whole } from "../domain/rational.ts"
import { isMoney } from "../domain/stables.ts"
import { begin, type Observation, resume, triggerOf } from "./evaluate.ts"

/** Fields to change; fields left out stay. */
export interface AlertPatch {
  readonly threshold?: string
  readonly recurrence?: AlertRecurrence
  /** Null means the default of a repeating alert. */
  readonly cooldownSeconds?: number | null
  readonly expiresAtMs?: number | null
  readonly note?: string | null
  readonly status?: "active" | "paused"
}

/** The reason why a change is refused. */
export interface AlertFault {
  readonly field: string
  readonly issue: "conflict" | "missing" | "out_of_range"
  readonly message: string
}

/**
 * What a decision depends on: the value of the metric, if known, and the place in the chain after which values count.
 */
export interface Decided {
  readonly now: Observation | null
  readonly place: number
  readonly nowMs: number
}

/** Why an expiry is rejected; null when it is allowed. */
export const expiryFault = (expiresAtMs: number | null | undefined, nowMs: number): AlertFault | null =>
  typeof expiresAtMs !== "number" || (expiresAtMs > nowMs && expiresAtMs <= nowMs + MAX_EXPIRY_MS)
    ? null
    : {
        field: "expiresAtMs",
        issue: "out_of_range",
        message: "expiresAtMs must be in the future and at most 90 days ahead."
      }

/** Why a cooldown is rejected with this recurrence; null when it is allowed. */
export const cooldownFault = (
  recurrence: AlertRecurrence,
  cooldownSeconds: number | null | undefined
): AlertFault | null =>
  recurrence === "repeat" || typeof cooldownSeconds !== "number"
    ? null
    : {
        field: "cooldownSeconds",
        issue: "conflict",
        message: "cooldownSeconds must be left out or null unless recurrence is repeat."
      }

/** Target of a new alert. Fields left out are null. */
export interface AlertTarget {
  readonly mint: Mint | null
  readonly wallet: Address | null
  readonly side: AlertSide | null
  readonly fireNow: boolean
}

const refused = (field: string, message: string): AlertFault => ({
  field,
  issue: "conflict",
  message: `${field} must ${message}`
})

/**
 * Why a target does not fit the metric; null when it fits. Metrics of wallet trades need a wallet, all others a token.
 */
export const targetFault = (
  { fireNow, mint, side, wallet }: AlertTarget,
  { metric }: Pick<AlertCondition, "metric">
): AlertFault | null => {
  if (isOfWallet(metric)) {
    return wallet === null
      ? { field: "wallet", issue: "missing", message: `wallet is required for ${metric}.` }
      : fireNow
        ? refused("fireNow", `be left out or false for ${metric}, which fires for trades to come.`)
        : null
  }
  if (mint === null) {
    return { field: "mint", issue: "missing", message: `mint is required for ${metric}.` }
  }
  if (wallet !== null) {
    return refused("wallet", `be left out or null for ${metric}: it applies to trades of a wallet.`)
  }
  return side === null ? null : refused("side", `be left out or null for ${metric}: it applies to trades of a wallet.`)
}

const OF_SWAPS: ReadonlySet<AlertMetric> = new Set(["change_pct", "volume_usd", "silent_seconds"])
const OF_LIQUIDITY: ReadonlySet<AlertMetric> = new Set(["liquidity_usd", "liquidity_drop_pct"])

/** Why the metric is never known for the mint; null when it may be. */
const neverKnown = (mint: Mint | null, metric: AlertMetric): string | null => {
  if (mint === USDC && OF_SWAPS.has(metric)) {
    return "USDC: every swap for USDC counts as a trade of the other token"
  }
  if (mint === SOL && OF_LIQUIDITY.has(metric)) {
    return "SOL: its pools are known with their other token alone"
  }
  return metric === "top10_pct" && mint !== null && isMoney(mint)
    ? "SOL and dollars: their holders are not followed"
    : null
}

/** The fault of a metric that is never known for the mint; null when it may be. */
export const metricFault = (mint: Mint | null, { metric }: Pick<AlertCondition, "metric">): AlertFault | null => {
  const reason = neverKnown(mint, metric)
  return reason === null
    ? null
    : { field: "condition.metric", issue: "conflict", message: `condition.metric must not be ${metric} for ${reason}.` }
}

/** Metrics that are parts of a whole, in percent. */
const parts: ReadonlySet<AlertMetric> = new Set(["liquidity_drop_pct", "top10_pct", "curve_progress_pct"])

/**
 * True when no value fulfils the condition at 100 percent: parts are never above 100 percent, and no price falls to 0.
 */
const isBelowWhole = ({ metric, operator }: Pick<AlertCondition, "metric" | "operator">): boolean =>
  parts.has(metric) ? operator === "crosses_below" : operator === "falls_by"

/** The fault of a threshold that the metric can never cross; null when it can. */
export const thresholdFault = (
  condition: Pick<AlertCondition, "metric" | "operator" | "threshold">
): AlertFault | null => {
  const { metric, operator, threshold } = condition
  if (!parts.has(metric) && operator !== "falls_by") {
    return null
  }
  const order = compare(fractionOf(threshold), whole(100n))
  const isBelow = isBelowWhole(condition)
  return order < 0 || (order === 0 && !isBelow)
    ? null
    : {
        field: "condition.threshold",
        issue: "out_of_range",
        message: `condition.threshold must be above 0 and ${isBelow ? "below" : "at most"} 100 percent for ${metric} with ${operator}.`
      }
}

/**
 * The cooldown of an alert. Only repeating alerts have one: the first number in `given`, or else the default. Alerts on
 * wallet trades have no default.
 */
export const cooldownOf = (
  { metric }: Pick<AlertCondition, "metric">,
  recurrence: AlertRecurrence,
  ...given: ReadonlyArray<number | null | undefined>
): number | null =>
  recurrence === "once"
    ? null
    : (given.find((seconds) => typeof seconds === "number") ?? (isOfWallet(metric) ? null : DEFAULT_COOLDOWN_SECONDS))

const finalFault = (patch: AlertPatch, { status }: Alert): AlertFault | null => {
  const [name] = Object.keys(patch)
  if (isLive(status) || name === undefined) {
    return null
  }
  const field = name === "threshold" ? "condition.threshold" : name
  return { field, issue: "conflict", message: `${field} must stay as it is: the alert is ${status}, which is final.` }
}

/**
 * The watch state after the change. An alert that was paused or gets another threshold must not fire for what it did
 * not see.
 */
const rewatched = (alert: Alert, patch: AlertPatch, decided: Decided): AlertChange => {
  const { threshold = alert.condition.threshold } = patch
  const condition = { ...alert.condition, threshold }
  if (isOfWallet(condition.metric)) {
    const isAnew = threshold !== alert.condition.threshold || (alert.status === "paused" && patch.status === "active")
    return isAnew ? { mark: Math.max(alert.mark, decided.place), condition } : {}
  }
  const trigger = triggerOf(condition)
  if (threshold === alert.condition.threshold) {
    const isResumed = alert.status === "paused" && patch.status === "active"
    return isResumed ? resume(trigger, alert, decided.now, decided.place) : {}
  }
  const watch = begin(trigger, decided.now, decided.place)
  const restsUntilMs = (alert.lastTriggeredAtMs ?? 0) + (alert.cooldownSeconds ?? 0) * 1000
  return { ...watch, armed: watch.armed && decided.nowMs >= restsUntilMs, condition }
}

/** The change that a patch makes, or its first fault. */
export const changeAlert = (alert: Alert, patch: AlertPatch, decided: Decided): AlertChange | AlertFault => {
  const recurrence = patch.recurrence ?? alert.recurrence
  const fault =
    finalFault(patch, alert) ??
    cooldownFault(recurrence, patch.cooldownSeconds) ??
    expiryFault(patch.expiresAtMs, decided.nowMs) ??
    (patch.threshold === undefined ? null : thresholdFault({ ...alert.condition, threshold: patch.threshold }))
  if (fault !== null) {
    return fault
  }
  const kept = patch.cooldownSeconds === undefined ? alert.cooldownSeconds : null
  return {
    recurrence,
    cooldownSeconds: cooldownOf(alert.condition, recurrence, patch.cooldownSeconds, kept),
    ...(patch.expiresAtMs === undefined ? {} : { expiresAtMs: patch.expiresAtMs }),
    ...(patch.note === undefined ? {} : { note: patch.note }),
    ...(patch.status === undefined ? {} : { status: patch.status }),
    ...rewatched(alert, patch, decided)
  }
}
