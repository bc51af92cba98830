import type { AlertCondition } from "../api/schemas/Alert.ts"
import type { Observation } from "./evaluate.ts"

/** A metric of a token that an alert may watch. */
export type Measure = Pick<AlertCondition, "metric" | "windowSeconds" | "source">

/** Text that is the same for alerts that watch the same number of a token. */
export const measureKey = ({ metric, source, windowSeconds }: Measure): string =>
  `${metric} ${windowSeconds ?? ""} ${source}`

/** The price that `unknown_seconds` watches. */
const PRICE: Measure = { metric: "price_usd", windowSeconds: null, source: "swap" }

/** The measure whose value decides: the price for `unknown_seconds`, else the measure itself. */
export const decidingMeasure = (measure: Measure): Measure => (measure.metric === "unknown_seconds" ? PRICE : measure)

/** Current value of a metric. Stale values are not given. */
export type Reading =
  | { readonly state: "ok"; readonly seen: Observation }
  /** For trades of wallets, which have no value between trades: blocks are being read. */
  | { readonly state: "watching"; readonly observedAtMs: number }
  | { readonly state: "stale"; readonly observedAtMs: number }
  | { readonly state: "unavailable" }

/** No value. */
export const UNAVAILABLE: Reading = { state: "unavailable" }
