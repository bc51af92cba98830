/** Conditions of alerts in words. */
import type { Answer } from "../data/contract.ts"
import { written } from "./numbers.ts"

export type Alert = Answer<"GET /api/v1/alerts">["data"][number]
type Condition = Alert["condition"]
type Metric = Condition["metric"]
type Operator = Condition["operator"]

/** Metrics and their names. */
export const metrics: ReadonlyArray<readonly [Metric, string]> = [
  ["price_usd", "Price in dollars"],
  ["price_sol", "Price in SOL"],
  ["market_cap_usd", "Market cap in dollars"],
  ["change_pct", "Change in percent"],
  ["volume_usd", "Volume in dollars"],
  ["liquidity_usd", "Liquidity in dollars"],
  ["liquidity_drop_pct", "Liquidity drop in percent"],
  ["authority_changes", "Authority changes"],
  ["top10_pct", "Share of the ten largest holders"],
  ["curve_progress_pct", "Progress to graduation"],
  ["silent_seconds", "Seconds without a trade"],
  ["unknown_seconds", "Seconds without a known price"],
  ["wallet_trade_usd", "Wallet trade in dollars"],
  ["wallet_trade_sol", "Wallet trade in SOL"]
]

/** True for a metric measured over a window. */
export const hasWindow = (metric: Metric): boolean =>
  metric === "change_pct" ||
  metric === "volume_usd" ||
  metric === "liquidity_drop_pct" ||
  metric === "authority_changes"

/** True for a metric of each trade of a tracked wallet. */
export const isOfWallet = (metric: Metric): boolean => metric === "wallet_trade_usd" || metric === "wallet_trade_sol"

/** Sides of a wallet's trades. */
export const sides = [
  ["either", "Buys and sells"],
  ["buy", "Buys"],
  ["sell", "Sells"]
] as const

/** True for prices and values made from prices: the user can choose how their price is measured. */
export const hasSource = (metric: Metric): boolean =>
  metric === "price_usd" || metric === "price_sol" || metric === "market_cap_usd"

const operators: ReadonlyArray<readonly [Operator, string]> = [
  ["crosses_above", "crosses above"],
  ["crosses_below", "crosses below"],
  ["rises_by", "rises by"],
  ["falls_by", "falls by"],
  ["at_least", "of at least"]
]

/** Operators of a metric: a change rises or falls, a trade reaches a size, any other value crosses a level. */
export const operatorsOf = (metric: Metric): ReadonlyArray<readonly [Operator, string]> =>
  isOfWallet(metric) ? operators.slice(4) : metric === "change_pct" ? operators.slice(2, 4) : operators.slice(0, 2)

const windows = [
  ["300", "5 minutes"],
  ["600", "10 minutes"],
  ["3600", "1 hour"],
  ["21600", "6 hours"],
  ["86400", "24 hours"]
] as const

/**
 * Windows of a metric in seconds, as texts. A drop is measured over an hour at most; the window of ten minutes is for
 * drops only.
 */
export const windowsOf = (metric: Metric): ReadonlyArray<readonly [string, string]> =>
  windows.filter(([seconds]) => (metric === "liquidity_drop_pct" ? Number(seconds) <= 3600 : seconds !== "600"))

const unitOf = (metric: Metric): string => {
  switch (metric) {
    case "change_pct":
    case "liquidity_drop_pct":
    case "top10_pct":
    case "curve_progress_pct":
      return "percent"
    case "price_sol":
    case "wallet_trade_sol":
      return "sol"
    case "authority_changes":
      return "plain"
    case "silent_seconds":
    case "unknown_seconds":
      return "seconds"
    default:
      return "usd"
  }
}

const amountWords = (metric: Metric, amount: string): string => written(amount, unitOf(metric))

/** A measured percentage has many digits, unlike one that somebody typed. */
const measuredWords = (metric: Metric, amount: string): string =>
  written(amount, unitOf(metric), { short: unitOf(metric) === "percent" })

/** A value of the metric with its unit; a dash when it is unknown. */
export const valueWords = (metric: Metric, value: string | null): string =>
  value === null ? "–" : measuredWords(metric, value)

/** A condition as a phrase. */
export const conditionWords = ({ metric, operator, source, threshold, windowSeconds }: Condition): string => {
  const [, name = metric] = metrics.find(([key]) => key === metric) ?? []
  const [, verb = operator] = operators.find(([key]) => key === operator) ?? []
  const span = windows.find(([seconds]) => seconds === String(windowSeconds))
  const over = span === undefined ? "" : ` within ${span[1]}`
  return `${name} ${verb} ${amountWords(metric, threshold)}${over}${source === "median" ? ", by the median of pools" : ""}`
}
